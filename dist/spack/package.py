# SPDX-License-Identifier: BSD-3-Clause
"""A recipe for Spack 1.0 and later: dist/README.md says how to use it."""
import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Strag(AutotoolsPackage):
    """A collective component for Open MPI: MPI_Allreduce by plans that are chosen for the machine."""

    homepage = "https://strag.example.org"

    # The tarball that `make dist` writes, next to this file.
    url = "file://" + os.path.join(os.path.dirname(__file__), "strag-0.1.0.tar.xz")

    license("BSD-3-Clause")

    version("0.1.0")

    variant("ucx", default=True, description="Send messages over UCX, too")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("libyaml")
    depends_on("jansson@2.11:")
    depends_on("ucx", when="+ucx")
    # A component is for one version of Open MPI, and built against its internal headers.
    depends_on("openmpi@4.1:6")
    depends_on("pmix", when="^openmpi@5:")

    def configure_args(self):
        spec = self.spec
        return [
            f"--with-ompi={spec['openmpi'].prefix}",
            f"--with-plugindir={self.plugins}",
            f"--with-ucx={spec['ucx'].prefix}" if spec.satisfies("+ucx") else "--without-ucx",
        ]

    @property
    def plugins(self):
        """Open MPI's own folder belongs to another package."""
        return os.path.join(self.prefix.lib, "openmpi")

    def setup_run_environment(self, env):
        """Open MPI finds the component; it runs where it is selected."""
        env.prepend_path("OMPI_MCA_mca_base_component_path", self.plugins)
        if self.spec["openmpi"].satisfies("@:4"):
            env.append_path("OMPI_MCA_mca_base_component_path", os.path.join(self.spec["openmpi"].prefix.lib, "openmpi"))
        else:
            env.append_path("PMIX_MCA_mca_base_component_path", os.path.join(self.spec["pmix"].prefix.lib, "pmix"))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the recipes for Spack and EasyBuild over stand-ins: recipes.py PACKAGE.PY EASYCONFIG VERSION"""
import os
import sys
import types

said = {"depends_on": [], "version": [], "variant": []}


class Prefix(str):
    @property
    def lib(self):
        return self + "/lib"


class Spec:
    def __init__(self, name, version, packages=(), variants=()):
        self.prefix = Prefix(f"/spack/{name}")
        self.version, self.packages, self.variants = version, dict(packages), variants

    def __getitem__(self, name):
        return self.packages[name]

    def satisfies(self, words):
        return int(self.version.split(".")[0]) <= 4 if words == "@:4" else words in self.variants


class Environment(dict):
    """Of a site that has folders of its own."""

    def __init__(self):
        super().__init__(OMPI_MCA_mca_base_component_path="/site", PMIX_MCA_mca_base_component_path="/site")

    def prepend_path(self, name, value):
        self[name] = f"{value}:{self[name]}"

    def append_path(self, name, value):
        self[name] += f":{value}"


def stand_in(name, **members):
    for length in range(1, name.count(".") + 2):
        part = ".".join(name.split(".")[:length])
        sys.modules.setdefault(part, types.ModuleType(part))
    vars(sys.modules[name]).update(members)


def recorder(name):
    return lambda *words, **options: said.setdefault(name, []).append((words, options))


def check(good, message):
    if not good:
        sys.exit(f"FAIL: {message}")


def options_of(recipe, ompi_version, variants):
    package = recipe()
    package.prefix = Prefix("/spack/strag")
    package.spec = Spec("strag", "0.1.0", {"openmpi": Spec("openmpi", ompi_version),
                                         "ucx": Spec("ucx", "1.17"), "pmix": Spec("pmix", "5")}, variants)
    environment = Environment()
    package.setup_run_environment(environment)
    return package.configure_args(), environment


def run(file, scope):
    with open(file, encoding="utf-8") as source:
        exec(compile(source.read(), file, "exec"), scope)
    return scope


def check_easyconfig(file, wanted):
    """EasyBuild, too, runs an easyconfig as Python, and finds it by its name."""
    found = run(file, {})
    toolchain = found["toolchain"]
    check(os.path.basename(file) == f"{found['name']}-{wanted}-{toolchain['name']}-{toolchain['version']}.eb", file)
    check(found["version"] == wanted and found["sources"] == ["strag-%(version)s.tar.xz"], found["sources"])
    check([name for name, _ in found["dependencies"]] == ["hwloc", "libyaml", "Jansson", "UCX"], found["dependencies"])
    check(found["configopts"].split()[1] == "--with-plugindir=%(installdir)s/"
          + found["modextrapaths"]["OMPI_MCA_mca_base_component_path"], found["configopts"])
    check({"easyblock", "homepage", "description", "moduleclass", "sanity_check_paths"} <= set(found), list(found))


def main():
    file, easyconfig, wanted = sys.argv[1:]
    check_easyconfig(easyconfig, wanted)
    stand_in("spack_repo.builtin.build_systems.autotools", AutotoolsPackage=type("AutotoolsPackage", (), {}))
    stand_in("spack.package", **{name: recorder(name) for name in ("depends_on", "license", "variant", "version")})
    recipe = run(file, {"__file__": os.path.abspath(file), "__name__": "package"})["Strag"]
    check([words[0] for words, _ in said["version"]] == [wanted], f"version {said['version']}, not {wanted}")
    check(recipe.url.endswith(f"/strag-{wanted}.tar.xz"), recipe.url)
    needed = {words[0].split("@")[0] for words, _ in said["depends_on"]}
    check(needed == {"c", "pkgconfig", "hwloc", "libyaml", "jansson", "ucx", "openmpi", "pmix"}, needed)
    options, environment = options_of(recipe, "4.1.6", {"+ucx"})
    check(options == ["--with-ompi=/spack/openmpi", "--with-plugindir=/spack/strag/lib/openmpi",
                      "--with-ucx=/spack/ucx"], options)
    check(environment == {"OMPI_MCA_mca_base_component_path": "/spack/strag/lib/openmpi:/site:/spack/openmpi/lib/openmpi",
                          "PMIX_MCA_mca_base_component_path": "/site"}, environment)
    options, environment = options_of(recipe, "5.0.7", set())
    check(options[-1] == "--without-ucx", options)
    check(environment == {"OMPI_MCA_mca_base_component_path": "/spack/strag/lib/openmpi:/site",
                          "PMIX_MCA_mca_base_component_path": "/site:/spack/pmix/lib/pmix"}, environment)
    print("ok: the recipes for Spack and EasyBuild")


main()

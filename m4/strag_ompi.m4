# SPDX-License-Identifier: BSD-3-Clause
# Open MPI: which one, and what a component built outside its tree needs of it.

# STRAG_OMPI, and after the compiler's checks STRAG_OMPI_COMPONENT
# Set with_ompi to "no" or to the prefix in use, the conditional HAVE_OMPI, and substitutes
#   MPICC MPIRUN OMPI_INFO          its commands, absolute paths
#   OMPI_VERSION                    such as 4.1.4
#   OMPI_CPPFLAGS OMPI_CFLAGS       to compile against its internal headers
#   OMPI_LIBS                       to link a component
#   OMPI_PLUGINDIR                  where its own components are
#   OMPI_COMPONENT_PATH PMIX_PLUGINDIR   for strag-mpirun
#   OMPI_MODULE                     the environment module of Open MPI that is loaded, if there is one
#   PMIX_HIDING PMIX_CONFDIR        the folder where mpirun has its processes look for components
#                                   instead, if it does, and PMIx's folder of parameters
AC_DEFUN([STRAG_OMPI], [
  AC_ARG_WITH([ompi],
    [AS_HELP_STRING([--with-ompi@<:@=DIR@:>@],
       [Open MPI's prefix (DIR/bin/mpicc); default: the mpicc found in PATH. --without-ompi builds
        libstrag and the strag command only])])
  AC_ARG_VAR([MPICC], [Open MPI's compiler wrapper mpicc])
  AC_ARG_VAR([MPIRUN], [Open MPI's mpirun])
  AC_ARG_VAR([OMPI_INFO], [Open MPI's ompi_info])
  AC_ARG_VAR([OMPI_MODULE], [what strag's environment module needs: the module of Open MPI that is loaded, by default])

  AS_CASE([$enable_sanitizers], [''|no], [], [with_ompi=no])

  AS_IF([test "$with_ompi" != no], [
    STRAG_OMPI_COMMANDS
    STRAG_OMPI_PATHS
    STRAG_OMPI_HEADERS])
])

AC_DEFUN([STRAG_OMPI_COMPONENT], [
  AS_IF([test "$with_ompi" != no], [
    STRAG_OMPI_FLAGS
    STRAG_OMPI_CHECK])

  AC_SUBST([OMPI_VERSION])
  AC_SUBST([OMPI_CPPFLAGS])
  AC_SUBST([OMPI_CFLAGS])
  AC_SUBST([OMPI_LIBS])
  AC_SUBST([OMPI_PLUGINDIR])
  AC_SUBST([OMPI_COMPONENT_PATH])
  AC_SUBST([PMIX_PLUGINDIR])
  AC_SUBST([PMIX_HIDING])
  AC_SUBST([PMIX_CONFDIR])
  AM_CONDITIONAL([HAVE_OMPI], [test "$with_ompi" != no])
])

# The first mpicc in PATH that is Open MPI's (Debian also has it as mpicc.openmpi, which stays when
# the name mpicc belongs to MPICH), and the commands next to it.
AC_DEFUN([STRAG_OMPI_COMMANDS], [
  AS_CASE([$with_ompi],
    [''|yes], [strag_mpicc_path=$PATH],
    [strag_mpicc_path=$with_ompi/bin])

  AC_CACHE_CHECK([for Open MPI's mpicc], [ac_cv_path_MPICC],
    [AC_PATH_PROGS_FEATURE_CHECK([MPICC], [mpicc mpicc.openmpi],
       [AS_IF([STRAG_IS_OPEN_MPI([$ac_path_MPICC])],
              [ac_cv_path_MPICC=$ac_path_MPICC ac_path_MPICC_found=:])],
       [ac_cv_path_MPICC=no], [$strag_mpicc_path])])
  MPICC=$ac_cv_path_MPICC

  AS_IF([test "$MPICC" = no], [
    AC_PATH_PROG([strag_other_mpicc], [mpicc], [], [$strag_mpicc_path])
    AS_IF([test -n "$strag_other_mpicc"],
      [AC_MSG_ERROR([$strag_other_mpicc is not Open MPI's (MPICH's?). strag is a component of Open MPI: name one with --with-ompi=DIR, or build only the strag command with --without-ompi])],
      [AC_MSG_ERROR([no Open MPI found. Debian and Ubuntu: apt-get install openmpi-bin libopenmpi-dev; elsewhere: --with-ompi=DIR; or build only the strag command with --without-ompi])])])
  AS_IF([STRAG_IS_OPEN_MPI([$MPICC])], [],
    [AC_MSG_ERROR([MPICC=$MPICC is not Open MPI's mpicc])])

  strag_ompi_bin=`AS_DIRNAME(["$MPICC"])`
  AS_CASE([$MPICC], [*/mpicc.openmpi], [strag_mpirun_name=mpirun.openmpi],
          [strag_mpirun_name=mpirun])
  AC_PATH_PROG([MPIRUN], [$strag_mpirun_name], [no], [$strag_ompi_bin])
  AC_PATH_PROG([OMPI_INFO], [ompi_info], [no], [$strag_ompi_bin])
  AS_IF([test "$MPIRUN" = no || test "$OMPI_INFO" = no],
    [AC_MSG_ERROR([$strag_ompi_bin has mpicc but lacks $strag_mpirun_name or ompi_info (Debian: apt-get install openmpi-bin)])])
])

# A shell condition: does this wrapper belong to Open MPI?
AC_DEFUN([STRAG_IS_OPEN_MPI],
  [("$1" --showme:version 2>/dev/null | grep 'Open MPI' >/dev/null 2>&1)])

# STRAG_OMPI_PATH(VARIABLE, NAME): one of the folders that ompi_info knows
AC_DEFUN([STRAG_OMPI_PATH],
  [$1=`"$OMPI_INFO" --parsable --path $2 2>/dev/null | sed -n 's/^path:$2://p' | head -n 1`
   AS_IF([test -z "$$1"], [AC_MSG_ERROR([$OMPI_INFO --path $2 says nothing; is that Open MPI's ompi_info?])])])

AC_DEFUN([STRAG_OMPI_PATHS], [
  AC_MSG_CHECKING([Open MPI's version])
  [OMPI_VERSION=`"$OMPI_INFO" --version | sed -n 's/^Open MPI v\([0-9][^ ]*\).*/\1/p' | head -n 1`]
  AC_MSG_RESULT([$OMPI_VERSION])
  AS_CASE([$OMPI_VERSION],
    [4.1.*|5.*|6.*], [],
    [0.*|1.*|2.*|3.*|4.*], [AC_MSG_ERROR([Open MPI $OMPI_VERSION is too old; 4.1, 5.0 or 6.0 is needed])],
    [''], [AC_MSG_ERROR([$OMPI_INFO --version does not say which Open MPI it is])],
    [AC_MSG_WARN([Open MPI $OMPI_VERSION is newer than what strag was written for (4.1, 5.0, 6.0)])])

  STRAG_OMPI_PATH([with_ompi], [prefix])
  STRAG_OMPI_PATH([strag_ompi_libdir], [libdir])
  STRAG_OMPI_PATH([strag_ompi_incdir], [incdir])
  STRAG_OMPI_PATH([strag_ompi_pkgincludedir], [pkgincludedir])
  STRAG_OMPI_PATH([OMPI_PLUGINDIR], [pkglibdir])

  # How to load a component from another folder as well: 4.1 needs its own folder named too; later
  # versions do not, but their mpirun exports a path of PMIx's that must be named instead.
  AS_CASE([$OMPI_VERSION],
    [4.*], [OMPI_COMPONENT_PATH=:$OMPI_PLUGINDIR PMIX_PLUGINDIR= PMIX_LIBS= strag_pmix_incdirs=],
    [STRAG_PMIX
     OMPI_COMPONENT_PATH= PMIX_PLUGINDIR=$strag_pmix_libdir/pmix])
  PMIX_HIDING=
  AS_CASE([$OMPI_VERSION], [5.*], [STRAG_PMIX_HIDING])
  AS_IF([test -z "${OMPI_MODULE+set}"],
    [OMPI_MODULE=`AS_ECHO(["$LOADEDMODULES"]) | tr : '\n' | grep -E -i '(^|/)open-*mpi' | head -n 1`])
])

# The PMIx that Open MPI uses, from 5.0 on: the one installed next to it, or else the system's. Its
# headers are included by Open MPI's own.
AC_DEFUN([STRAG_PMIX], [
  AC_MSG_CHECKING([for the PMIx of Open MPI])
  strag_pkg_config="env PKG_CONFIG_PATH=$strag_ompi_libdir/pkgconfig:$PKG_CONFIG_PATH $PKG_CONFIG"
  AS_IF([$strag_pkg_config --exists pmix 2>/dev/null],
    [strag_pmix_libdir=`$strag_pkg_config --variable=libdir pmix`
     strag_pmix_incdirs=`$strag_pkg_config --cflags-only-I pmix | sed 's/-I//g'`
     PMIX_LIBS=`$strag_pkg_config --libs pmix`
     AC_MSG_RESULT([`$strag_pkg_config --modversion pmix` in $strag_pmix_libdir])],
    [test -f "$strag_ompi_incdir/pmix.h"],
    [strag_pmix_libdir=$strag_ompi_libdir
     strag_pmix_incdirs=
     PMIX_LIBS="-L$strag_ompi_libdir -lpmix"
     AC_MSG_RESULT([$strag_pmix_libdir])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([Open MPI $OMPI_VERSION needs PMIx's headers and pmix.pc, which are not here. Debian and Ubuntu: apt-get install libpmix-dev; elsewhere: name the folder of pmix.pc in PKG_CONFIG_PATH])])
])

# Open MPI 5.0's mpirun hands all that PMIx's parameter files say of components on to its processes:
# if that is a path (Debian), they do not look for components in Open MPI's own folder.
AC_DEFUN([STRAG_PMIX_HIDING], [
  AC_MSG_CHECKING([whether PMIx hides Open MPI's components])
  for strag_dir in "$strag_pmix_libdir/../share" "$strag_pmix_libdir/../etc" /etc/pmix; do
    AS_IF([test -z "$PMIX_HIDING" && test -f "$strag_dir/pmix-mca-params.conf"],
      [[PMIX_HIDING=`sed -n 's/^ *mca_base_component_path *= *\([^: ]*\).*/\1/p' "$strag_dir/pmix-mca-params.conf" | tail -n 1`]
       PMIX_CONFDIR=`cd "$strag_dir" && pwd`])
  done
  AS_IF([test -n "$PMIX_HIDING"], [AC_MSG_RESULT([yes: $PMIX_CONFDIR/pmix-mca-params.conf])],
        [AC_MSG_RESULT([no])])
])

AC_DEFUN([STRAG_OMPI_HEADERS], [
  AC_MSG_CHECKING([for Open MPI's internal headers])
  AS_IF([test ! -f "$strag_ompi_pkgincludedir/ompi/mca/coll/coll.h"], [
    AC_MSG_RESULT([no])
    AC_MSG_ERROR([Open MPI $OMPI_VERSION is here without its internal headers ($strag_ompi_pkgincludedir/ompi/mca/coll/coll.h). Debian and Ubuntu: apt-get install libopenmpi-dev; built by hand: configure Open MPI with --with-devel-headers; a module of your site: ask its administrator to do so, in the words of doc/guide/slurm.md])])
  AC_MSG_RESULT([$strag_ompi_pkgincludedir])
])

AC_DEFUN([STRAG_OMPI_FLAGS], [
  # As system headers, so that our warnings are about our code.
  strag_dirs="`"$MPICC" --showme:incdirs 2>/dev/null` $strag_ompi_incdir $strag_ompi_pkgincludedir"
  strag_dirs="$strag_dirs $strag_pmix_incdirs"
  OMPI_CPPFLAGS=
  for strag_dir in $strag_dirs; do
    AS_CASE([" $OMPI_CPPFLAGS "],
      [*" $strag_dir "*|*" /usr/include "], [],
      [OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $strag_dir"])
  done

  # Open MPI's inline atomics want a 16-byte compare-and-swap on x86-64.
  OMPI_CFLAGS=
  AS_CASE([$host_cpu], [x86_64], [STRAG_CHECK_CFLAG([-mcx16], [OMPI_CFLAGS=-mcx16])])

  OMPI_LIBS="-L$strag_ompi_libdir -lmpi"
  for strag_lib in open_mpi open-pal; do
    AS_IF([test -e "$strag_ompi_libdir/lib$strag_lib.so"], [OMPI_LIBS="$OMPI_LIBS -l$strag_lib"])
  done
  OMPI_LIBS="$OMPI_LIBS $PMIX_LIBS"
])

# Can a component be compiled and linked?
AC_DEFUN([STRAG_OMPI_CHECK], [
  # Headers that the packages lack are in the compat folder; it is searched after everything else.
  strag_compat=ompi_coll_strag/compat/include
  strag_saved_cppflags=$CPPFLAGS
  strag_saved_cflags=$CFLAGS
  strag_saved_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS -idirafter $srcdir/$strag_compat"
  CFLAGS="$CFLAGS $OMPI_CFLAGS"
  LIBS="$OMPI_LIBS $LIBS"
  AC_MSG_CHECKING([whether a component can be compiled and linked])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include "ompi_config.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/runtime/opal_progress.h"
]], [[
    opal_progress();
    return ompi_comm_rank(MPI_COMM_WORLD) + (int) sizeof(mca_coll_base_module_t);
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([a small program with Open MPI's internal headers does not compile or link: see config.log])])
  CPPFLAGS=$strag_saved_cppflags
  CFLAGS=$strag_saved_cflags
  LIBS=$strag_saved_libs
  OMPI_CPPFLAGS="$OMPI_CPPFLAGS -idirafter \$(top_srcdir)/$strag_compat"
])

# STRAG_PLUGINDIR: where `make install` puts the component
AC_DEFUN([STRAG_PLUGINDIR], [
  AC_ARG_WITH([plugindir],
    [AS_HELP_STRING([--with-plugindir=DIR],
       [where the component is installed; default: Open MPI's own plug-in folder])])
  plugindir=${with_plugindir:-$OMPI_PLUGINDIR}
  AC_SUBST([plugindir])
  AM_CONDITIONAL([PMIX_HIDES_PLUGINS],
    [test -n "$PMIX_HIDING" && test "x$plugindir" = "x$OMPI_PLUGINDIR"])
])

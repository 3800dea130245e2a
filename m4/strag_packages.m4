# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are used where they exist.

# STRAG_REQUIRED(NAME, VARIABLE, PKG-CONFIG-MODULE, DEBIAN-PACKAGE)
# Finds what libstrag cannot do without, and sets strag_summary_NAME.
AC_DEFUN([STRAG_REQUIRED], [
  PKG_CHECK_MODULES([$2], [$3],
    [strag_summary_$1=`$PKG_CONFIG --modversion "$3"`],
    [AC_MSG_ERROR([$1 is needed: pkg-config does not find $3 (Debian: apt-get install $4)])])
])

# STRAG_PACKAGE(NAME, VARIABLE, PKG-CONFIG-MODULE)
# Adds --with-NAME and --without-NAME, defines HAVE_VARIABLE, and sets strag_summary_NAME.
AC_DEFUN([STRAG_PACKAGE], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1], [require $1 (default: use it if pkg-config finds it)])],
    [], [with_$1=check])
  strag_summary_$1="no"
  AS_CASE([$with_$1],
    [no], [],
    [yes|check], [PKG_CHECK_MODULES([$2], [$3],
      [strag_summary_$1=`$PKG_CONFIG --modversion $1`
       AC_DEFINE([HAVE_$2], [1], [Define to 1 if $1 was found.])],
      [AS_IF([test "$with_$1" = yes],
             [AC_MSG_ERROR([--with-$1: pkg-config does not find $3])])])],
    [AC_MSG_ERROR([--with-$1=$with_$1: only yes or no; PKG_CONFIG_PATH says where it is])])
])

# STRAG_CUDA: reported only; reducers for device buffers come later.
AC_DEFUN([STRAG_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
       [look for CUDA in DIR and fail without it (default: look in /usr/local/cuda and /usr)])],
    [], [with_cuda=check])
  AS_CASE([$with_cuda],
    [no], [strag_cuda_dirs=],
    [yes|check], [strag_cuda_dirs="/usr/local/cuda /usr"],
    [strag_cuda_dirs=$with_cuda])
  strag_summary_cuda=no
  for strag_dir in $strag_cuda_dirs; do
    AS_IF([test "$strag_summary_cuda" = no && test -f "$strag_dir/include/cuda.h"],
          [strag_summary_cuda="found in $strag_dir, for device buffers (not built yet)"])
  done
  AS_CASE([$with_cuda:$strag_summary_cuda], [no:*|check:*], [],
    [*:no], [AC_MSG_ERROR([--with-cuda: no include/cuda.h in $strag_cuda_dirs])])
])

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

# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are used where they exist.

# STRAG_REQUIRED(NAME, VARIABLE, PKG-CONFIG-MODULE, DEBIAN-PACKAGE)
# Finds what libstrag cannot do without, and sets strag_summary_NAME.
AC_DEFUN([STRAG_REQUIRED], [
  PKG_CHECK_MODULES([$2], [$3],
    [strag_summary_$1=`$PKG_CONFIG --modversion "$3"`],
    [AC_MSG_ERROR([$1 is needed: pkg-config does not find $3 (Debian: apt-get install $4)])])
])

# STRAG_UCX
# Adds --with-ucx[=DIR] and --without-ucx, sets the conditional HAVE_UCX and strag_summary_ucx, and
# substitutes UCX_CFLAGS and UCX_LIBDIR, where libucp is looked for at run time; nothing is linked.
AC_DEFUN([STRAG_UCX], [
  AC_ARG_WITH([ucx],
    [AS_HELP_STRING([--with-ucx@<:@=DIR@:>@],
       [require UCX 1.10 or later, as pkg-config or DIR/lib/pkgconfig know it (default: use it
        where pkg-config finds it)])],
    [], [with_ucx=check])
  strag_summary_ucx=no
  AS_IF([test "$with_ucx" != no],
    [PKG_CHECK_MODULES([UCX], [ucx >= 1.10],
      [strag_summary_ucx=`$PKG_CONFIG --modversion ucx`
       UCX_LIBDIR=`$PKG_CONFIG --variable=libdir ucx`],
      [AS_IF([test "$with_ucx" != check],
             [AC_MSG_ERROR([--with-ucx: pkg-config does not find ucx >= 1.10 (Debian: apt-get install libucx-dev)])])])])
  AC_SUBST([UCX_LIBDIR])
  AM_CONDITIONAL([HAVE_UCX], [test "$strag_summary_ucx" != no])
])

# Let pkg-config find the UCX of --with-ucx=DIR, and no other.
AC_DEFUN([STRAG_UCX_AT], [
  strag_found=no
  for strag_dir in lib lib64 lib/$host_cpu-linux-gnu; do
    AS_IF([test -f "$with_ucx/$strag_dir/pkgconfig/ucx.pc"],
      [PKG_CONFIG_PATH=$with_ucx/$strag_dir/pkgconfig:$PKG_CONFIG_PATH
       export PKG_CONFIG_PATH
       strag_found=yes])
  done
  AS_IF([test $strag_found = no],
    [AC_MSG_ERROR([--with-ucx=$with_ucx: there is no $with_ucx/lib/pkgconfig/ucx.pc])])
])

# SPDX-License-Identifier: BSD-3-Clause
# The compiler: language, numbers, warnings, sanitizers.

# Options that cannot be followed are refused before anything is found out of the machine.
AC_DEFUN([STRAG_OPTIONS], [
  AS_CASE([$enable_sanitizers], [''|no], [],
    [AS_CASE([$with_ompi], [''|no], [],
      [AC_MSG_ERROR([--enable-sanitizers and --with-ompi exclude each other: a sanitized component cannot be loaded into mpirun's processes])])])
  AS_CASE([$with_ompi],
    [''|yes|no], [],
    [/*], [AS_IF([test ! -x "$with_ompi/bin/mpicc"],
                 [AC_MSG_ERROR([--with-ompi=$with_ompi: there is no $with_ompi/bin/mpicc])])],
    [AC_MSG_ERROR([--with-ompi=$with_ompi: an absolute path is needed, the prefix of an Open MPI])])
  AS_CASE([$with_plugindir], [''|/*], [],
    [AC_MSG_ERROR([--with-plugindir=$with_plugindir: an absolute path is needed])])
  AS_CASE([$with_ucx],
    [''|yes|no], [],
    [/*], [STRAG_UCX_AT],
    [AC_MSG_ERROR([--with-ucx=$with_ucx: an absolute path is needed, the prefix of a UCX])])
  AS_CASE([$with_cuda], [''|yes|no], [],
    [AS_IF([test -z "$NVCC" && test ! -x "$with_cuda/bin/nvcc"],
           [AC_MSG_ERROR([--with-cuda=$with_cuda: no $with_cuda/bin/nvcc])])])
])

# STRAG_CHECK_CFLAG(FLAG, IF-ACCEPTED, [IF-NOT])
AC_DEFUN([STRAG_CHECK_CFLAG], [
  AS_VAR_PUSHDEF([strag_cache], [strag_cv_cflag_$1])
  AC_CACHE_CHECK([whether $CC accepts $1], [strag_cache], [
    strag_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
                      [AS_VAR_SET([strag_cache], [yes])], [AS_VAR_SET([strag_cache], [no])])
    CFLAGS=$strag_saved_cflags])
  AS_VAR_IF([strag_cache], [yes], [$2], [$3])
  AS_VAR_POPDEF([strag_cache])
])

# The program is C11 with GNU extensions, whatever the compiler's own default is.
AC_DEFUN([STRAG_C11], [
  STRAG_CHECK_CFLAG([-std=gnu11], [CC="$CC -std=gnu11"],
                    [AC_MSG_ERROR([$CC does not accept -std=gnu11; GCC 9 or Clang 9, or newer, do])])
])

# Ranks compute the same plans, each by itself: floating-point numbers must not depend on what a
# processor can do, or on how a function was inlined. So products and sums are not fused, and an i386
# computes as any other processor does (SSE2), not with 80 bits.
AC_DEFUN([STRAG_NUMBERS], [
  NUMBER_CFLAGS=
  STRAG_CHECK_CFLAG([-ffp-contract=off], [NUMBER_CFLAGS=-ffp-contract=off])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if __FLT_EVAL_METHOD__ != 0
#error more than 64 bits
#endif
int none;]])], [], [NUMBER_CFLAGS="$NUMBER_CFLAGS -msse2 -mfpmath=sse"])
  AC_SUBST([NUMBER_CFLAGS])
])

AC_DEFUN([STRAG_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [a warning fails the build])])
  WARN_CFLAGS=
  m4_foreach_w([strag_flag],
    [-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
     -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wformat=2 -Wvla],
    [STRAG_CHECK_CFLAG(strag_flag, [WARN_CFLAGS="$WARN_CFLAGS strag_flag"])])
  AS_IF([test "$enable_werror" = yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])

# A sanitized component cannot be loaded into an mpirun that is not, so this is for libstrag, the
# command and their tests: STRAG_OMPI refuses it together with Open MPI.
AC_DEFUN([STRAG_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST],
                    [build with -fsanitize=LIST: address,undefined or thread (without Open MPI)])])
  AS_CASE([$enable_sanitizers],
    [''|no], [enable_sanitizers=no],
    [yes], [enable_sanitizers=address,undefined])
  AS_IF([test "$enable_sanitizers" != no], [
    strag_sanitize="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer"
    AS_CASE([$enable_sanitizers], [*undefined*],
            [strag_sanitize="$strag_sanitize -fno-sanitize-recover=undefined"])
    CFLAGS="$CFLAGS $strag_sanitize"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [],
      [AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizers; accepted are address, undefined, "address,undefined" and thread, where the compiler has them])])])
])

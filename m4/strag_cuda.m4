# SPDX-License-Identifier: BSD-3-Clause
# What makes kernels for CUDA devices: nvcc, or a clang that can. The plug-in itself needs neither,
# nor a header of CUDA's; without kernels it combines on the host.

# STRAG_CUDA
# Adds --with-cuda and --with-cuda-arch, sets STRAG_KERNELS_COMMAND (it takes -o FILE SOURCE) and
# the conditional HAVE_CUDA_KERNELS.
AC_DEFUN([STRAG_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
       [require nvcc, of DIR if given (default: use DIR/bin/nvcc of /usr/local/cuda, or the nvcc in
        PATH, or else clang, if one of them can make kernels)])],
    [], [with_cuda=check])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST],
       [compute capabilities that kernels are made for by nvcc, such as 80,90; newer devices than
        the first can use them all (default: 75,80,90,100,120, those that nvcc knows)])],
    [], [with_cuda_arch=default])
  STRAG_KERNELS_COMMAND=
  strag_summary_cuda="no kernels: what is in a device's memory is combined on the host"
  AS_CASE([$with_cuda],
    [no], [strag_summary_cuda="$strag_summary_cuda (--without-cuda)"],
    [yes|check], [AC_PATH_PROG([NVCC], [nvcc], [], [/usr/local/cuda/bin:$PATH])],
    [AC_PATH_PROG([NVCC], [nvcc], [], [$with_cuda/bin])])
  AC_ARG_VAR([NVCC], [NVIDIA's compiler, for kernels])
  AS_IF([test -n "$NVCC" && test "$with_cuda" != no],
        [STRAG_CUDA_NVCC],
        [AS_IF([test "$with_cuda" = yes],
               [AC_MSG_ERROR([--with-cuda: no nvcc in /usr/local/cuda/bin or in PATH])])])
  AS_IF([test -z "$STRAG_KERNELS_COMMAND" && test "$with_cuda" = check], [STRAG_CUDA_CLANG])
  AC_SUBST([STRAG_KERNELS_COMMAND])
  AC_CHECK_FUNC([dlopen], [DL_LIBS=], [DL_LIBS=-ldl])
  AC_SUBST([DL_LIBS])
  AM_CONDITIONAL([HAVE_CUDA_KERNELS], [test -n "$STRAG_KERNELS_COMMAND"])
])

# What nvcc can do, it does: code for each capability, and for the first one also the form that the
# driver compiles for any other device.
AC_DEFUN([STRAG_CUDA_NVCC], [
  AC_MSG_CHECKING([for what devices $NVCC makes kernels])
  strag_known=`$NVCC --list-gpu-code 2>/dev/null | tr '\n' ' '`
  AS_IF([test "$with_cuda_arch" = default],
        [strag_wanted="75 80 90 100 120"],
        [strag_wanted=`AS_ECHO(["$with_cuda_arch"]) | tr ',' ' '`])
  strag_arch= strag_codes=
  for strag_one in $strag_wanted; do
    AS_CASE([" $strag_known"],
      [*" sm_$strag_one "*], [
        AS_IF([test -z "$strag_arch"],
          [strag_codes=" -gencode arch=compute_$strag_one,code=compute_$strag_one"])
        strag_arch="$strag_arch $strag_one"
        strag_codes="$strag_codes -gencode arch=compute_$strag_one,code=sm_$strag_one"],
      [AS_IF([test "$with_cuda_arch" != default],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: $NVCC has no sm_$strag_one, only: $strag_known])])])
  done
  strag_command="$NVCC -O3 -fmad=false -fatbin$strag_codes"
  STRAG_CUDA_TRY([$strag_command])
  AS_IF([test "$strag_made" = yes && test -n "$strag_arch"],
    [AC_MSG_RESULT([$strag_arch])
     STRAG_KERNELS_COMMAND=$strag_command
     strag_summary_cuda="kernels by $NVCC, for$strag_arch"],
    [AC_MSG_RESULT([none])
     AS_IF([test "$with_cuda" != check],
       [AC_MSG_ERROR([--with-cuda: $NVCC cannot make kernels; config.log has its words])])])
])

# clang makes the form that the driver compiles for its device.
AC_DEFUN([STRAG_CUDA_CLANG], [
  AC_PATH_PROGS([STRAG_CLANG], [clang clang-19 clang-16 clang-15 clang-14])
  AS_IF([test -n "$STRAG_CLANG"], [
    AC_MSG_CHECKING([whether $STRAG_CLANG makes kernels])
    strag_command="$STRAG_CLANG -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib"
    strag_command="$strag_command -Wno-unknown-cuda-version --cuda-gpu-arch=sm_70"
    strag_command="$strag_command -Xclang -target-feature -Xclang +ptx63 -O3 -ffp-contract=off -S"
    STRAG_CUDA_TRY([$strag_command])
    AC_MSG_RESULT([$strag_made])
    AS_IF([test "$strag_made" = yes],
      [STRAG_KERNELS_COMMAND=$strag_command
       strag_summary_cuda="kernels by $STRAG_CLANG, which the driver compiles for its device"])])
])

# STRAG_CUDA_TRY(COMMAND): sets strag_made.
AC_DEFUN([STRAG_CUDA_TRY], [
  AS_ECHO(['extern "C" __attribute__((global)) void kernel(int *n) { *n = 1; }']) > conftest.cu
  strag_made=no
  AS_IF([AC_TRY_COMMAND([$1 -o conftest.kernels conftest.cu >&AS_MESSAGE_LOG_FD 2>&1]) &&
         test -s conftest.kernels], [strag_made=yes])
  rm -f conftest.cu conftest.kernels
])

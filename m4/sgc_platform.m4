# SPDX-License-Identifier: MIT
# SGC_PLATFORM: chooses the files of platform/ by operating system and architecture, and refuses
# the systems that have none.

AC_DEFUN([SGC_PLATFORM], [
  AS_CASE([$host_os],
    [linux-musl*],
      [AC_MSG_ERROR([SGC finds thread-local variables through glibc's thread vectors and does not run on musl ($host); use a glibc system])],
    [linux*], [sgc_os=linux],
    [AC_MSG_ERROR([SGC runs on Linux only, and this is $host_os ($host); a port is a set of files in platform/, see platform/platform.h])])
  AS_CASE([$host_cpu],
    [x86_64], [sgc_arch=x86_64],
    [aarch64], [sgc_arch=aarch64],
    [AC_MSG_ERROR([SGC runs on x86_64 and aarch64, and this is $host_cpu ($host); a port is a registers_ file in platform/])])
  AC_CHECK_SIZEOF([void *])
  AS_IF([test "$ac_cv_sizeof_void_p" -ne 8],
    [AC_MSG_ERROR([SGC needs 64-bit pointers and $CC makes $ac_cv_sizeof_void_p-byte ones; leave out -m32, -mx32 or -mabi=ilp32])])
  AM_CONDITIONAL([SGC_OS_LINUX], [test "$sgc_os" = linux])
  AM_CONDITIONAL([SGC_ARCH_X86_64], [test "$sgc_arch" = x86_64])
  AM_CONDITIONAL([SGC_ARCH_AARCH64], [test "$sgc_arch" = aarch64])
])

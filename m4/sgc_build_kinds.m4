# SPDX-License-Identifier: MIT
# The kinds of build: warnings, assertions, sanitizers, coverage.  Each adds to SGC_CPPFLAGS,
# SGC_CFLAGS and SGC_LDFLAGS and leaves a word for the summary.

# SGC_WARNINGS: the warnings the sources are free of; --enable-werror makes them errors.
AC_DEFUN([SGC_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])], [], [enable_werror=no])
  SGC_CFLAGS="$SGC_CFLAGS -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes"
  sgc_werror_text="shown"
  AS_IF([test "$enable_werror" = yes], [
    SGC_CFLAGS="$SGC_CFLAGS -Werror"
    sgc_werror_text="errors"
  ])
])

# SGC_ASSERTIONS: --enable-assertions turns sgc_assert and the invariant checks on.
AC_DEFUN([SGC_ASSERTIONS], [
  AC_ARG_ENABLE([assertions],
    [AS_HELP_STRING([--enable-assertions], [check the collector's invariants while it runs (slower)])],
    [], [enable_assertions=no])
  sgc_assertions=$enable_assertions
  AS_IF([test "$enable_assertions" = yes], [SGC_CPPFLAGS="$SGC_CPPFLAGS -DSGC_ASSERTIONS"])
])

# SGC_SANITIZER_FLAGS(NAME): appends the flags of one sanitizer to sgc_sanitizer_flags.
AC_DEFUN([SGC_SANITIZER_FLAGS], [
  AS_CASE([$1],
    [address], [sgc_sanitizer_flags="$sgc_sanitizer_flags -fsanitize=address -fno-omit-frame-pointer"],
    [thread], [sgc_sanitizer_flags="$sgc_sanitizer_flags -fsanitize=thread -fno-omit-frame-pointer"],
    [undefined], [sgc_sanitizer_flags="$sgc_sanitizer_flags -fsanitize=undefined -fno-sanitize-recover=undefined"],
    [AC_MSG_ERROR([--with-sanitizer=$with_sanitizer: '$1' is not one of address, thread, undefined (a list is joined with commas)])])
])

# SGC_SANITIZER: --with-sanitizer=LIST.  Whether the flags work is tried by linking, since the
# compiler may be there without the sanitizer's run-time library.
AC_DEFUN([SGC_SANITIZER], [
  AC_ARG_WITH([sanitizer],
    [AS_HELP_STRING([--with-sanitizer=LIST], [build with address, thread or undefined (address,undefined is possible)])],
    [], [with_sanitizer=no])
  sgc_sanitizer=none
  sgc_sanitizer_flags=""
  AS_CASE([$with_sanitizer],
    [yes], [AC_MSG_ERROR([--with-sanitizer needs a value: address, thread or undefined])],
    [no], [],
    [*thread*address*|*address*thread*],
      [AC_MSG_ERROR([--with-sanitizer=$with_sanitizer: address and thread exclude each other; build twice])],
    [
      sgc_sanitizer=$with_sanitizer
      for sgc_one in `echo "$with_sanitizer" | tr ',' ' '`; do
        SGC_SANITIZER_FLAGS([$sgc_one])
      done
      SGC_CFLAGS="$SGC_CFLAGS $sgc_sanitizer_flags"
      SGC_LDFLAGS="$SGC_LDFLAGS $sgc_sanitizer_flags"
      sgc_saved_cflags=$CFLAGS
      CFLAGS="$CFLAGS $sgc_sanitizer_flags"
      AC_MSG_CHECKING([whether $CC links with $sgc_sanitizer_flags])
      AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([--with-sanitizer=$with_sanitizer: $CC cannot link with $sgc_sanitizer_flags; install its run-time library (Debian: libclang-rt-dev for clang)])])
      CFLAGS=$sgc_saved_cflags
    ])
  AC_SUBST([sgc_sanitizer])
  AM_CONDITIONAL([SGC_SANITIZED], [test "$sgc_sanitizer" != none])
])

# SGC_COVERAGE: --enable-coverage counts executed lines for gcovr.  Counters are updated atomically,
# as threads share them.
AC_DEFUN([SGC_COVERAGE], [
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage], [count executed lines ("make coverage" uses it)])],
    [], [enable_coverage=no])
  sgc_coverage=$enable_coverage
  AS_IF([test "$enable_coverage" = yes], [
    SGC_CFLAGS="$SGC_CFLAGS --coverage -fprofile-update=atomic"
    SGC_CPPFLAGS="$SGC_CPPFLAGS -D_exit=exit"      # who leaves by _exit writes no counters
    SGC_LDFLAGS="$SGC_LDFLAGS --coverage"
  ])
])

# SGC_CPLUSPLUS: --enable-cplusplus=yes|no|auto: libgccpp and libgctba, if there is a C++ compiler.  Where there is none for
# another architecture, autoconf finds the one for this.
AC_DEFUN([SGC_CPLUSPLUS], [
  AC_ARG_ENABLE([cplusplus],
    [AS_HELP_STRING([--disable-cplusplus], [without the libraries for C++ programs (default: with them, if there is a C++ compiler)])],
    [], [enable_cplusplus=auto])
  sgc_have_cplusplus=no
  AS_IF([test "$enable_cplusplus" != no], [
    AC_LANG_PUSH([C++])
    AC_MSG_CHECKING([whether $CXX compiles C++])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <new>
#ifndef __${sgc_arch}__
#error "for another architecture than the C compiler"
#endif]], [[throw std::bad_alloc();]])], [sgc_have_cplusplus=yes])
    AC_MSG_RESULT([$sgc_have_cplusplus])
    AC_LANG_POP([C++])
    AS_IF([test "$enable_cplusplus" = yes && test "$sgc_have_cplusplus" = no],
      [AC_MSG_ERROR([--enable-cplusplus: no working C++ compiler for $sgc_arch; install one (Debian: g++) or leave the option out])])
  ])
  SGC_CXXFLAGS="-pthread -Wall -Wextra -fvisibility=hidden"
  AS_IF([test "$sgc_sanitizer" != none], [SGC_CXXFLAGS="$SGC_CXXFLAGS $sgc_sanitizer_flags"])
  AS_IF([test "$enable_werror" = yes], [SGC_CXXFLAGS="$SGC_CXXFLAGS -Werror"])
  SGC_CXX_LDFLAGS="-Wl,-z,now"
  AS_IF([test "$sgc_sanitizer" != none], [SGC_CXX_LDFLAGS="$SGC_CXX_LDFLAGS $sgc_sanitizer_flags"])
  sgc_cplusplus_text="without libgccpp and libgctba"
  AS_IF([test "$sgc_have_cplusplus" = yes], [sgc_cplusplus_text="$CXX"])
  AM_CONDITIONAL([SGC_CXX], [test "$sgc_have_cplusplus" = yes && test "$enable_shared" = yes])
])

# SPDX-License-Identifier: MIT
# SGC_PLACES: where an installation lies, and the versions that its files for build systems name.

AC_DEFUN([SGC_PLACES], [
  # The shared library's: libsgc.so.0.
  AC_SUBST([SGC_CURRENT], [0])
  # Of bdwgc's interface.
  SGC_BDWGC_VERSION=$(sed -n 's/^#define GC_VERSION_M.* //p' "$srcdir/include/gc/gc_version.h" | head -n 3 | paste -s -d . -)
  AC_SUBST([SGC_BDWGC_VERSION])

  sgc_prefix=$prefix sgc_exec_prefix=$exec_prefix
  test "$prefix" != NONE || prefix=$ac_default_prefix
  test "$exec_prefix" != NONE || exec_prefix=$prefix
  eval "sgc_libdir=\"$libdir\""
  eval "sgc_libdir=\"$sgc_libdir\""
  eval "sgc_includedir=\"$includedir\""
  eval "sgc_includedir=\"$sgc_includedir\""
  prefix=$sgc_prefix exec_prefix=$sgc_exec_prefix
  case $sgc_libdir$sgc_includedir in
  *[[[:space:]]]*)
    AC_MSG_ERROR(['$sgc_libdir' or '$sgc_includedir' has a blank, and libtool can install no library there: give a --prefix
without blanks; the installed tree may be moved afterwards, also to such a place]) ;;
  esac
  SGC_LIB_TO_INCLUDE=$(realpath -m --relative-to="$sgc_libdir" "$sgc_includedir")
  AC_SUBST([SGC_LIB_TO_INCLUDE])
])

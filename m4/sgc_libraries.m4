# SPDX-License-Identifier: MIT
# The libraries SGC can use: hwloc for the machine's topology, libatomic_ops for atomics, libzstd and libdw in tools; and the header for
# probes.

# SGC_HWLOC: --with-hwloc=yes|no|auto.
AC_DEFUN([SGC_HWLOC], [
  AC_ARG_WITH([hwloc],
    [AS_HELP_STRING([--with-hwloc], [read the topology of the machine with hwloc (default: if it is there)])],
    [], [with_hwloc=auto])
  sgc_have_hwloc=no
  AS_IF([test "$with_hwloc" != no], [
    AC_CHECK_HEADER([hwloc.h], [AC_CHECK_LIB([hwloc], [hwloc_topology_init], [sgc_have_hwloc=yes])])
    AS_IF([test "$with_hwloc" != auto && test "$sgc_have_hwloc" = no],
      [AC_MSG_ERROR([--with-hwloc: hwloc.h or libhwloc not found; install it (Debian: libhwloc-dev) or configure --without-hwloc])])
  ])
  sgc_topology_text="/sys (without hwloc)"
  AS_IF([test "$sgc_have_hwloc" = yes], [
    sgc_topology_text="hwloc"
  ])
  AM_CONDITIONAL([SGC_HWLOC], [test "$sgc_have_hwloc" = yes])
])

# SGC_LIBATOMIC_OPS: --with-libatomic-ops.  On the architectures SGC runs on it is headers only.
AC_DEFUN([SGC_LIBATOMIC_OPS], [
  AC_ARG_WITH([libatomic-ops],
    [AS_HELP_STRING([--with-libatomic-ops], [use libatomic_ops instead of C11 atomics (default: no)])],
    [], [with_libatomic_ops=no])
  sgc_atomics_text="C11"
  AS_IF([test "$with_libatomic_ops" != no], [
    AC_CHECK_HEADER([atomic_ops.h], [],
      [AC_MSG_ERROR([--with-libatomic-ops: atomic_ops.h not found; install it (Debian: libatomic-ops-dev) or leave the option out])])
    SGC_CPPFLAGS="$SGC_CPPFLAGS -DSGC_USE_LIBATOMIC_OPS"
    sgc_atomics_text="libatomic_ops"
  ])
])

# SGC_ELFUTILS: --with-elfutils=yes|no|auto.  For tools only, too.
AC_DEFUN([SGC_ELFUTILS], [
  AC_ARG_WITH([elfutils],
    [AS_HELP_STRING([--with-elfutils], [let sgc-snapshot find the names of classes and variables with libdw (default: if it is there)])],
    [], [with_elfutils=auto])
  sgc_have_elfutils=no
  SGC_ELFUTILS_LIBS=
  AS_IF([test "$with_elfutils" != no], [
    AC_CHECK_HEADER([elfutils/libdwfl.h],
      [AC_CHECK_LIB([dw], [dwfl_module_getsym_info], [sgc_have_elfutils=yes SGC_ELFUTILS_LIBS="-ldw -lelf"])])
    AS_IF([test "$with_elfutils" != auto && test "$sgc_have_elfutils" = no],
      [AC_MSG_ERROR([--with-elfutils: elfutils/libdwfl.h or libdw not found; install it (Debian: libdw-dev) or configure --without-elfutils])])
  ])
  sgc_symbols_text="none in tools, for want of libdw"
  AS_IF([test "$sgc_have_elfutils" = yes], [sgc_symbols_text="libdw, in tools"])
  AC_SUBST([SGC_ELFUTILS_LIBS])
  AM_CONDITIONAL([SGC_ELFUTILS], [test "$sgc_have_elfutils" = yes])
])

# SGC_ZSTD: --with-zstd=yes|no|auto.  For tools only: the library does not use it.
AC_DEFUN([SGC_ZSTD], [
  AC_ARG_WITH([zstd],
    [AS_HELP_STRING([--with-zstd], [let sgc-snapshot pack and unpack snapshots with libzstd (default: if it is there)])],
    [], [with_zstd=auto])
  sgc_have_zstd=no
  SGC_ZSTD_LIBS=
  AS_IF([test "$with_zstd" != no], [
    AC_CHECK_HEADER([zstd.h], [AC_CHECK_LIB([zstd], [ZSTD_compressStream2], [sgc_have_zstd=yes SGC_ZSTD_LIBS=-lzstd])])
    AS_IF([test "$with_zstd" != auto && test "$sgc_have_zstd" = no],
      [AC_MSG_ERROR([--with-zstd: zstd.h or libzstd not found; install it (Debian: libzstd-dev) or configure --without-zstd])])
  ])
  AC_SUBST([SGC_ZSTD_LIBS])
  AM_CONDITIONAL([SGC_ZSTD], [test "$sgc_have_zstd" = yes])
])

# SGC_USDT: --enable-usdt=yes|no|auto.  A header makes the probes; nothing is linked.
AC_DEFUN([SGC_USDT], [
  AC_ARG_ENABLE([usdt],
    [AS_HELP_STRING([--disable-usdt], [leave out probes for gdb, perf and bpftrace (default: they are there if <sys/sdt.h> is)])],
    [], [enable_usdt=auto])
  sgc_probes_text=no
  AS_IF([test "$enable_usdt" != no], [
    AC_CHECK_HEADER([sys/sdt.h], [sgc_probes_text=yes])
    AS_IF([test "$enable_usdt" = yes && test "$sgc_probes_text" = no],
      [AC_MSG_ERROR([--enable-usdt: sys/sdt.h not found; install it (Debian: systemtap-sdt-dev) or configure --disable-usdt])])
  ])
  AS_IF([test "$sgc_probes_text" = yes], [SGC_CPPFLAGS="$SGC_CPPFLAGS -DSGC_USE_USDT"])
])

# SPDX-License-Identifier: MIT
# What the linker in use can do.  Each choice is tried, never guessed from the linker's name.

# SGC_SHARED_LINK(FLAGS, SOURCE, IF-LINKED, [IF-NOT]): makes conftest.so with FLAGS.  The checks of autoconf
# make programs only.  Without warnings: the sources have no prototypes.
AC_DEFUN([SGC_SHARED_LINK], [
  AC_LANG_CONFTEST([AC_LANG_SOURCE([$2])])
  AS_IF([$CC $SGC_CFLAGS $CFLAGS $CPPFLAGS $SGC_LDFLAGS $LDFLAGS -w -fPIC -shared $1 -o conftest.so conftest.c >&AS_MESSAGE_LOG_FD 2>&1],
    [$3], [$4])
  rm -f conftest.c conftest.so
])

# SGC_CODE_ORDER: whether a library can be linked with the linker's own script, in the order that gc/order.awk makes
# of it.  A function of gc/often.list must come before one that is not in it.
AC_DEFUN([SGC_CODE_ORDER], [
  AC_MSG_CHECKING([whether the linker puts functions in an order])
  sgc_code_order=no
  AS_IF([test "$enable_shared" = yes], [
    $CC $SGC_CFLAGS $CFLAGS $SGC_LDFLAGS $LDFLAGS -shared -Wl,--verbose 2>/dev/null |
      $AWK -f "$srcdir/gc/order.awk" "$srcdir/gc/often.list" - >conftest.ld
    SGC_SHARED_LINK([-Wl,-T,conftest.ld -Wl,-z,max-page-size=65536],
      [[#define EXPORTED __attribute__((visibility("default")))
EXPORTED int GC_other(void) { return 1; }
EXPORTED int GC_malloc(void) { return 2; }
EXPORTED const char *sgc_end(void) { extern const char etext[] __attribute__((visibility("hidden"))); return etext; }]],
      [sgc_first=`$NM -n conftest.so | $SED -n '/ GC_/{s/.* //;p;q;}'`
       AS_IF([test "$sgc_first" = GC_malloc], [sgc_code_order=yes])])
    rm -f conftest.ld
  ])
  AC_MSG_RESULT([$sgc_code_order])
  AM_CONDITIONAL([SGC_ORDERED], [test "$sgc_code_order" = yes])
  sgc_order_text="functions of small programs together"
  AS_IF([test "$sgc_code_order" = no],
    [sgc_order_text="as the linker puts it (a process maps more of the library; GNU ld can order it)"])
  AS_IF([test "$enable_shared" != yes], [sgc_order_text="no shared library"])
])

# SGC_NOSEPARATE_CODE: -z noseparate-code for small libraries, whose code then shares its pages with the rest.
AC_DEFUN([SGC_NOSEPARATE_CODE], [
  AC_MSG_CHECKING([whether the linker knows -z noseparate-code])
  sgc_noseparate_code=no
  SGC_SHARED_LINK([-Wl,-z,noseparate-code], [[extern int nothing;]],
    [sgc_noseparate_code=yes
     SGC_SMALL_LDFLAGS=-Wl,-z,noseparate-code])
  AC_MSG_RESULT([$sgc_noseparate_code])
  AC_SUBST([SGC_SMALL_LDFLAGS])
])

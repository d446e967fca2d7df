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

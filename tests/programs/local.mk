# SPDX-License-Identifier: MIT
# What Debian's programs that are built for bdwgc have to do.
EXTRA_DIST += \
	tests/programs/deep.scm \
	tests/programs/deep-threads.scm \
	tests/programs/prepare \
	tests/programs/work.asy \
	tests/programs/work.cr \
	tests/programs/work.def \
	tests/programs/work.goo \
	tests/programs/work.html \
	tests/programs/work.lisp \
	tests/programs/work-weak.lisp \
	tests/programs/work.ly \
	tests/programs/work.m2 \
	tests/programs/work.mac \
	tests/programs/work.neko \
	tests/programs/work.nix \
	tests/programs/work.pk \
	tests/programs/work.sc \
	tests/programs/work.scm \
	tests/programs/work-compile.scm \
	tests/programs/work.tpl

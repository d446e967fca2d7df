# SPDX-License-Identifier: MIT
# The public headers.  public_headers go to PREFIX/include/sgc, public_gc_headers to PREFIX/include/sgc/gc, public_scm_headers to
# PREFIX/include/sgc/scm.

public_headers = \
	include/gc.h \
	include/gc_cpp.h \
	include/sgc.h \
	include/sgc_cpp.h \
	include/sgc_pmr.h \
	include/sgc_shortterm.h

public_gc_headers = \
	include/gc/gc.h \
	include/gc/gc_allocator.h \
	include/gc/gc_backptr.h \
	include/gc/gc_check.h \
	include/gc/gc_config_macros.h \
	include/gc/gc_disclaim.h \
	include/gc/gc_finalize.h \
	include/gc/gc_cpp.h \
	include/gc/gc_debug.h \
	include/gc/gc_gcj.h \
	include/gc/gc_heap.h \
	include/gc/gc_hooks.h \
	include/gc/gc_inline.h \
	include/gc/gc_mark.h \
	include/gc/gc_objects.h \
	include/gc/gc_pthread_redirects.h \
	include/gc/gc_roots.h \
	include/gc/gc_threads.h \
	include/gc/gc_tiny_fl.h \
	include/gc/gc_typed.h \
	include/gc/gc_version.h \
	include/gc/javaxfc.h \
	include/gc/leak_detector.h

public_scm_headers = \
	include/scm/stm.h \
	include/scm/stm-debug.h \
	include/scm/libscm.h

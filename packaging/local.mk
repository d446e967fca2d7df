# SPDX-License-Identifier: MIT
# What build systems and packages find of an installation: files for CMake, and LIBDIR/sgc/bdwgc, a folder shaped like an
# installation of bdwgc, so that whatever can be told where bdwgc lies builds with SGC.

debian_files = \
	packaging/debian/changelog \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/libgc1-sgc.install \
	packaging/debian/libgc1-sgc.lintian-overrides \
	packaging/debian/libsgc-dev.install \
	packaging/debian/libsgc-doc.install \
	packaging/debian/libsgc0.install \
	packaging/debian/libsgc0.lintian-overrides \
	packaging/debian/libsgc0.symbols \
	packaging/debian/rules \
	packaging/debian/sgc-tools.install \
	packaging/debian/sgc-tools.lintian-overrides \
	packaging/debian/source/format
EXTRA_DIST += CMakeLists.txt meson.build packaging/build-into packaging/make-deb $(debian_files)

sgccmakedir = $(libdir)/cmake/sgc
nodist_sgccmake_DATA = packaging/cmake/sgcConfig.cmake packaging/cmake/sgcConfigVersion.cmake

bdwgcdir = $(pkglibdir)/bdwgc
bdwgclibdir = $(bdwgcdir)/lib
bdwgccmakedir = $(bdwgclibdir)/cmake/bdwgc
nodist_bdwgccmake_DATA = packaging/bdwgc/BDWgcConfig.cmake packaging/bdwgc/BDWgcConfigVersion.cmake
bdwgcpkgconfigdir = $(bdwgclibdir)/pkgconfig
nodist_bdwgcpkgconfig_DATA = packaging/bdwgc/bdw-gc.pc

# bdwgc's libraries for C++ programs are archives here: a shared one would be looked for by its own name when the program runs.
if SGC_CXX
bdwgclib_LIBRARIES = packaging/bdwgc/libgccpp.a packaging/bdwgc/libgctba.a
packaging_bdwgc_libgccpp_a_SOURCES = gc/api/cpp_bad_alloc.cc gc/api/cpp_new.cc
packaging_bdwgc_libgccpp_a_CXXFLAGS = $(AM_CXXFLAGS) -fPIC
packaging_bdwgc_libgctba_a_SOURCES = gc/api/cpp_bad_alloc.cc
packaging_bdwgc_libgctba_a_CXXFLAGS = $(AM_CXXFLAGS) -fPIC
endif

# What else the folder holds is links, each with where it leads to.
bdwgc_links = include/gc:$(sgcincludedir)/gc include/gc.h:$(sgcincludedir)/gc.h include/gc_cpp.h:$(sgcincludedir)/gc_cpp.h
if SGC_SHARED
bdwgc_links += lib/libgc.so:$(libdir)/libsgc.so lib/libsgc.so.0:$(libdir)/libsgc.so.0    # where a run path to this folder finds it
endif
if SGC_STATIC
bdwgc_links += lib/libgc.a:$(libdir)/libsgc.a
endif

install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(bdwgcdir)/include' '$(DESTDIR)$(bdwgclibdir)'
	for link in $(bdwgc_links); do \
		ln -s -r -f -n "$(DESTDIR)$${link#*:}" "$(DESTDIR)$(bdwgcdir)/$${link%%:*}" || exit 1; \
	done

# gdb loads its commands with a library, if they lie below a folder of its own under the name of the library's file; those in Python
# load the others of their folder.
gdb_loads = $(datadir)/gdb/auto-load
gdb_libraries =
if SGC_SHARED
gdb_libraries += $(libdir)/libsgc.so $(pkglibdir)/libgc.so
endif

install-exec-hook:
	for library in $(gdb_libraries); do \
		file=`readlink "$(DESTDIR)$$library"` && folder="$(DESTDIR)$(gdb_loads)$${library%/*}" && $(MKDIR_P) "$$folder" && \
		$(INSTALL_DATA) '$(srcdir)/doc/sgc.gdb' "$$folder/$$file-gdb.gdb" && \
		$(INSTALL_DATA) '$(srcdir)/doc/sgc-gdb.py' "$$folder/$$file-gdb.py" && \
		$(INSTALL_DATA) '$(srcdir)'/doc/sgc_gdb_*.py "$$folder" || exit 1; \
	done

uninstall-hook:
	for link in $(bdwgc_links); do rm -f "$(DESTDIR)$(bdwgcdir)/$${link%%:*}"; done
	for library in $(gdb_libraries); do \
		rm -f "$(DESTDIR)$(gdb_loads)$$library".*-gdb.* "$(DESTDIR)$(gdb_loads)$${library%/*}"/sgc_gdb_*.py; \
	done

# SPDX-License-Identifier: MIT
# sgc-run, sgc-pauses, sgc-report and sgc-topo, which are installed, and the scripts that check a build.

if SGC_SHARED
bin_SCRIPTS += tools/sgc-run tools/sgc-pauses
pkglibexec_PROGRAMS = tools/sgc-measure
tools_sgc_measure_SOURCES = tools/sgc-measure.c
tools_sgc_measure_LDADD = libsgccore.la
endif
bin_PROGRAMS += tools/sgc-topo
tools_sgc_topo_SOURCES = tools/sgc-topo.c
tools_sgc_topo_LDADD = libsgccore.la
tools_sgc_topo_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_TOPO_VERSION='"$(PACKAGE_VERSION)"'
bin_SCRIPTS += tools/sgc-report
CLEANFILES += tools/sgc-run tools/sgc-pauses tools/sgc-report

installed_places = $(SED) -e 's|@pkglibdir[@]|$(pkglibdir)|g' -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' \
	-e 's|@pkgdatadir[@]|$(pkgdatadir)|g' -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g'

tools/sgc-run: tools/sgc-run.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(installed_places) $(top_srcdir)/tools/sgc-run.in >$@.new && chmod +x $@.new && mv $@.new $@

tools/sgc-pauses: tools/sgc-pauses.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(installed_places) $(top_srcdir)/tools/sgc-pauses.in >$@.new && chmod +x $@.new && mv $@.new $@

tools/sgc-report: tools/sgc-report.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(installed_places) $(top_srcdir)/tools/sgc-report.in >$@.new && chmod +x $@.new && mv $@.new $@

# What sgc-pauses preloads, and what it is made of.  The observer belongs to no collector: it finds the one that is there.
if SGC_SHARED
pkglib_LTLIBRARIES += libsgcpauses.la
libsgcpauses_la_SOURCES = tools/pauses/file.c tools/pauses/file.h tools/pauses/observer.c tools/pauses/watch.c tools/pauses/watch.h
libsgcpauses_la_CFLAGS = $(AM_CFLAGS)
libsgcpauses_la_LIBADD =
libsgcpauses_la_LDFLAGS = $(AM_LDFLAGS) -shared -module -avoid-version -Wl,-z,nodelete
endif
# sgc-report uses some of its modules.
pausesdir = $(pkgdatadir)/pauses
pauses_DATA = $(pauses_modules)
reportdir = $(pkgdatadir)/report
report_DATA = $(report_modules)
pauses_modules = \
	tools/pauses/__init__.py \
	tools/pauses/analysis.py \
	tools/pauses/evidence.py \
	tools/pauses/figures.py \
	tools/pauses/files.py \
	tools/pauses/plot.py \
	tools/pauses/report.py \
	tools/pauses/running.py
report_modules = \
	tools/report/__init__.py \
	tools/report/charts.py \
	tools/report/elements.py \
	tools/report/found.py \
	tools/report/inputs.py \
	tools/report/log.py \
	tools/report/page.css \
	tools/report/page.js \
	tools/report/page.py \
	tools/report/profile.py \
	tools/report/snapshot.py \
	tools/report/symbols.py \
	tools/report/trace.py \
	tools/report/units.py

EXTRA_DIST += \
	$(pauses_modules) \
	$(report_modules) \
	tools/check-aarch64 \
	tools/check-long \
	tools/coverage \
	tools/record-long \
	tools/need-packages \
	tools/share-of \
	tools/sgc-pauses.in \
	tools/sgc-report.in \
	tools/sgc-run.in \
	tools/sum-tests

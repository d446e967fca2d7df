# SPDX-License-Identifier: MIT
# sgc-run, which is installed, and the scripts that check a build.

if SGC_SHARED
bin_SCRIPTS += tools/sgc-run
pkglibexec_PROGRAMS = tools/sgc-measure
tools_sgc_measure_SOURCES = tools/sgc-measure.c
tools_sgc_measure_LDADD =
endif
CLEANFILES += tools/sgc-run

tools/sgc-run: tools/sgc-run.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && \
	$(SED) -e 's|@pkglibdir[@]|$(pkglibdir)|g' -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' \
		$(top_srcdir)/tools/sgc-run.in >$@.new && chmod +x $@.new && mv $@.new $@

EXTRA_DIST += \
	tools/check-aarch64 \
	tools/check-install \
	tools/check-long \
	tools/coverage \
	tools/need-packages \
	tools/sgc-run.in \
	tools/sum-tests

# SPDX-License-Identifier: MIT
# The reference: what the comments of the installed headers say of each function, as manual pages and, where there is doxygen, as HTML.
# A release has the HTML in doc/reference/html.

reference_headers = $(public_headers) $(public_gc_headers) $(public_scm_headers)
reference_man = doc/reference/headers.awk doc/reference/prose.awk doc/reference/man.awk
reference_doxygen = doc/reference/headers.awk doc/reference/prose.awk doc/reference/doxygen.awk
EXTRA_DIST += $(reference_man) doc/reference/doxygen.awk doc/reference/Doxyfile doc/reference/page.html
CLEANFILES += reference/man.stamp reference/html.stamp

noinst_DATA += reference/man.stamp
reference/man.stamp: $(reference_headers) $(reference_man)
	$(AM_V_GEN)rm -rf reference/man && $(MKDIR_P) reference/man && to=`pwd`/reference/man && \
	(cd $(srcdir) && LC_ALL=C $(AWK) -v to="$$to" -v version=$(PACKAGE_VERSION) $(reference_man:%=-f %) $(reference_headers)) && touch $@

# Its pages need none of doxygen's scripts.
if SGC_DOXYGEN
noinst_DATA += reference/html.stamp
reference_html = reference/html.stamp
reference/html.stamp: $(reference_headers) $(reference_doxygen) doc/reference/Doxyfile doc/reference/page.html
	$(AM_V_GEN)rm -rf reference/headers reference/html && $(MKDIR_P) reference/headers/gc reference/headers/scm && \
	to=`pwd`/reference/headers && \
	(cd $(srcdir) && LC_ALL=C $(AWK) -v to="$$to" $(reference_doxygen:%=-f %) $(reference_headers)) && \
	{ cat $(srcdir)/doc/reference/Doxyfile; echo 'INPUT = reference/headers'; echo 'STRIP_FROM_PATH = reference/headers'; \
	echo 'OUTPUT_DIRECTORY = reference'; echo 'HTML_HEADER = $(srcdir)/doc/reference/page.html'; \
	echo 'PROJECT_NUMBER = $(PACKAGE_VERSION)'; } | $(DOXYGEN) - && rm -f reference/html/*.js && touch $@
endif

referencemandir = $(mandir)/man3
install-data-local: reference/man.stamp $(reference_html)
	$(MKDIR_P) '$(DESTDIR)$(referencemandir)'
	$(INSTALL_DATA) reference/man/* '$(DESTDIR)$(referencemandir)'
	html=reference/html; test -d $$html || html=$(srcdir)/doc/reference/html; test ! -d $$html || \
	{ $(MKDIR_P) '$(DESTDIR)$(docdir)/reference' && $(INSTALL_DATA) $$html/* '$(DESTDIR)$(docdir)/reference'; }

uninstall-local: reference/man.stamp
	cd reference/man && for page in *; do rm -f "$(DESTDIR)$(referencemandir)/$$page"; done
	rm -rf '$(DESTDIR)$(docdir)/reference'

dist-hook: $(reference_html)
	html=reference/html; test -d $$html || html=$(srcdir)/doc/reference/html; test ! -d $$html || \
	cp -R $$html '$(distdir)/doc/reference'

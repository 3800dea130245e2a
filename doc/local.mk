# SPDX-License-Identifier: BSD-3-Clause
# make doc: the library's reference as HTML in doc/html of the build folder, with pictures of the examples.

EXTRA_DIST += doc/Doxyfile doc/library.dox
doc_strag = tools/strag$(EXEEXT)
doc_shown = doc/shown

.PHONY: doc
doc: $(doc_strag)
	@doxygen --version > /dev/null 2>&1 || { echo 'make doc: doxygen is missing (Debian: apt-get install doxygen)' >&2; exit 1; }
	@$(MKDIR_P) $(doc_shown) && \
	$(doc_strag) plan ring -n 4 --format svg > $(doc_shown)/ring.svg && \
	cp -f $(srcdir)/examples/oversubscribed.conf $(doc_shown) && (cd $(doc_shown) && ../../$(doc_strag) topology swing \
		--layout oversubscribed.conf --format svg > oversubscribed.svg) && \
	$(doc_strag) cost all --torus 8x8 --bytes 1K..64M --format svg > $(doc_shown)/cost.svg 2> /dev/null && \
	here=`pwd` && cd $(srcdir) && { cat doc/Doxyfile && echo "PROJECT_NUMBER = $(PACKAGE_VERSION)" && \
	echo "OUTPUT_DIRECTORY = $$here/doc" && echo "IMAGE_PATH = $$here/$(doc_shown)"; } | doxygen -

mostlyclean-local:
	rm -rf doc/html $(doc_shown)

# SPDX-License-Identifier: BSD-3-Clause
# make doc: the library's reference as HTML in doc/html of the build folder, with pictures of the examples.

EXTRA_DIST += doc/Doxyfile doc/library.dox
doc_strag = tools/strag$(EXEEXT)

.PHONY: doc
doc: $(doc_strag)
	@doxygen --version > /dev/null 2>&1 || { echo 'make doc: doxygen is missing (Debian: apt-get install doxygen)' >&2; exit 1; }
	$(AM_V_GEN)$(MKDIR_P) doc/pictures && \
	$(doc_strag) plan ring -n 4 --format svg > doc/pictures/ring.svg && \
	$(doc_strag) topology swing --layout $(srcdir)/examples/oversubscribed.conf --format svg > doc/pictures/oversubscribed.svg && \
	$(doc_strag) cost all --torus 8x8 --bytes 1K..64M --format svg > doc/pictures/cost.svg && \
	here=`pwd` && cd $(srcdir) && { cat doc/Doxyfile && echo "PROJECT_NUMBER = $(PACKAGE_VERSION)" && \
	echo "OUTPUT_DIRECTORY = $$here/doc" && echo "IMAGE_PATH = $$here/doc/pictures"; } | doxygen -

mostlyclean-local:
	rm -rf doc/html doc/pictures

# SPDX-License-Identifier: BSD-3-Clause
# make lint: layout, layers, names of files, words, suspicious code, shell scripts. The tools come from
# Debian's packages clang-format, cppcheck, clang-tidy and shellcheck; the layout is clang-format 14's.

lint_folders = $(addprefix $(top_srcdir)/,bench cuda examples ompi_coll_strag src test tools)
lint_code = `find $(lint_folders) -name '*.[ch]' | sort`
# The tests' own code is left to the compiler and the sanitizers: it would take as long as the rest.
lint_units = `find $(filter-out %/test,$(lint_folders)) -name '*.c' | sort`
lint_includes = -I$(top_srcdir)/src/api -I$(top_srcdir)/ompi_coll_strag -I$(top_srcdir)/tools -I$(top_srcdir)/cuda

.PHONY: lint lint-format lint-layers lint-references lint-words lint-cppcheck lint-tidy lint-shell
lint: lint-format lint-layers lint-references lint-words lint-cppcheck lint-tidy lint-shell

TESTS += test/lint/layers.sh test/lint/references.sh test/lint/summary.sh test/lint/words.sh
EXTRA_DIST += test/lint/layers.py test/lint/layers.sh test/lint/references.py test/lint/references.sh test/lint/summary.sh \
	test/lint/words.py test/lint/words.sh

lint-format:
	clang-format --dry-run -Werror $(lint_code)

# Calls are looked for in what is built.
lint-layers:
	python3 $(top_srcdir)/test/lint/layers.py $(top_srcdir) $(top_builddir)

lint-references:
	python3 $(top_srcdir)/test/lint/references.py $(top_srcdir)

lint-words:
	python3 $(top_srcdir)/test/lint/words.py $(top_srcdir)

# ctuuninitvar takes the address of an error text, which is to be written, for a use of it.
lint-cppcheck:
	work=`mktemp -d` && trap 'rm -r "$$work"' EXIT && \
	cppcheck -q -j `nproc` --cppcheck-build-dir="$$work" --error-exitcode=1 --inline-suppr --std=c11 \
		--suppress=toomanyconfigs --suppress=ctuuninitvar --enable=warning,performance,portability \
		$(AM_CPPFLAGS) $(lint_includes) $(lint_units)

# Several files for each process, which loads for long; the flags are where it looks for them, one a line.
lint-tidy:
	printf '%s\n' -std=gnu11 $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(lint_includes) \
		$(STRAG_VERSION_CPPFLAGS) -DSTRAG_OMPI_VERSION='"$(OMPI_VERSION)"' \
		$(have_ucx_cppflags) \
		$(OMPI_CFLAGS) $(OMPI_CPPFLAGS) > compile_flags.txt
	printf '%s\n' $(lint_units) | xargs -P `nproc` -n 6 clang-tidy -quiet -p .
CLEANFILES += compile_flags.txt

# Of what never was a mistake here, SC2016 is of texts for another shell, SC2317 of functions that a text calls.
lint-shell:
	cd $(top_srcdir) && { printf '%s\n' quickstart .ci/run test/libtool-compile test/run-test strag-mpirun.in tools/completion/strag && \
		find bench cuda test -name '*.sh' | sort; } | xargs -P `nproc` -n 8 shellcheck -x -P SCRIPTDIR:. -e SC2016,SC2317

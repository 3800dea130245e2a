# SPDX-License-Identifier: BSD-3-Clause
# The command-line program.

# Those that go over the table of algorithms, and the others
strag_table_sources = \
	tools/commands.c \
	tools/explain_json.c \
	tools/explain_text.c \
	tools/explanation.c \
	tools/strag.c
strag_other_sources = \
	tools/command_cost.c \
	tools/command_explain.c \
	tools/command_params.c \
	tools/command_plan.c \
	tools/command_topology.c \
	tools/command_verify.c \
	tools/commands.h \
	tools/compact.c \
	tools/compact.h \
	tools/draw.c \
	tools/draw.h \
	tools/explain_levels.c \
	tools/explanation.h \
	tools/options.c \
	tools/options.h \
	tools/terminal.c \
	tools/terminal.h \
	tools/topology_options.c \
	tools/topology_options.h \
	tools/write.c \
	tools/write.h
strag_program_sources = $(strag_table_sources) $(strag_other_sources)

bin_PROGRAMS += tools/strag
tools_strag_SOURCES = $(strag_program_sources)
tools_strag_LDADD = src/libstrag.la

# What draws pictures, byte by byte.
pictures = $(srcdir)/tools/pictures/frame.py $(srcdir)/tools/pictures/plan.py $(srcdir)/tools/pictures/costs.py \
	$(srcdir)/tools/pictures/machine.py $(srcdir)/tools/pictures/main.py
tools/draw_script.h: $(pictures)
	$(AM_V_GEN)$(MKDIR_P) tools && \
	cat $(pictures) | od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g' > $@.new && mv $@.new $@
tools/draw.$(OBJEXT): tools/draw_script.h
CLEANFILES += tools/draw_script.h tools/draw_script.h.new
EXTRA_DIST += $(pictures) tools/README.md

dist_man_MANS += doc/strag.1

# The component's page, from the same table as its parameters.
man_MANS += doc/coll_strag.7
doc/coll_strag.7: tools/strag$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && tools/strag$(EXEEXT) params --format man > $@.new && mv $@.new $@
CLEANFILES += doc/coll_strag.7 doc/coll_strag.7.new

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tools/completion/strag

# The MPI program that measures, and writes rules.
dist_man_MANS += doc/strag-tune.1
if HAVE_OMPI
bin_PROGRAMS += tools/strag-tune
tools_strag_tune_SOURCES = tools/strag_tune.c tools/tune_model.c tools/tune_model.h \
	tools/tune_rules.c tools/tune_rules.h
tools_strag_tune_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS) $(OMPI_CPPFLAGS)
tools_strag_tune_LDADD = src/libstrag.la $(YAML_LIBS) $(OMPI_LIBS)
endif

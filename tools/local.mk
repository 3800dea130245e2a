# SPDX-License-Identifier: BSD-3-Clause
# The command-line program.

strag_program_sources = \
	tools/command_cost.c \
	tools/command_plan.c \
	tools/command_verify.c \
	tools/commands.c \
	tools/commands.h \
	tools/options.c \
	tools/options.h \
	tools/strag.c

bin_PROGRAMS += tools/strag
tools_strag_SOURCES = $(strag_program_sources)
tools_strag_LDADD = src/libstrag.la

dist_man_MANS += doc/strag.1

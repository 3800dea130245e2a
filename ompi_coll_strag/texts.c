/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiled in: Open MPI 6.0 has no folders of help texts any more, and earlier versions need not
 * find ours.
 */
#include "texts.h"

const char coll_strag_text_bad_parameters[] =
    "coll/strag cannot use these MCA parameters, and uses what stands at the end of each line\n"
    "instead. Correct them, or leave them out:\n"
    "\n"
    "%s%s\n";

const char coll_strag_text_bad_info_keys[] =
    "coll/strag cannot use these info keys of a communicator, and uses what stands at the end\n"
    "of each line instead. Correct them, or leave them out:\n"
    "\n"
    "%s%s\n";

const char coll_strag_text_different_parameters[] =
    "coll/strag is set up in another way on some ranks; all use the values of rank 0. The\n"
    "first one:\n"
    "\n"
    "  %s:\n"
    "  %s\n"
    "\n"
    "Give all ranks the same parameters: with several programs, mpirun's --mca holds for one\n"
    "of them.\n";

const char coll_strag_text_not_everywhere[] =
    "coll/strag is not used on communicators whose ranks do not all have the same one; Open\n"
    "MPI's other components run there. The first rank that differs:\n"
    "\n"
    "  %s:\n"
    "  %s\n"
    "\n"
    "Install the same version on all hosts, and select it for all ranks: with several\n"
    "programs, mpirun's --mca holds for one of them.\n";

const char coll_strag_text_no_layout[] =
    "coll/strag cannot use this description of the network (coll_strag_layout, or else\n"
    "coll_strag_torus), and assumes that all hosts are on one switch. `strag topology` shows\n"
    "what a description means.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_rules[] =
    "coll/strag cannot use this rules file (coll_strag_rules), and goes on without rules.\n"
    "`strag-tune` writes such files, and its manual says what is in them.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_model[] =
    "coll/strag cannot use this model file (coll_strag_model), and goes on without it: the\n"
    "cost model's numbers are those of other parameters, or defaults. `strag-tune --model`\n"
    "writes such files, and its manual says what is in them.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_plan[] =
    "coll/strag cannot use this plan, and goes on without it. `strag verify --plan FILE` says\n"
    "the same, and doc/plan-format.md what is in such files.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_not_saved[] =
    "coll/strag cannot write this file (coll_strag_save), and goes on without it.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_not_written[] =
    "coll/strag cannot write this file (coll_strag_report or coll_strag_trace), and goes on\n"
    "without it.\n"
    "\n"
    "  %s\n"
    "\n"
    "  %s\n";

const char coll_strag_text_cannot_be_planned[] =
    "coll_strag_algorithm asks for %s, which is not possible; there all calls are delegated\n"
    "to the previous component. `strag list` names other algorithms. The reason:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_ucp[] =
    "UCX is to carry messages (coll_strag_transport), but cannot be used; all ranks use Open\n"
    "MPI's point-to-point layer instead, as with coll_strag_transport=pml. UCX_TLS and\n"
    "UCX_NET_DEVICES say what UCX may use. The reason, on %s:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_lost[] = "coll/strag has lost %s; MPI_Allreduce fails. The reason:\n"
                                    "\n"
                                    "  %s\n";

const char coll_strag_text_not_shared[] =
    "coll_strag_shared_memory asks for memory that the ranks of a host share, which %s cannot\n"
    "have; its messages within a host use the transport of those between hosts. With\n"
    "coll_strag_shared_memory=auto there is no such warning. The reason:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_device_buffers[] =
    "coll/strag reduces buffers in a CUDA device's memory, but more slowly than possible: %s.\n"
    "The reason:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_kernels[] =
    "coll/strag reduces buffers in a CUDA device's memory, but more slowly than possible: %s.\n"
    "The reason:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_no_plugin[] =
    "coll/strag cannot detect buffers in a CUDA device's memory, since it cannot use its\n"
    "plug-in %s. A program that passes such buffers will fail; for others,\n"
    "coll_strag_device_buffers=no ends this warning. The reason:\n"
    "\n"
    "  %s\n";

const char coll_strag_text_wrong_version[] =
    "coll/strag was built for another version of Open MPI than the one that runs, and is not\n"
    "used. Rebuild it for this version (configure --with-ompi=DIR).\n"
    "\n"
    "  Built for:  Open MPI %s\n"
    "  Running:    Open MPI %s\n";

const char coll_strag_text_no_companions[] =
    "`--mca coll strag` selects coll/strag alone. It implements MPI_Allreduce only and opens\n"
    "Open MPI's other collective components itself for everything else, but that failed: %s.\n"
    "\n"
    "Name them as well, for example: --mca coll strag,tuned,basic,libnbc,inter,self\n";

const char coll_strag_text_different_calls[] =
    "Ranks have called MPI_Allreduce with different arguments. The call ends with an error\n"
    "(MPI_ERR_TRUNCATE) on the ranks that wait in it.\n"
    "\n"
    "%s"
    "\n"
    "All ranks of a communicator must make the same collective calls in the same order, with\n"
    "the same count, type and operator. Look for a rank that has left out a call, or made one\n"
    "more.\n";

const char coll_strag_text_failed_rank[] =
    "A rank has failed in an earlier MPI_Allreduce of this communicator, and makes no more of\n"
    "them. The call ends with an error (MPI_ERR_OTHER) on the ranks that wait in it.\n"
    "\n"
    "  %s"
    "\n"
    "That rank's MPI_Allreduce has returned the cause. To go on, free the communicator and\n"
    "make another one.\n";

const char coll_strag_text_stuck[] =
    "MPI_Allreduce waits for other ranks (coll_strag_stuck).\n"
    "\n"
    "%s"
    "\n"
    "A rank that has not called it may be computing, or in a call that waits for others, or\n"
    "stopped: a debugger or gdb -p on its host shows where it is.\n";

const char coll_strag_text_awaited[] =
    "%s"
    "\n"
    "coll/strag reports or traces the communicator's calls (coll_strag_report,\n"
    "coll_strag_trace), and each rank sends its part when it frees the communicator or calls\n"
    "MPI_Finalize. Let all ranks free it before one of them waits for another; a debugger or\n"
    "gdb -p on a missing rank's host shows where it is.\n";

/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings, compiled in: Open MPI 6.0 has no folders of help texts; others may not find strag's. */
#include "log.h"

#define WHAT_AND_WHY "\n  %s\n\n  %s\n"

static const char bad_parameters[] =
    "coll/strag ignores the values of these MCA parameters. The value that it uses instead is\n"
    "shown last on each line. Correct the parameters, or remove them:\n"
    "\n"
    "%s%s\n";

static const char no_layout[] =
    "coll/strag cannot use this description of the network (coll_strag_layout or\n"
    "coll_strag_torus). It assumes that all hosts are on one switch. `strag topology` shows\n"
    "how strag reads a description.\n" WHAT_AND_WHY;

static const char no_plan[] =
    "coll/strag cannot use this plan. The job goes on without it. `strag verify --plan FILE`\n"
    "checks a plan in the same way, and doc/plan-format.md describes the format.\n" WHAT_AND_WHY;

const struct coll_strag_text coll_strag_texts[] = {
    [COLL_STRAG_WARN_PARAMETERS] = {bad_parameters, FIRST_RANK},
    [COLL_STRAG_WARN_NO_HOST] = {bad_parameters, FIRST_RANK},
    [COLL_STRAG_WARN_INFO_KEYS] =
        {"coll/strag ignores the values of these info keys of a communicator. The value that it\n"
         "uses instead is shown last on each line. Correct the keys, or remove them:\n"
         "\n"
         "%s%s\n",
         ANY_RANK},
    [COLL_STRAG_WARN_DIFFERENT] =
        {"coll/strag has different parameters on some ranks. All ranks use the values of rank 0.\n"
         "The first rank that differs:\n"
         "\n"
         "  %s:\n"
         "  %s\n"
         "\n"
         "Give all ranks the same parameters. If mpirun starts several programs, an --mca option\n"
         "applies to one of them only.\n",
         ANY_RANK},
    [COLL_STRAG_WARN_NOT_EVERYWHERE] =
        {"Not all ranks of a communicator have the same coll/strag. Open MPI's other components\n"
         "run on such communicators. The first rank that differs:\n"
         "\n"
         "  %s:\n"
         "  %s\n"
         "\n"
         "Install the same version on all hosts, and select it for all ranks. If mpirun starts\n"
         "several programs, an --mca option applies to one of them only.\n",
         ANY_RANK},
    [COLL_STRAG_WARN_LAYOUT] = {no_layout, FIRST_AND_OTHER_HOSTS},
    [COLL_STRAG_WARN_TORUS] = {no_layout, FIRST_RANK},
    [COLL_STRAG_WARN_RULES] =
        {"coll/strag cannot use this rules file (coll_strag_rules). The job goes on without "
         "rules.\n"
         "`strag-tune` writes such files, and its man page describes the format.\n" WHAT_AND_WHY,
         FIRST_AND_OTHER_HOSTS},
    [COLL_STRAG_WARN_MODEL] =
        {"coll/strag cannot use this model file (coll_strag_model). The job goes on without it:\n"
         "the cost model's numbers come from other parameters, or are defaults.\n"
         "`strag-tune --model` writes such files, and strag(1) describes the "
         "format.\n" WHAT_AND_WHY,
         FIRST_AND_OTHER_HOSTS},
    [COLL_STRAG_WARN_PLAN] = {no_plan, FIRST_AND_OTHER_HOSTS},
    [COLL_STRAG_WARN_KEYED_PLAN] = {no_plan, ANY_RANK},
    [COLL_STRAG_WARN_SAVE] = {"coll/strag cannot write this file (coll_strag_save). The job goes "
                              "on without it.\n" WHAT_AND_WHY,
                              ANY_RANK},
    [COLL_STRAG_WARN_NOT_WRITTEN] =
        {"coll/strag cannot write this file (coll_strag_report or coll_strag_trace). The job goes\n"
         "on without it.\n" WHAT_AND_WHY,
         ANY_RANK},
    [COLL_STRAG_WARN_PINNED] =
        {"coll_strag_algorithm names %s, which cannot run there. The previous component runs all\n"
         "calls of that communicator. `strag list` names other algorithms. The reason:\n"
         "\n"
         "  %s\n",
         FIRST_RANK},
    [COLL_STRAG_WARN_NO_UCP] =
        {"coll_strag_transport selects UCX, but UCX cannot be used. All ranks use Open MPI's\n"
         "point-to-point layer instead, as with coll_strag_transport=pml. Check UCX_TLS and\n"
         "UCX_NET_DEVICES, which select what UCX may use. The reason, on %s:\n"
         "\n"
         "  %s\n",
         ANY_RANK},
    [COLL_STRAG_WARN_LOST] = {"coll/strag has lost %s. MPI_Allreduce fails. The reason:\n"
                              "\n"
                              "  %s\n",
                              ANY_RANK},
    [COLL_STRAG_WARN_NOT_SHARED] =
        {"coll_strag_shared_memory=1 asks for shared memory within hosts, but %s cannot have it.\n"
         "Its messages within a host use the same transport as messages between hosts.\n"
         "coll_strag_shared_memory=auto does the same without a warning. The reason:\n"
         "\n"
         "  %s\n",
         ANY_RANK},
    [COLL_STRAG_WARN_COPIED] =
        {"coll/strag copies buffers in a CUDA device's memory to the host and back, which may\n"
         "take longer than to reduce them on the device. The reason:\n"
         "\n"
         "  %s%s\n",
         ONE_PER_HOST},
    [COLL_STRAG_WARN_NO_PLUGIN] =
        {"coll/strag cannot detect buffers in a CUDA device's memory, since it cannot use its\n"
         "plug-in %s. A program that passes such buffers will fail. If yours passes\n"
         "none, coll_strag_device_buffers=no turns this warning off. The reason:\n"
         "\n"
         "  %s\n",
         ONE_PER_HOST},
    [COLL_STRAG_WARN_WRONG_VERSION] =
        {"coll/strag is not used, since it was built for another version of Open MPI. Rebuild it\n"
         "for the version that runs (configure --with-ompi=DIR).\n"
         "\n"
         "  Built for:  Open MPI %s\n"
         "  Running:    Open MPI %s\n",
         ANY_RANK},
    [COLL_STRAG_WARN_NO_COMPANIONS] =
        {"`--mca coll strag` selects coll/strag alone, which implements MPI_Allreduce only. For "
         "all\n"
         "other collectives it opens Open MPI's own components, but that failed: %s.\n"
         "\n"
         "Name them as well, for example: --mca coll strag,tuned,basic,libnbc,inter,self\n",
         ANY_RANK},
    [COLL_STRAG_WARN_DIFFERENT_CALLS] =
        {"Ranks have called MPI_Allreduce with different arguments. The call ends with an error\n"
         "(MPI_ERR_TRUNCATE) on the ranks that wait in it.\n"
         "\n"
         "%s"
         "\n"
         "All ranks of a communicator must make the same collective calls in the same order, with\n"
         "the same count, type and operator. Look for a rank that has skipped a call, or made an\n"
         "additional one.\n",
         ANY_RANK},
    [COLL_STRAG_WARN_FAILED_RANK] =
        {"A rank has failed in an earlier MPI_Allreduce of this communicator, and cannot take "
         "part\n"
         "in later ones. The call ends with an error (MPI_ERR_OTHER) on the ranks that wait in "
         "it.\n"
         "\n"
         "  %s"
         "\n"
         "MPI_Allreduce has returned the cause on that rank. To go on, free the communicator and\n"
         "create another one.\n",
         ANY_RANK},
    [COLL_STRAG_WARN_STUCK] =
        {"MPI_Allreduce waits for other ranks (coll_strag_stuck).\n"
         "\n"
         "%s"
         "\n"
         "A rank that has not called it may be computing, may wait in another call, or may be\n"
         "stopped. A debugger (gdb -p on its host) shows where it is.\n",
         ANY_RANK},
    [COLL_STRAG_WARN_AWAITED] =
        {"%s"
         "\n"
         "coll/strag reports or traces the communicator's calls (coll_strag_report,\n"
         "coll_strag_trace). Each rank sends its part when it frees the communicator or calls\n"
         "MPI_Finalize. Let all ranks free it before one of them waits for another. A debugger\n"
         "(gdb -p on a missing rank's host) shows where that rank is.\n",
         ANY_RANK},
};

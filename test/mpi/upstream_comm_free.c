/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does pml/ob1 look at a communicator that was freed meanwhile? (doc/upstream/comm-free.md)
 *
 * On rank 0 a thread progresses MPI. It receives a message for the main thread, which waits for it
 * and frees the communicator: the message was its last one. mca_pml_ob1_recv_frag_callback_match
 * completes the request and then reads proc->frags_cant_match, which is part of the communicator.
 * A thread may lose its processor between these two for any time: the program puts a trap in the
 * place of that read (x86-64 only), where the thread waits until the communicator is freed. The
 * handler then reads for ob1 and takes anything but NULL for freed memory, which MALLOC_PERTURB_
 * makes it; ob1 itself gets NULL, so that the program does not crash.
 *
 *     MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
 *         mpirun -np 2 --mca pml ob1 upstream_comm_free [COMMUNICATORS]
 *
 * Exit status 1: freed memory was read; 77: there is no such instruction in this build of ob1, or
 * the helper did not come to it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SKIP = 77, READY = 8, LAST = 7, WORD = 12345 };

#ifdef __x86_64__

/* cmpq $0, 0x20(REGISTER): REX.W 83 /7 disp8 imm8; 0x20 is where frags_cant_match is */
enum { INSTRUCTION_BYTES = 5, OFFSET = 0x20, TRAP = 0xcc, SEARCH_BYTES = 4096 };

static struct {
    uint8_t *at;
    int reg; /* index into uc_mcontext.gregs */
    pthread_t helper;
    volatile int word;  /* what the last message brings */
    volatile int freed; /* the communicator is */
    volatile int stop;
    int looks, at_freed; /* of the helper after that; only it writes them */
} trap;

static int is_wanted(const uint8_t *code)
{
    return (code[0] & ~1) == 0x48 && code[1] == 0x83 && (code[2] & ~7) == 0x78 &&
           (code[2] & 7) != 4 && code[3] == OFFSET && code[4] == 0;
}

static int register_of(const uint8_t *code)
{
    static const int regs[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15};
    return regs[(code[2] & 7) + 8 * (code[0] & 1)];
}

/* Instead of the instruction: wait, read, and set the flags as for NULL. */
static void on_trap(int signal_number, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    if ((uint8_t *)regs[REG_RIP] != trap.at + 1)
        abort();
    if (trap.word == WORD && pthread_equal(pthread_self(), trap.helper)) {
        const struct timespec wait = {.tv_nsec = 100000};
        for (int i = 0; i < 20000 && !trap.freed; i++) /* 2 s at most */
            nanosleep(&wait, NULL);
        trap.looks += trap.freed;
        trap.at_freed += trap.freed && NULL != *(void **)(regs[trap.reg] + OFFSET);
        trap.word = 0;
    }
    regs[REG_RIP] += INSTRUCTION_BYTES - 1;
    regs[REG_EFL] = (regs[REG_EFL] & ~0x8d5) | 0x44; /* ZF and PF, as if equal; not CF AF SF OF */
}

static int find_ob1(struct dl_phdr_info *info, size_t size, void *name)
{
    if (!strstr(info->dlpi_name, "mca_pml_ob1.so"))
        return 0;
    *(const char **)name = info->dlpi_name;
    return 1;
}

/* @return whether it is there */
static int set_trap(void)
{
    const char *name = NULL;
    dl_iterate_phdr(find_ob1, (void *)&name);
    void *ob1 = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    uint8_t *code = ob1 ? dlsym(ob1, "mca_pml_ob1_recv_frag_callback_match") : NULL;
    for (int i = 0; code && i < SEARCH_BYTES && !trap.at; i++)
        if (is_wanted(code + i))
            trap.at = code + i;
    if (!trap.at)
        return 0;
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    start = (uintptr_t)trap.at & ~(page - 1);
    trap.reg = register_of(trap.at);
    if (sigaction(SIGTRAP, &action, NULL) ||
        mprotect((void *)start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 0;
    *trap.at = TRAP;
    return 1;
}

static void *progress(void *unused)
{
    int flag;
    while (!trap.stop)
        MPI_Iprobe(1, READY, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

/* Rank 0's part: not a single MPI call makes progress before the message is there. */
static void receive_last(MPI_Comm *comm)
{
    int complete = 0;
    MPI_Request request;
    MPI_Irecv((void *)&trap.word, 1, MPI_INT, 1, LAST, *comm, &request);
    MPI_Send(NULL, 0, MPI_INT, 1, READY, MPI_COMM_WORLD);
    while (trap.word != WORD)
        ;
    while (!complete)
        MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    MPI_Comm_free(comm);
    trap.freed = 1;
}

static void send_last(MPI_Comm *comm)
{
    const int word = WORD;
    MPI_Recv(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, LAST, *comm);
    MPI_Comm_free(comm);
}

int main(int argc, char **argv)
{
    const int communicators = argc > 1 ? atoi(argv[1]) : 100;
    int level, rank, ready = 1;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        ready = level == MPI_THREAD_MULTIPLE && set_trap();
    MPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; ready && i < communicators; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 0) {
            trap.stop = trap.freed = trap.word = 0;
            if (pthread_create(&trap.helper, NULL, progress, NULL))
                MPI_Abort(MPI_COMM_WORLD, 1);
            receive_last(&comm);
            trap.stop = 1;
            pthread_join(trap.helper, NULL);
        } else if (rank == 1) {
            send_last(&comm);
        }
    }
    if (rank == 0 && ready)
        printf("upstream_comm_free: np 2: %d communicators, %d examined afterwards, %d of them "
               "in freed memory\n",
               communicators, trap.looks, trap.at_freed);
    int status = trap.looks == 0 ? SKIP : trap.at_freed > 0;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}

#else
int main(void)
{
    return SKIP;
}
#endif

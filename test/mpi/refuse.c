/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Run a program to which the system refuses shmget: with EPERM, as under a strict seccomp filter,
 * or with ENOMEM, as where memory is not overcommitted:
 *
 *     mpirun ... refuse RANK|all EPERM|ENOMEM PROGRAM ARGUMENT...
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmget, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (argc < 4 || !rank) {
        fprintf(stderr, "usage: mpirun ... refuse RANK|all EPERM|ENOMEM PROGRAM ARGUMENT...\n");
        return 2;
    }
    const unsigned error = strcmp(argv[2], "EPERM") == 0 ? EPERM : ENOMEM;
    if ((strcmp(argv[1], "all") == 0 || strcmp(argv[1], rank) == 0) && refuse(error) != 0) {
        perror("refuse: seccomp");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not const, like execve's arguments. The script is bytes, being too long for a string literal. */
static char python[] = "python3", isolated[] = "-I" /* no modules of the current folder */,
            option[] = "-c",
            script[] = {
#include "tools/draw_script.h"
                0};

static int no_picture(const struct command *command, int reason)
{
    return complain(command, STRAG_ERR_IO, "--format svg needs python3 and a temporary file: %s",
                    strerror(reason));
}

/* Run the script. @return as draw_json; python3 has explained its own errors */
static int run_script(const struct command *command, FILE *json)
{
    extern char **environ;
    char *const arguments[] = {python, isolated, option, script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ended = 0;
    if (lseek(fileno(json), 0, SEEK_SET) != 0)
        return no_picture(command, errno);
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return no_picture(command, reason);
    reason = posix_spawn_file_actions_adddup2(&actions, fileno(json), STDIN_FILENO);
    if (reason == 0)
        reason = posix_spawnp(&child, python, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason == 0 && waitpid(child, &ended, 0) != child)
        reason = errno;
    if (reason != 0)
        return no_picture(command, reason);
    if (WIFSIGNALED(ended))
        return complain(command, STRAG_ERR_IO, "--format svg: python3 was ended by signal %d",
                        WTERMSIG(ended));
    return ended == 0 ? EXIT_DONE : EXIT_FALSE;
}

int draw_json(const struct command *command, int (*write)(const void *what), const void *what)
{
    FILE *json = tmpfile();
    const int out = dup(STDOUT_FILENO);
    int result = EXIT_FALSE;
    if (!json || out < 0 || dup2(fileno(json), STDOUT_FILENO) < 0) {
        result = no_picture(command, errno);
    } else {
        result = write(what);
        /* If the file could not take all output, the rest of it must not go to the real stdout. */
        if (fflush(stdout) != 0 || ferror(stdout) || dup2(out, STDOUT_FILENO) < 0)
            result = EXIT_FALSE;
        else if (result == EXIT_DONE)
            result = run_script(command, json);
    }
    if (out >= 0)
        close(out);
    if (json)
        fclose(json);
    return result;
}

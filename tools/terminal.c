/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of progress, and ^C, on which the handler writes only texts that are prepared.
 */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 160, UNKNOWN = -1 };

static const double first = 1, every = 0.2; /* seconds until the line is drawn, and drawn again */

static struct {
    const char *command;
    bool shows;                     /* standard error is a terminal */
    double begin, due;              /* when the command began; when to draw next */
    char step[LINE_MAX_BYTES];      /* what is being done: "pricing ring, 4 of 22"; or "" */
    char last_word[LINE_MAX_BYTES]; /* after ^C */
    volatile sig_atomic_t drawn;    /* the most columns that the line has now */
} terminal;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Also called by the handler ---- */

/* If writing fails, nothing can be reported. */
static void put(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(STDERR_FILENO, text, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return;
        text += wrote;
        length -= (size_t)wrote;
    }
}

/* Erase the line with blanks, which work on every terminal. */
static void erase(void)
{
    char line[LINE_MAX_BYTES + 2];
    int drawn = (int)terminal.drawn;
    if (drawn == 0)
        return;
    memset(line, ' ', sizeof line);
    line[0] = line[drawn + 1] = '\r';
    put(line, (size_t)drawn + 2);
    terminal.drawn = 0;
}

/* End as without a handler, so that a shell's loop ends, too. The handler has been reset, and the
 * signal is not blocked. */
static void interrupt(int signal)
{
    erase();
    put(terminal.last_word, strlen(terminal.last_word));
    raise(signal);
}

/* ---- Reports ---- */

/* The most columns of a line. It is not full, since a full one would wrap on some terminals. */
static int columns(void)
{
    struct winsize size;
    int wide = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
    return (wide < LINE_MAX_BYTES ? wide : LINE_MAX_BYTES) - 1;
}

static void draw(int percent)
{
    char line[LINE_MAX_BYTES + 1], part[16] = "";
    const double time = now();
    if (!terminal.step[0] || time < terminal.due || tcgetpgrp(STDERR_FILENO) != getpgrp())
        return;
    if (percent != UNKNOWN)
        snprintf(part, sizeof part, ", %d %%", percent);
    const int most = columns();
    const int all = snprintf(line, (size_t)most + 2, "\rstrag %s: %s%s, %d s", terminal.command,
                             terminal.step, part, (int)(time - terminal.begin));
    const int drawn = all - 1 < most ? all - 1 : most;
    if (drawn < terminal.drawn)
        erase();
    terminal.drawn = drawn;
    put(line, strlen(line));
    terminal.due = time + every;
}

static void report_step(void *context, const char *name, int index, int steps)
{
    (void)context;
    if (steps > 1)
        snprintf(terminal.step, LINE_MAX_BYTES, "%s, %d of %d", name, index + 1, steps);
    else
        snprintf(terminal.step, LINE_MAX_BYTES, "%s", name);
    draw(UNKNOWN);
}

static void report_part(void *context, int64_t done, int64_t total)
{
    (void)context;
    draw(total > 0 ? (int)(100 * ((double)done / (double)total)) : UNKNOWN);
}

static const struct strag_progress reports = {.step = report_step, .part = report_part};

void open_terminal(const char *command)
{
    static const int ends[] = {SIGINT, SIGTERM};
    struct sigaction old,
        ending = {.sa_handler = interrupt, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    terminal.command = command;
    terminal.shows = isatty(STDERR_FILENO);
    terminal.begin = now();
    terminal.due = terminal.begin + first;
    snprintf(terminal.last_word, LINE_MAX_BYTES,
             "strag %s: interrupted; what was written so far is not complete\n", command);
    sigemptyset(&ending.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &ending, NULL);
    }
}

const struct strag_progress *terminal_progress(void)
{
    return terminal.shows ? &reports : NULL;
}

const struct strag_progress *terminal_progress_of_output(void)
{
    return terminal.shows && !isatty(STDOUT_FILENO) ? &reports : NULL;
}

void clear_terminal(void)
{
    terminal.step[0] = '\0';
    erase();
}

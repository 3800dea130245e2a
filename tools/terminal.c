/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of progress, and ^C.
 *
 * The line is drawn in the handler of SIGALRM, which may call little: what comes before the
 * percentage is made ready when a step is reported, the numbers are written by hand. Handlers and
 * the program take turns, so the only rule is what is changed in which order.
 */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 160, FIRST_MS = 1000, EVERY_MS = 200, UNKNOWN = -1 };

static struct {
    const char *command;
    bool shows;                    /* standard error is a terminal */
    struct timespec begin;         /* of the command */
    char step[2][LINE_MAX_BYTES];  /* what is being done: "pricing ring, 4 of 22" */
    volatile sig_atomic_t current; /* which of these two */
    volatile sig_atomic_t active;  /* there is something to show */
    volatile sig_atomic_t percent; /* of the step, or UNKNOWN */
    volatile sig_atomic_t drawn;   /* columns that the line has now */
} terminal;

/* ---- In handlers ---- */

/* Nothing can be reported if that fails. */
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

static char *add_text(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    return at;
}

static char *add_number(char *at, const char *end, long number)
{
    char digits[24], *first = digits + sizeof digits - 1;
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return add_text(at, end, first);
}

/* Columns that a line may have; a full one would wrap on some terminals. */
static int columns(void)
{
    struct winsize size;
    int wide = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
    return (wide < LINE_MAX_BYTES ? wide : LINE_MAX_BYTES) - 1;
}

/* With blanks, which every terminal knows. */
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

static void draw(int signal)
{
    char line[LINE_MAX_BYTES + 1], *at = line + 1;
    struct timespec now;
    int reason = errno;
    (void)signal;
    if (terminal.active && tcgetpgrp(STDERR_FILENO) == getpgrp()) {
        const char *end = line + 1 + columns();
        clock_gettime(CLOCK_MONOTONIC, &now);
        line[0] = '\r';
        at = add_text(at, end, "strag ");
        at = add_text(at, end, terminal.command);
        at = add_text(at, end, ": ");
        at = add_text(at, end, terminal.step[terminal.current]);
        if (terminal.percent != UNKNOWN) {
            at = add_text(at, end, ", ");
            at = add_number(at, end, terminal.percent);
            at = add_text(at, end, " %");
        }
        at = add_text(at, end, ", ");
        at = add_number(at, end, now.tv_sec - terminal.begin.tv_sec);
        at = add_text(at, end, " s");
        int drawn = (int)(at - line) - 1;
        if (drawn < terminal.drawn)
            erase();
        put(line, (size_t)(at - line));
        terminal.drawn = drawn;
    }
    errno = reason;
}

/* Ends as without a handler, so that a shell's loop ends, too. It has been reset, and is not
 * blocked. */
static void interrupt(int signal)
{
    char line[128], *at = line;
    const char *end = line + sizeof line;
    erase();
    at = add_text(at, end, "strag ");
    at = add_text(at, end, terminal.command);
    at = add_text(at, end, ": interrupted; what was written so far is not complete\n");
    put(line, (size_t)(at - line));
    raise(signal);
}

/* ---- Reports ---- */

static void report_step(void *context, const char *name, int index, int steps)
{
    char *text = terminal.step[!terminal.current];
    (void)context;
    if (steps > 1)
        snprintf(text, LINE_MAX_BYTES, "%s, %d of %d", name, index + 1, steps);
    else
        snprintf(text, LINE_MAX_BYTES, "%s", name);
    terminal.percent = UNKNOWN;
    terminal.current = !terminal.current;
    terminal.active = 1;
}

static void report_part(void *context, int64_t done, int64_t total)
{
    (void)context;
    terminal.percent = total > 0 ? (int)(100 * ((double)done / (double)total)) : UNKNOWN;
}

static const struct strag_progress reports = {.step = report_step, .part = report_part};

static struct timeval interval(int ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

void open_terminal(const char *command)
{
    const struct itimerval timer = {.it_value = interval(FIRST_MS),
                                    .it_interval = interval(EVERY_MS)};
    struct sigaction old,
        ending = {.sa_handler = interrupt, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction drawing = {.sa_handler = draw, .sa_flags = SA_RESTART};
    terminal.command = command;
    sigemptyset(&ending.sa_mask);
    sigaddset(&ending.sa_mask, SIGALRM);
    sigemptyset(&drawing.sa_mask);
    sigaddset(&drawing.sa_mask, SIGINT);
    sigaddset(&drawing.sa_mask, SIGTERM);
    static const int ends[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &ending, NULL);
    }
    terminal.shows =
        isatty(STDERR_FILENO) && clock_gettime(CLOCK_MONOTONIC, &terminal.begin) == 0 &&
        sigaction(SIGALRM, &drawing, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0;
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
    if (!terminal.shows)
        return;
    terminal.active = 0; /* from here on the handler draws nothing */
    erase();
}

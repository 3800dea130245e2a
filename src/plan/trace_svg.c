/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces as a picture: ranks down, the last calls across. A column's width is a call's time from
 * the first arrival to the last end; columns are equally wide, and say how long that was. On a
 * rank's row a grey bar is its time in the call; on it stand what it sent, above, and what it
 * received, below. The rank that came last has a red mark where it came.
 */
#include "plan/trace.h"

#include "base/c_locale.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All lengths are in SVG user units, a pixel each. */
#define MARGIN       24.0
#define HEADER       96.0
#define FOOTER       44.0
#define ROW          30.0 /* a rank's */
#define BAR          10.0 /* a send or a receive */
#define ROW_NAME     150.0
#define COLUMN       320.0
#define COLUMN_GAP   18.0
#define SHORTEST_BAR 0.6
enum { CALLS_MOST = 4, ROWS_MOST = 24, BARS_MOST = 4000 };

/* How an operation of each kind is shown. */
static const struct {
    const char *colour, *what;
} kinds[] = {
    [STRAG_SEND] = {"#2f6db3", "to"},
    [STRAG_RECV] = {"#c2561a", "from"},
    [STRAG_RECV_REDUCE] = {"#1b7f5c", "reduced, from"},
};

/* A call that all ranks have. */
struct column {
    uint32_t call;
    double begin, end, last_arrival, first_arrival;
    int last; /* the rank that came last */
    uint64_t bytes;
    int outcome;
};

struct picture {
    FILE *out;
    const struct strag_trace_job *job;
    struct column columns[CALLS_MOST];
    int calls;
    bool *shown; /* [rank] */
    int rows;
};

/* ---- What is shown ---- */

/* A rank's event for a whole call, which it has. */
static const struct strag_trace_event *find_call(const struct strag_trace_rank *rank, uint32_t call)
{
    size_t e = rank->count - 1;
    while (rank->events[e].kind != STRAG_TRACE_CALL || rank->events[e].call != call)
        e--;
    return &rank->events[e];
}

/* @param call  that all ranks have */
static struct column make_column(const struct strag_trace_job *job, uint32_t call)
{
    struct column column = {
        .call = call, .begin = INFINITY, .end = -INFINITY, .last_arrival = -INFINITY};
    for (int r = 0; r < job->n; r++) {
        const struct strag_trace_event *event = find_call(&job->ranks[r], call);
        if (event->begin > column.last_arrival) {
            column.last_arrival = event->begin;
            column.last = r;
        }
        column.begin = fmin(column.begin, event->begin);
        column.end = fmax(column.end, event->end);
        column.bytes = event->bytes;
        column.outcome = event->outcome;
    }
    return column;
}

static int compare_calls(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

/* The numbers of a rank's calls, ascending. @param[out] calls  [events] @return how many */
static size_t list_calls(const struct strag_trace_rank *rank, uint32_t *calls)
{
    size_t count = 0;
    for (size_t e = 0; e < rank->count; e++)
        if (rank->events[e].kind == STRAG_TRACE_CALL)
            calls[count++] = rank->events[e].call;
    qsort(calls, count, sizeof *calls, compare_calls);
    return count;
}

/* Leave in `calls` only what is in the other list, too; both ascend. @return how many */
static size_t keep_common(uint32_t *calls, size_t count, const uint32_t *others, size_t nothers)
{
    size_t kept = 0, o = 0;
    for (size_t c = 0; c < count; c++) {
        while (o < nothers && others[o] < calls[c])
            o++;
        if (o < nothers && others[o] == calls[c])
            calls[kept++] = calls[c];
    }
    return kept;
}

/* The last calls that all ranks have, as many as there is room for. @return false: out of memory */
static bool find_columns(struct picture *picture)
{
    const struct strag_trace_job *job = picture->job;
    size_t most = 1, count;
    for (int r = 0; r < job->n; r++)
        most = job->ranks[r].count > most ? job->ranks[r].count : most;
    uint32_t *calls = malloc(2 * most * sizeof *calls);
    if (!calls)
        return false;
    uint32_t *others = calls + most;
    count = list_calls(&job->ranks[0], calls);
    for (int r = 1; r < job->n && count > 0; r++)
        count = keep_common(calls, count, others, list_calls(&job->ranks[r], others));
    picture->calls = count < CALLS_MOST ? (int)count : CALLS_MOST;
    for (int c = 0; c < picture->calls; c++)
        picture->columns[c] = make_column(job, calls[count - (size_t)(picture->calls - c)]);
    free(calls);
    return true;
}

/* All ranks; or those that came last, and others at equal distances. */
static void choose_rows(struct picture *picture)
{
    const int n = picture->job->n, rows = n < ROWS_MOST ? n : ROWS_MOST;
    for (int c = 0; c < picture->calls; c++)
        picture->shown[picture->columns[c].last] = true;
    for (int i = 0; i < rows; i++)
        picture->shown[(int)((int64_t)i * n / rows)] = true;
    for (int r = 0; r < n; r++)
        picture->rows += picture->shown[r];
}

/* ---- Writing ---- */

static void text(const struct picture *picture, double x, double y, const char *anchor,
                 const char *what)
{
    fprintf(picture->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *what; what++) {
        if (*what == '<')
            fputs("&lt;", picture->out);
        else if (*what == '>')
            fputs("&gt;", picture->out);
        else if (*what == '&')
            fputs("&amp;", picture->out);
        else
            fputc(*what >= ' ' && *what <= '~' ? *what : '?', picture->out);
    }
    fputs("</text>\n", picture->out);
}

static void bar(const struct picture *picture, double x, double y, double width, double height,
                const char *colour, const char *title)
{
    fprintf(picture->out,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\">"
            "<title>%s</title></rect>\n",
            x, y, fmax(width, SHORTEST_BAR), height, colour, title);
}

static double column_left(int column)
{
    return MARGIN + ROW_NAME + column * (COLUMN + COLUMN_GAP);
}

/* Where a time stands in a column. */
static double place(const struct column *column, double left, double time)
{
    const double span = column->end - column->begin;
    return left + (span > 0 ? COLUMN * (time - column->begin) / span : 0);
}

static void write_operation(const struct picture *picture, const struct column *column, double left,
                            double top, const struct strag_trace_event *event)
{
    char title[128];
    const double from = place(column, left, fmax(event->begin, column->begin));
    const double to = place(column, left, fmin(event->end, column->end));
    const bool send = event->kind == STRAG_SEND;
    snprintf(title, sizeof title, "round %d: %s %d, %s, %s", (int)event->round,
             kinds[event->kind].what, (int)event->peer,
             strag_units_bytes((double)event->bytes).text,
             strag_units_time(event->end - event->begin).text);
    bar(picture, from, send ? top + 3 : top + 4 + BAR, to - from, BAR, kinds[event->kind].colour,
        title);
}

/* A rank's row of a column. @param[in,out] bars  that may still be written */
static void write_cell(const struct picture *picture, int c, int rank, double top, int *bars)
{
    const struct column *column = &picture->columns[c];
    const struct strag_trace_rank *events = &picture->job->ranks[rank];
    const struct strag_trace_event *call = find_call(events, column->call);
    const double left = column_left(c), x = place(column, left, call->begin);
    char title[64];
    snprintf(title, sizeof title, "in the call for %s",
             strag_units_time(call->end - call->begin).text);
    bar(picture, x, top + 2, place(column, left, call->end) - x, ROW - 5, "#dfe3e8", title);
    for (size_t e = 0; e<events->count && * bars> 0; e++) {
        const struct strag_trace_event *event = &events->events[e];
        if (event->kind == STRAG_TRACE_CALL || event->call != column->call)
            continue;
        write_operation(picture, column, left, top, event);
        --*bars;
    }
    if (rank == column->last)
        bar(picture, x - 1.5, top, 3, ROW - 1, "#c00020", "came last");
}

static void write_heading(const struct picture *picture, int c)
{
    const struct column *column = &picture->columns[c];
    const double left = column_left(c);
    char line[256];
    snprintf(line, sizeof line, "call %u: %s, %s", (unsigned)column->call,
             strag_units_bytes((double)column->bytes).text,
             picture->job->outcomes[column->outcome]);
    text(picture, left, HEADER - 24, "start", line);
    snprintf(line, sizeof line, "%s; rank %d came last, %s after the first",
             strag_units_time(column->end - column->begin).text, column->last,
             strag_units_time(column->last_arrival - column->begin).text);
    text(picture, left, HEADER - 8, "start", line);
}

static void write_legend(const struct picture *picture)
{
    static const struct {
        const char *colour, *what;
    } items[] = {{"#dfe3e8", "in the call"},
                 {"#2f6db3", "sends"},
                 {"#1b7f5c", "receives, reduces"},
                 {"#c2561a", "receives"},
                 {"#c00020", "came last"}};
    double x = MARGIN;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        bar(picture, x, 34, 14, BAR, items[i].colour, items[i].what);
        text(picture, x + 20, 43, "start", items[i].what);
        x += 34 + 6.6 * (double)strlen(items[i].what);
    }
}

static void write_rows(const struct picture *picture)
{
    double top = HEADER;
    int bars = BARS_MOST;
    char name[128];
    for (int r = 0; r < picture->job->n; r++) {
        if (!picture->shown[r])
            continue;
        snprintf(name, sizeof name, picture->job->ranks[r].host[0] ? "rank %d (%.12s)" : "rank %d",
                 r, picture->job->ranks[r].host);
        text(picture, MARGIN, top + ROW / 2 + 4, "start", name);
        for (int c = 0; c < picture->calls; c++)
            write_cell(picture, c, r, top, &bars);
        top += ROW;
    }
    snprintf(name, sizeof name,
             bars == 0 ? "%d of %d ranks; not all operations are shown" : "%d of %d ranks",
             picture->rows, picture->job->n);
    text(picture, MARGIN, top + 24, "start", name);
}

static void write_all(struct picture *picture)
{
    const int columns = picture->calls ? picture->calls : 1;
    const double width = column_left(columns) + MARGIN - COLUMN_GAP;
    char title[256];
    choose_rows(picture);
    fprintf(picture->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            fmax(width, 520), HEADER + ROW * picture->rows + FOOTER);
    snprintf(title, sizeof title, "%s: %d ranks, the last %d calls", picture->job->name,
             picture->job->n, picture->calls);
    text(picture, MARGIN, 24, "start",
         picture->calls ? title : "no call was kept of all ranks: there is nothing to show");
    write_legend(picture);
    for (int c = 0; c < picture->calls; c++)
        write_heading(picture, c);
    if (picture->calls)
        write_rows(picture);
    fputs("</svg>\n", picture->out);
}

int strag_trace_svg(const struct strag_trace_job *job, FILE *out)
{
    struct picture picture = {
        .out = out, .job = job, .shown = calloc((size_t)job->n, sizeof *picture.shown)};
    if (!picture.shown)
        return STRAG_ERR_MEMORY;
    const bool found = find_columns(&picture);
    if (found) {
        const locale_t before = strag_c_locale_enter();
        write_all(&picture);
        strag_c_locale_leave(before);
    }
    free(picture.shown);
    return found ? STRAG_OK : STRAG_ERR_MEMORY;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/account.h"

#include "base/c_locale.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A loss below this share of the job's time is not worth a search. */
static const double worth_it = 0.05;

/* A rank that caused this share of the loss is named as its cause. */
static const double most_of_it = 0.5;

struct phrase {
    char text[320];
};

static struct phrase phrase(const char *format, ...) STRAG_PRINTF(1, 2);

static struct phrase phrase(const char *format, ...)
{
    struct phrase made;
    va_list args;
    va_start(args, format);
    vsnprintf(made.text, sizeof made.text, format, args);
    va_end(args);
    return made;
}

static uint64_t calls_of(const struct strag_ledger *ledger)
{
    return ledger->calls[STRAG_LEDGER_BLOCKING] + ledger->calls[STRAG_LEDGER_NONBLOCKING] +
           ledger->calls[STRAG_LEDGER_PERSISTENT];
}

static struct strag_units calls_phrase(uint64_t calls)
{
    return strag_units_count((long long)calls, "call");
}

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- Phrases ---- */

static bool is_lost(const struct strag_account *account)
{
    return account->loss->lost >= worth_it * account->run;
}

/* The rank that causes the loss, or NULL. */
static const struct strag_loss_of *cause_of(const struct strag_account *account)
{
    const struct strag_loss_of *first = &account->loss->of[0];
    return is_lost(account) && first->calls > 0 && first->cost >= most_of_it * account->loss->lost
               ? first
               : NULL;
}

/* "rank 5 (host n3)" */
static struct phrase rank_phrase(const struct strag_account *account, int rank)
{
    const struct strag_rank_location *location = &account->ranks[rank];
    if (!location->host[0])
        return phrase("rank %d", rank);
    if (location->world < 0 || location->world == rank)
        return phrase("rank %d (host %s)", rank, location->host);
    return phrase("rank %d (%d in MPI_COMM_WORLD) (host %s)", rank, (int)location->world,
                  location->host);
}

/* The most frequent reason for a call of the previous component. @return NULL if it ran none */
static const char *main_reason(const struct strag_account *account, uint64_t *calls)
{
    const char *reason = NULL;
    *calls = 0;
    for (int o = account->algorithms; o < STRAG_LEDGER_OUTCOMES; o++) {
        if (account->ledger->outcome[o] > *calls) {
            *calls = account->ledger->outcome[o];
            reason = account->outcomes[o];
        }
    }
    return reason;
}

/* "which saved 12.1 s (measured: 24 % +- 2 % of ...)" */
static struct phrase saved_phrase(const struct strag_dynamic_summary *dynamic)
{
    if (!(dynamic->error > 0))
        return phrase("what that saves was not measured");
    return phrase("which %s %s (measured: %.0f %% +- %.0f %% of the time from the last arrival on)",
                  dynamic->saved < 0 ? "lost" : "saved",
                  strag_units_time(fabs(dynamic->saved)).text, 100 * dynamic->saves,
                  100 * dynamic->error);
}

/* "rank 5 and rank 3" */
static struct phrase late_phrase(const struct strag_late *late)
{
    struct phrase ranks = phrase("rank %d", late->rank[0].rank);
    for (int i = 1; i < late->count; i++)
        ranks = phrase("%s and rank %d", ranks.text, late->rank[i].rank);
    return ranks;
}

/* What strag did in a communicator whose calls it watched. */
static struct phrase watched_phrase(const struct strag_account *account)
{
    const struct strag_watch_summary *summary = account->summary;
    const struct strag_dynamic_summary *dynamic = &summary->dynamic;
    const double saved = summary->saved;
    if (dynamic->ahead > 0)
        return phrase("strag went ahead without the last rank in %llu of %s, %s",
                      (unsigned long long)dynamic->ahead, calls_phrase(dynamic->calls).text,
                      saved_phrase(dynamic).text);
    if (summary->ahead_from > 0)
        return phrase("strag went ahead without the straggler from call %llu on, which %s about %s "
                      "(modelled)",
                      (unsigned long long)summary->ahead_from, saved < 0 ? "lost" : "saved",
                      strag_units_time(fabs(saved)).text);
    if (summary->late.count > 0)
        return phrase("strag waited for %s: %s", late_phrase(&summary->late).text,
                      summary->judged ? "by the model going ahead saves nothing"
                                      : "the model cannot say here what going ahead saves");
    return phrase("strag waited: no rank was last in most of %d calls in a row", account->needed);
}

static bool went_ahead(const struct strag_watch_summary *summary)
{
    return summary && (summary->ahead_from > 0 || summary->dynamic.ahead > 0);
}

static bool found_one(const struct strag_watch_summary *summary)
{
    return summary && (summary->late.count > 0 || went_ahead(summary));
}

/* Why strag could look for no straggler; "" if it could. */
static struct phrase unwatched_phrase(const struct strag_account *account)
{
    const struct strag_ledger *ledger = account->ledger;
    uint64_t delegated;
    const char *reason = main_reason(account, &delegated);
    if (account->declined)
        return phrase("strag ran none of these calls: %s", account->declined);
    if (delegated == calls_of(ledger) && reason)
        return phrase("strag delegated all calls to the previous component: %s", reason);
    if (ledger->calls[STRAG_LEDGER_BLOCKING] == 0)
        return phrase("strag looks for stragglers in blocking calls alone");
    if (ledger->watched == 0)
        return phrase(
            "strag does not look for stragglers in calls below %s (coll_strag_watch_size)",
            strag_units_bytes((double)ledger->watched_from).text);
    if (account->watch == STRAG_ACCOUNT_CONFIGURED_OFF)
        return phrase("strag is configured to wait for all (coll_strag_straggler, _algorithm or "
                      "_reproducible)");
    return phrase("%s", "");
}

/* What strag did about the loss, or why it did nothing. */
static struct phrase did_phrase(const struct strag_account *account)
{
    const struct phrase unwatched = unwatched_phrase(account);
    const unsigned long long watched = account->ledger->watched;
    if (unwatched.text[0])
        return unwatched;
    if (!found_one(account->summary) && watched < (unsigned long long)account->needed)
        return phrase("strag has not acted: only %s of %s and more seen, %d needed",
                      calls_phrase(watched).text,
                      strag_units_bytes((double)account->ledger->watched_from).text,
                      account->needed);
    return account->summary ? watched_phrase(account) : phrase("strag did not look for stragglers");
}

/* Another line says that going ahead saves nothing. */
static bool saves_nothing(const struct strag_account *account)
{
    const struct strag_watch_summary *summary = account->summary;
    return !unwatched_phrase(account).text[0] && summary && summary->judged &&
           summary->late.count > 0 && !went_ahead(summary);
}

/* What the user may try; "" if there is nothing. */
static struct phrase try_phrase(const struct strag_account *account)
{
    const struct strag_loss_of *cause = cause_of(account);
    const struct strag_loss *loss = account->loss;
    if (!is_lost(account))
        return phrase("%s", "");
    const struct phrase most =
        saves_nothing(account)
            ? phrase("%s", "")
            : phrase("; going ahead without it can save at most the allreduces' own time, %s",
                     strag_units_time(loss->own).text);
    const char *how = account->not_asked ? " (mpirun --mca coll strag)" : "";
    if (cause && cause->alone >= most_of_it * cause->cost)
        return phrase("look at what rank %d does before these calls%s%s", cause->rank, most.text,
                      how);
    if (cause)
        return phrase("look at what rank %d and those that come with it do before these calls"
                      "%s%s",
                      cause->rank, most.text, how);
    if (!account->declined && !account->dynamic && account->n > 2 && account->ledger->watched > 0 &&
        !saves_nothing(account))
        return phrase("coll_strag_straggler=dynamic, to go ahead without the last rank%s",
                      most.text);
    return phrase("look at how work is shared between the ranks%s%s", most.text, how);
}

/* ---- Text ---- */

/* The name is the user's: control characters would break the lines, or reach the terminal. */
static void begin_line(const struct strag_account *account, FILE *out)
{
    fputs("strag: ", out);
    for (const char *c = account->name; *c; c++)
        fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);
    fputs(": ", out);
}

/* The number of hosts with known names. */
static int count_hosts(const struct strag_account *account)
{
    struct strag_names names = {.count = 0};
    for (int r = 0; r < account->n; r++) {
        const char *host = account->ranks[r].host;
        if (host[0] && strag_names_find(&names, host) < 0 && !strag_names_add(&names, host, r))
            break; /* out of memory: return the count so far */
    }
    const int hosts = names.count;
    strag_names_free(&names);
    return hosts;
}

static void write_calls(const struct strag_account *account, FILE *out)
{
    static const char *const kinds[] = {"blocking", "nonblocking", "persistent"};
    const struct strag_ledger *ledger = account->ledger;
    const double seconds = account->loss->calls > 0 ? account->loss->seconds : ledger->seconds;
    const char *comma = "";
    const int hosts = count_hosts(account);
    begin_line(account, out);
    fprintf(out, "%d ranks", account->n);
    if (hosts > 0)
        fprintf(out, " on %s", strag_units_count(hosts, "host").text);
    fprintf(out, ": ");
    for (int k = 0; k < STRAG_LEDGER_KINDS; k++) {
        if (ledger->calls[k] == 0)
            continue;
        fprintf(out, "%s%llu %s", comma, (unsigned long long)ledger->calls[k], kinds[k]);
        comma = ", ";
    }
    fprintf(out, " allreduce%s of %s", calls_of(ledger) == 1 ? "" : "s",
            strag_units_bytes(ledger->shortest).text);
    if (ledger->longest > ledger->shortest)
        fprintf(out, " to %s, %s in all", strag_units_bytes(ledger->longest).text,
                strag_units_bytes(ledger->bytes).text);
    if (ledger->calls[STRAG_LEDGER_BLOCKING] > 0)
        fprintf(out, "; %s took %s of %s (%s)",
                calls_of(ledger) > ledger->calls[STRAG_LEDGER_BLOCKING] ? "blocking ones" : "they",
                strag_units_time(seconds).text, strag_units_time(account->run).text,
                strag_units_share(share_of(seconds, account->run)).text);
    else
        fprintf(out, "; how long they took is not known");
    fprintf(out, "\n");
}

static void write_outcomes(const struct strag_account *account, FILE *out)
{
    const char *comma = "";
    begin_line(account, out);
    fprintf(out, "run by ");
    for (int o = 0; o < STRAG_LEDGER_OUTCOMES; o++) {
        const unsigned long long calls = account->ledger->outcome[o];
        if (calls == 0)
            continue;
        if (o < account->algorithms)
            fprintf(out, "%s%s: %llu", comma, account->outcomes[o], calls);
        else
            fprintf(out, "%sthe previous component%s%s: %llu (%s)", comma,
                    account->previous ? ", " : "", account->previous ? account->previous : "",
                    calls, account->outcomes[o]);
        comma = "; ";
    }
    fprintf(out, "\n");
}

static int named_of(const struct strag_standstill *standstill)
{
    return standstill->missing < STRAG_ROSTER_OTHERS ? standstill->missing : STRAG_ROSTER_OTHERS;
}

static void write_standstill(const struct strag_account *account, FILE *out)
{
    const struct strag_standstill *standstill = account->standstill;
    if (!standstill)
        return;
    begin_line(account, out);
    fprintf(out, "call %llu, of %s, stood still for %s at least",
            (unsigned long long)standstill->number,
            strag_units_bytes((double)standstill->bytes).text,
            strag_units_time(standstill->seconds).text);
    for (int i = 0; i < named_of(standstill); i++)
        fprintf(out, "%s%s", i ? ", " : "; not called by ",
                rank_phrase(account, standstill->first[i]).text);
    if (standstill->missing > STRAG_ROSTER_OTHERS)
        fprintf(out, ", and %d more", standstill->missing - STRAG_ROSTER_OTHERS);
    fputc('\n', out);
}

/* "rank 3 in 15 %, rank 5 in 14 %" */
static void write_often(const struct strag_account *account, FILE *out)
{
    const struct strag_loss *loss = account->loss;
    for (int i = 0; i < STRAG_LOSS_OFTEN && loss->of[i].calls > 0; i++)
        fprintf(out, "%s%s in %s", i ? ", " : "", rank_phrase(account, loss->of[i].rank).text,
                strag_units_share((double)loss->of[i].calls / (double)loss->calls).text);
}

static void write_loss(const struct strag_account *account, FILE *out)
{
    const struct strag_loss *loss = account->loss;
    const struct strag_loss_of *cause = cause_of(account);
    const struct strag_units run = strag_units_time(account->run);
    if (account->ledger->calls[STRAG_LEDGER_BLOCKING] == 0)
        return;
    begin_line(account, out);
    if (loss->calls == 0) {
        fprintf(out, "who was last is not known: the times of %d of %d ranks are\n", loss->ranks,
                account->n);
        return;
    }
    if (cause) {
        fprintf(out, "%s was last in %llu of %s, by %s in the median: that cost about %s of %s",
                rank_phrase(account, cause->rank).text, (unsigned long long)cause->calls,
                calls_phrase(loss->calls).text, strag_units_time(cause->median).text,
                strag_units_time(cause->cost).text, run.text);
        if (cause->alone < most_of_it * cause->cost)
            fprintf(out, ", but others came nearly as late");
    } else if (loss->of[0].calls == 0) {
        fprintf(out, "no rank was late in %s", calls_phrase(loss->calls).text);
    } else {
        fprintf(out,
                is_lost(account) ? "waiting for the last rank cost about %s of %s; last "
                                   "was "
                                 : "no rank slows the job down: waiting for the last one "
                                   "cost %s of %s; last was ",
                strag_units_time(loss->lost).text, run.text);
        write_often(account, out);
    }
    if (loss->calls < account->ledger->calls[STRAG_LEDGER_BLOCKING])
        fprintf(out, " (from %llu of %s)", (unsigned long long)loss->calls,
                calls_phrase(account->ledger->calls[STRAG_LEDGER_BLOCKING]).text);
    if (loss->ranks < account->n)
        fprintf(out, " (from the times of %d of %d ranks)", loss->ranks, account->n);
    fprintf(out, "\n");
}

static void write_slowest(const struct strag_account *account, FILE *out)
{
    const struct strag_slowest *slowest = account->summary ? &account->summary->slowest : NULL;
    if (!slowest || slowest->rank < 0)
        return;
    begin_line(account, out);
    fprintf(out, "host %s's link was %.3g times slower than others, from call %llu",
            account->ranks[slowest->rank].host, slowest->factor, (unsigned long long)slowest->from);
    if (slowest->to != 0)
        fprintf(out, " to call %llu", (unsigned long long)slowest->to);
    if (slowest->hosts > 1)
        fprintf(out, "; %d hosts have slow links now", (int)slowest->hosts);
    fputc('\n', out);
}

/* Its numbers, the source of each, and how well it fits. */
static void write_model(const struct strag_account *account, FILE *out)
{
    const struct strag_watch_summary *summary = account->summary;
    char sources[768];
    if (!summary || summary->calls == 0 || !account->model)
        return;
    begin_line(account, out);
    strag_model_sources(account->model, account->model_file, sources, sizeof sources);
    fprintf(out, "model: %s", sources);
    if (summary->model_error >= 0)
        fprintf(out, "; predictions are off by %s", strag_units_share(summary->model_error).text);
    fputc('\n', out);
}

void strag_account_text(const struct strag_account *account, FILE *out)
{
    const struct phrase what = try_phrase(account);
    write_calls(account, out);
    write_outcomes(account, out);
    write_loss(account, out);
    write_slowest(account, out);
    write_standstill(account, out);
    if (is_lost(account) || account->declined || went_ahead(account->summary)) {
        begin_line(account, out);
        fprintf(out, "%s\n", did_phrase(account).text);
    }
    if (what.text[0]) {
        begin_line(account, out);
        fprintf(out, "try: %s\n", what.text);
    }
    write_model(account, out);
}

/* ---- JSON ---- */

static void json_number(const char *name, double value, FILE *out)
{
    fprintf(out, ",\"%s\":%.9g", name, isfinite(value) ? value : 0.0);
}

static void json_bytes(const char *name, double value, FILE *out)
{
    fprintf(out, ",\"%s\":%.0f", name, isfinite(value) ? value : 0.0);
}

static void json_text(const char *name, const char *text, FILE *out)
{
    fprintf(out, ",\"%s\":", name);
    if (text)
        strag_json_string(text, out);
    else
        fputs("null", out);
}

static void json_outcomes(const struct strag_account *account, FILE *out)
{
    const char *comma = "";
    fputs(",\"ran\":[", out);
    for (int o = 0; o < STRAG_LEDGER_OUTCOMES; o++) {
        if (account->ledger->outcome[o] == 0)
            continue;
        fprintf(out, "%s{\"calls\":%llu", comma, (unsigned long long)account->ledger->outcome[o]);
        json_text("algorithm", o < account->algorithms ? account->outcomes[o] : NULL, out);
        json_text("why_previous", o < account->algorithms ? NULL : account->outcomes[o], out);
        fputc('}', out);
        comma = ",";
    }
    fputc(']', out);
}

static void json_loss(const struct strag_account *account, FILE *out)
{
    const struct strag_loss *loss = account->loss;
    const char *comma = "";
    fprintf(out, ",\"looked_at\":%llu,\"ranks_known\":%d", (unsigned long long)loss->calls,
            loss->ranks);
    json_number("own_seconds", loss->own, out);
    json_number("lost_seconds", loss->lost, out);
    fputs(",\"last\":[", out);
    for (int i = 0; i < STRAG_LOSS_OFTEN && loss->of[i].calls > 0; i++) {
        const struct strag_loss_of *of = &loss->of[i];
        fprintf(out, "%s{\"rank\":%d,\"world_rank\":%d,\"calls\":%llu", comma, of->rank,
                (int)account->ranks[of->rank].world, (unsigned long long)of->calls);
        json_text("host", account->ranks[of->rank].host, out);
        json_number("cost_seconds", of->cost, out);
        json_number("alone_seconds", of->alone, out);
        json_number("median_seconds", of->median, out);
        fputc('}', out);
        comma = ",";
    }
    fprintf(out, "],\"cause\":%d", cause_of(account) ? cause_of(account)->rank : -1);
}

static void json_watch(const struct strag_watch_summary *summary, FILE *out)
{
    if (!summary || summary->calls == 0) {
        fputs(",\"watch\":null", out);
        return;
    }
    fprintf(out, ",\"watch\":{\"calls\":%llu,\"straggler\":%d,\"stragglers\":[",
            (unsigned long long)summary->calls,
            summary->late.count > 0 ? summary->late.rank[0].rank : -1);
    for (int i = 0; i < summary->late.count; i++)
        fprintf(out, "%s%d", i ? "," : "", summary->late.rank[i].rank);
    fprintf(out, "],\"ahead_from\":%llu,\"ahead_calls\":%llu",
            (unsigned long long)summary->ahead_from, (unsigned long long)summary->dynamic.ahead);
    json_number("saved_seconds", summary->saved + summary->dynamic.saved, out);
    fprintf(out, ",\"slow_rank\":%d", (int)summary->slowest.rank);
    json_number("slow_factor", summary->slowest.rank >= 0 ? summary->slowest.factor : 1, out);
    json_number("model_error", summary->model_error, out);
    fputc('}', out);
}

static void json_standstill(const struct strag_standstill *standstill, FILE *out)
{
    if (!standstill) {
        fputs(",\"standstill\":null", out);
        return;
    }
    fprintf(out, ",\"standstill\":{\"call\":%llu,\"bytes\":%llu",
            (unsigned long long)standstill->number, (unsigned long long)standstill->bytes);
    json_number("seconds", standstill->seconds, out);
    fprintf(out, ",\"missing\":%d,\"first_missing\":[", standstill->missing);
    for (int i = 0; i < named_of(standstill); i++)
        fprintf(out, "%s%d", i ? "," : "", standstill->first[i]);
    fputs("]}", out);
}

void strag_account_json(const struct strag_account *account, FILE *out)
{
    const struct strag_ledger *ledger = account->ledger;
    const locale_t before = strag_c_locale_enter();
    fputs("{\"communicator\":", out);
    strag_json_string(account->name, out);
    fprintf(out,
            ",\"ranks\":%d,\"hosts\":%d,\"blocking\":%llu,\"nonblocking\":%llu,"
            "\"persistent\":%llu",
            account->n, count_hosts(account),
            (unsigned long long)ledger->calls[STRAG_LEDGER_BLOCKING],
            (unsigned long long)ledger->calls[STRAG_LEDGER_NONBLOCKING],
            (unsigned long long)ledger->calls[STRAG_LEDGER_PERSISTENT]);
    json_bytes("bytes", ledger->bytes, out);
    json_bytes("shortest_bytes", ledger->shortest, out);
    json_bytes("longest_bytes", ledger->longest, out);
    json_number("run_seconds", account->run, out);
    json_number("seconds", account->loss->calls > 0 ? account->loss->seconds : ledger->seconds,
                out);
    json_text("previous_component", account->previous, out);
    json_outcomes(account, out);
    json_loss(account, out);
    json_text("strag", did_phrase(account).text, out);
    json_text("try", try_phrase(account).text, out);
    json_watch(account->summary, out);
    json_standstill(account->standstill, out);
    fputc('}', out);
    strag_c_locale_leave(before);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag-tune: measure on the user's machine which algorithm is the fastest for which size, and
 * write that as rules for coll_strag_rules.
 *
 * Every algorithm has a communicator of its own, to which the info key coll_strag_algorithm pins
 * it; the previous component has one from which strag is excluded. All take turns call by call, so
 * that a disturbance of the machine affects all of them. The time of a call is that of the rank
 * that takes longest. Results are checked, and strag's counters tell which component really ran.
 *
 * tune_model.c measures the model, and tune_rules.c writes rules. The rest is one long file: a
 * program of its own, in which all parts work on the same contenders.
 */
#include "config.h"

#include "algorithms/table.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/units.h"
#include "model/model_file.h"
#include "model/select.h"
#include "plan/algorithm.h"
#include "tune_model.h"
#include "tune_rules.h"

#include <getopt.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONTENDERS_MAX = 32,
    SAMPLES_MAX = 10000,
    SAMPLES_LEAST = 7,
    WARM_UP = 5,
    BATCH_MAX = 200,
    FILE_MAX = 1 << 20, /* the most bytes of a file to merge with */
};

/* Calls that are shorter than this, in seconds, are timed in batches. */
static const double batch_time = 20e-6;

static const char usage[] =
    "usage: mpirun -np N ... --mca coll strag strag-tune [OPTION...]\n"
    "\n"
    "Measures all algorithms of coll/strag and the component that it stands before, and writes\n"
    "rules for jobs of as many hosts and ranks: mpirun --mca coll_strag_rules FILE\n"
    "\n"
    "  -s, --sizes LIST    bytes of the vectors: 4..16M (powers of two), 100,2K   [4..16M]\n"
    "  -t, --seconds T     time for one size                                     [2]\n"
    "  -c, --components LIST  of Open MPI, to be compared: names, or none\n"
    "                                                       [acoll,han,sm,ucc]\n"
    "  -o, --output FILE   where the rules go                                    [output]\n"
    "  -m, --merge         keep the rules that FILE has for other jobs\n"
    "  -M, --model [FILE]  measure the cost model's numbers, for mpirun --mca coll_strag_model "
    "FILE\n"
    "                      [model.yaml next to the rules]; without --output nothing else\n"
    "  -h, --help\n"
    "  -V, --version\n";

static const char accepted[] = "-s, --sizes, -t, --seconds, -c, --components, -o, --output, -m, "
                               "--merge, -M, --model, -h, --help, -V, --version";

struct options {
    size_t *bytes;
    int sizes;
    double seconds;
    const char *output; /* NULL for standard output */
    const char *components;
    bool merge;
    const char *model; /* file for the cost model's numbers, or NULL if not asked for */
    char *old;         /* the text to be merged with; on rank 0 */
};

struct counters {
    unsigned long long calls, delegated;
};

struct tune {
    struct options options;
    int rank;
    struct tune_job job;
    MPI_Comm sync;         /* for communication that is not measured */
    int contenders, shown; /* the last `shown` are other components */
    const char *names[CONTENDERS_MAX];
    char *components; /* the text of those components' names */
    MPI_Comm comms[CONTENDERS_MAX];
    float *send, *receive;
    double *times; /* [contender * SAMPLES_MAX + sample] */
};

/* ---- The end with a message ---- */

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "strag-tune: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* End on a failure that all ranks know of: without MPI_Abort, and with one report. */
static void end(int rank, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

static void end(int rank, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (rank == 0) {
        fputs("strag-tune: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
    }
    va_end(args);
    MPI_Finalize();
    exit(2);
}

/* End on a wrong option, of which all ranks know. */
static void refuse(int rank, const char *option, const char *why)
{
    end(rank, "%s: %s", option, why);
}

/* End on a failure that only rank 0 knows of. @param status  of rank 0 */
static void end_on_failure(int rank, int status, const struct strag_error *err)
{
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status != STRAG_OK)
        end(rank, "%s", err->text);
}

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes) != 0)
        die("out of memory for %zu bytes", bytes);
    return memory;
}

/* ---- Options ---- */

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void read_sizes(struct options *options, const char *text, int rank)
{
    struct strag_error err;
    free(options->bytes);
    options->bytes = NULL;
    if (strag_parse_bytes_list(text, &options->bytes, &options->sizes, &err) != STRAG_OK)
        refuse(rank, "--sizes", err.text);
    qsort(options->bytes, (size_t)options->sizes, sizeof *options->bytes, ascending);
    int kept = 0;
    for (int i = 0; i < options->sizes; i++) {
        size_t bytes = options->bytes[i];
        if (bytes == 0 || bytes % sizeof(float) != 0 || bytes / sizeof(float) > 0x7fffffff)
            refuse(rank, "--sizes", "multiples of 4 bytes, at least 4 and below 8G, are accepted");
        if (kept == 0 || options->bytes[kept - 1] != bytes)
            options->bytes[kept++] = bytes;
    }
    options->sizes = kept;
    if (kept >= STRAG_TABLE_MAX)
        refuse(rank, "--sizes", "fewer than 48 sizes are accepted");
}

static void read_options(struct options *options, int argc, char **argv, int rank)
{
    static const struct option known[] = {{"sizes", required_argument, NULL, 's'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"components", required_argument, NULL, 'c'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"merge", no_argument, NULL, 'm'},
                                          {"model", optional_argument, NULL, 'M'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
    struct strag_error err;
    *options = (struct options){.seconds = 2, .components = "acoll,han,sm,ucc"};
    read_sizes(options, "4..16M", rank);
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":s:t:c:o:mM::hV", known, NULL)) != -1;) {
        if (letter == 's') {
            read_sizes(options, optarg, rank);
        } else if (letter == 't') {
            if (strag_parse_real(optarg, 0.001, 3600, "seconds", &options->seconds, &err) !=
                STRAG_OK)
                refuse(rank, "--seconds", err.text);
        } else if (letter == 'c') {
            options->components = optarg;
        } else if (letter == 'o') {
            options->output = optarg;
        } else if (letter == 'm') {
            options->merge = true;
        } else if (letter == 'M') {
            options->model = optarg ? optarg : "";
            if (!optarg && optind < argc && argv[optind][0] != '-')
                options->model = argv[optind++];
        } else if (letter == 'h' || letter == 'V') {
            if (rank == 0)
                fputs(letter == 'h' ? usage : "strag-tune " PACKAGE_VERSION "\n", stdout);
            MPI_Finalize();
            exit(0);
        } else if (letter == ':') {
            end(rank, "%s needs a value; see strag-tune --help", argv[optind - 1]);
        } else {
            end(rank, "%s: unknown option; accepted: %s", argv[optind - 1], accepted);
        }
    }
    if (optind != argc)
        end(rank, "unexpected '%.40s'; accepted: %s", argv[optind], accepted);
    if (options->merge && !options->output)
        refuse(rank, "--merge", "needs --output FILE");
}

/* ---- Files, before anything is measured, on rank 0 ---- */

static int check_writable(const char *name, struct strag_error *err)
{
    struct strag_output output;
    struct strag_error why;
    const int status = strag_output_open(&output, name, &why);
    if (status != STRAG_OK)
        return strag_fail(err, status, "%s: %s", strag_name_end(name), why.text);
    strag_output_close(&output, false, NULL);
    return STRAG_OK;
}

/* Read the file to merge with, which need not exist. */
static int read_old(struct options *options, struct strag_error *err)
{
    size_t length;
    if (access(options->output, F_OK) != 0)
        return STRAG_OK;
    const int status = strag_file_read(options->output, FILE_MAX, &options->old, &length, err);
    if (status != STRAG_OK || strlen(options->old) == length)
        return status;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "%s: not a rules file",
                      strag_name_end(options->output));
}

/* Check that a rule can be merged with the old file. */
static int check_old(const struct tune *tune, struct strag_error *err)
{
    static const size_t bytes = 4;
    static const double seconds = 1;
    static const char *const names[] = {"previous"};
    const struct tune_results nothing = {1, 0, 1, names, &bytes, &seconds};
    char *text = NULL;
    const int status = tune->options.old ? tune_write(&tune->job, &nothing, tune->options.old,
                                                      tune->options.output, &text, err)
                                         : STRAG_OK;
    free(text);
    return status;
}

/* The name of the model's file: as given, or next to the rules. */
static void name_model(const struct options *options, char *name, size_t size)
{
    const char *slash = options->output ? strrchr(options->output, '/') : NULL;
    if (options->model[0])
        snprintf(name, size, "%s", options->model);
    else
        snprintf(name, size, "%.*smodel.yaml", slash ? (int)(slash + 1 - options->output) : 0,
                 slash ? options->output : "");
}

/* A file is replaced only if the user named it. */
static int check_model(const struct options *options, struct strag_error *err)
{
    char name[4096];
    name_model(options, name, sizeof name);
    if (options->output && strcmp(options->output, name) == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "--output and --model must name different files");
    if (!options->model[0] && access(name, F_OK) == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%.80s is there already; --model %.80s replaces it", strag_name_end(name),
                          strag_name_end(name));
    return check_writable(name, err);
}

static void check_files(struct tune *tune)
{
    struct options *options = &tune->options;
    struct strag_error err;
    int status = STRAG_OK;
    if (tune->rank == 0 && options->output)
        status = check_writable(options->output, &err);
    if (tune->rank == 0 && options->merge && status == STRAG_OK)
        status = read_old(options, &err);
    if (tune->rank == 0 && status == STRAG_OK)
        status = check_old(tune, &err);
    if (tune->rank == 0 && options->model && status == STRAG_OK)
        status = check_model(options, &err);
    end_on_failure(tune->rank, status, &err);
}

/* ---- strag's counters ---- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle calls_handle, delegated_handle;

static bool open_counter(const char *name, MPI_T_pvar_handle *handle)
{
    int index, count;
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(session, index, NULL, handle, &count) == MPI_SUCCESS;
}

static void open_counters(int rank)
{
    int provided;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&session) != MPI_SUCCESS)
        die("MPI's tools interface does not start");
    int loaded = open_counter("coll_strag_calls", &calls_handle) &&
                 open_counter("coll_strag_delegated", &delegated_handle);
    MPI_Allreduce(MPI_IN_PLACE, &loaded, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!loaded)
        end(rank, "coll/strag was not loaded (no coll_strag_calls)");
}

static struct counters read_counters(void)
{
    struct counters now = {0, 0};
    if (MPI_T_pvar_read(session, calls_handle, &now.calls) != MPI_SUCCESS ||
        MPI_T_pvar_read(session, delegated_handle, &now.delegated) != MPI_SUCCESS)
        die("coll/strag's counters cannot be read");
    return now;
}

/* ---- The job, and the contenders ---- */

static void find_job(struct tune_job *job)
{
    const struct tune_places places = tune_find_places(MPI_COMM_WORLD);
    *job = (struct tune_job){places.ranks, places.hosts, places.ranks_per_host};
    free(places.leader);
}

static MPI_Comm communicator(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static void call(const struct tune *tune, int contender, size_t count)
{
    MPI_Allreduce(tune->send, tune->receive, (int)count, MPI_FLOAT, MPI_SUM,
                  tune->comms[contender]);
}

/* At most this many of a communicator's first short calls go to the previous component. All ranks
 * know of an info key only from the next call on. */
enum { FIRST_SHORT_CALLS = 32 };

/* Does strag run calls on this communicator itself, on all ranks? */
static bool runs_itself(const struct tune *tune, MPI_Comm comm)
{
    const float mine = 1;
    float sum;
    struct counters before = read_counters();
    for (int i = 0; i <= FIRST_SHORT_CALLS; i++) {
        before = read_counters();
        MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
    }
    const struct counters now = read_counters();
    int moved[2] = {now.calls == before.calls + 1, now.delegated == before.delegated + 1}, all[2];
    MPI_Reduce(moved, all, 2, MPI_INT, MPI_MIN, 0, tune->sync);
    MPI_Bcast(all, 2, MPI_INT, 0, tune->sync);
    if (!all[0] && !all[1])
        end(tune->rank,
            "coll/strag is not used; start mpirun with --mca coll strag and 2 ranks or more");
    return all[0];
}

static void leave_out(const struct tune *tune, const char *name)
{
    if (tune->rank == 0)
        fprintf(stderr, "strag-tune: %s cannot run on this job, and is left out\n", name);
}

/* Do all ranks have the component, with a priority that can be set? Hosts may differ. */
static bool is_there(const struct tune *tune, const char *component)
{
    char variable[128];
    int index;
    snprintf(variable, sizeof variable, "coll_%s_priority", component);
    int all = MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, tune->sync);
    return all;
}

/* Add the components of the list that exist here and run the call if they are preferred; if they
 * decline, strag runs it. */
static void add_components(struct tune *tune)
{
    char *list = strdup(tune->options.components), *rest = NULL;
    if (!list)
        die("out of memory");
    for (char *name = strtok_r(list, ",", &rest); name && tune->contenders < CONTENDERS_MAX;
         name = strtok_r(NULL, ",", &rest)) {
        const int c = tune->contenders;
        const struct counters before = read_counters();
        if (!is_there(tune, name))
            continue;
        tune->comms[c] = communicator("ompi_comm_coll_preference", name);
        call(tune, c, 1);
        const struct counters now = read_counters();
        int none = now.calls == before.calls && now.delegated == before.delegated;
        MPI_Allreduce(MPI_IN_PLACE, &none, 1, MPI_INT, MPI_MIN, tune->sync);
        if (none) {
            tune->names[c] = name;
            tune->contenders++;
            tune->shown++;
        } else {
            MPI_Comm_free(&tune->comms[c]);
            leave_out(tune, name);
        }
    }
    tune->components = list;
}

static void add_contenders(struct tune *tune)
{
    tune->names[0] = "previous";
    tune->comms[0] = communicator("ompi_comm_coll_preference", "^strag");
    tune->contenders = 1;
    for (int a = 0; strag_algorithms[a] && tune->contenders < CONTENDERS_MAX; a++) {
        int c = tune->contenders;
        if (!strag_algorithm_suits(strag_algorithms[a], NULL))
            continue; /* this job has none */
        tune->names[c] = strag_algorithms[a]->name;
        tune->comms[c] = communicator("coll_strag_algorithm", tune->names[c]);
        if (runs_itself(tune, tune->comms[c])) {
            tune->contenders++;
        } else {
            MPI_Comm_free(&tune->comms[c]);
            leave_out(tune, strag_algorithms[a]->name);
        }
    }
    add_components(tune);
}

static void prepare(struct tune *tune)
{
    size_t most = tune->options.bytes[tune->options.sizes - 1];
    tune->send = allocate(most);
    tune->receive = allocate(most);
    tune->times = allocate(sizeof(double) * CONTENDERS_MAX * SAMPLES_MAX);
    memset(tune->send, 0, most);
    add_contenders(tune);
}

/* ---- Measuring ---- */

/* Small integers, whose sums are exact in any order; they repeat after PERIOD elements. */
enum { PERIOD = 97 };

static float value(int rank, size_t index)
{
    return (float)((index * 7 + (size_t)rank * 13) % PERIOD);
}

static void check(const struct tune *tune, int contender, size_t count)
{
    float want[PERIOD] = {0};
    for (size_t i = 0; i < PERIOD; i++)
        for (int rank = 0; rank < tune->job.ranks; rank++)
            want[i] += value(rank, i);
    for (size_t i = 0; i < count; i++)
        tune->receive[i] = -1;
    call(tune, contender, count);
    for (size_t i = 0; i < count; i++) {
        if (want[i % PERIOD] != tune->receive[i])
            die("wrong result: rank %d, %s, %zu bytes: element %zu is %g, not %g", tune->rank,
                tune->names[contender], count * sizeof(float), i, tune->receive[i],
                want[i % PERIOD]);
    }
}

static double timed(const struct tune *tune, int contender, size_t count, int batch)
{
    MPI_Barrier(tune->sync);
    double start = MPI_Wtime();
    for (int b = 0; b < batch; b++)
        call(tune, contender, count);
    return (MPI_Wtime() - start) / batch;
}

/* Make untimed calls. @return how many calls are timed together, by rank 0's clock */
static int warm_up(const struct tune *tune, size_t count)
{
    double least = batch_time;
    for (int i = 0; i < WARM_UP; i++) {
        for (int c = 0; c < tune->contenders; c++) {
            double seconds = timed(tune, c, count, 1);
            least = seconds < least ? seconds : least;
        }
    }
    int batch = least * BATCH_MAX > batch_time ? (int)(batch_time / least) : BATCH_MAX;
    batch = batch < 1 ? 1 : batch;
    MPI_Bcast(&batch, 1, MPI_INT, 0, tune->sync);
    return batch;
}

/* Is it time to stop? Rank 0's clock counts, so that all ranks do the same. */
static bool enough(const struct tune *tune, int samples, double start)
{
    int stop = samples >= SAMPLES_LEAST && MPI_Wtime() - start > tune->options.seconds;
    MPI_Bcast(&stop, 1, MPI_INT, 0, tune->sync);
    return stop || samples == SAMPLES_MAX;
}

/* Measure the contenders, which take turns; each begins as often. @param[out] medians  on rank 0 */
static void measure(const struct tune *tune, size_t bytes, double *medians)
{
    const size_t count = bytes / sizeof(float);
    for (size_t i = 0; i < count; i++)
        tune->send[i] = value(tune->rank, i);
    for (int c = 0; c < tune->contenders; c++)
        check(tune, c, count);
    const int batch = warm_up(tune, count);
    const double start = MPI_Wtime();
    int samples = 0;
    do {
        for (int k = 0; k < tune->contenders; k++) {
            int c = (samples + k) % tune->contenders;
            tune->times[c * SAMPLES_MAX + samples] = timed(tune, c, count, batch);
        }
        samples++;
    } while (!enough(tune, samples, start));
    for (int c = 0; c < tune->contenders; c++) {
        double *times = tune->times + c * SAMPLES_MAX; /* then of the slowest rank */
        MPI_Reduce(tune->rank == 0 ? MPI_IN_PLACE : times, times, samples, MPI_DOUBLE, MPI_MAX, 0,
                   tune->sync);
        if (tune->rank == 0) {
            qsort(times, (size_t)samples, sizeof *times, strag_compare_double);
            medians[c] = times[samples / 2];
        }
    }
}

static int fastest(const struct tune *tune, const double *medians)
{
    int best = 0;
    for (int c = 1; c < tune->contenders; c++)
        best = medians[c] < medians[best] ? c : best;
    return best;
}

/* Report components that are the fastest at some sizes: they could be the previous one. */
static void advise(const struct tune *tune, const double *medians)
{
    for (int c = tune->contenders - tune->shown; c < tune->contenders; c++) {
        int sizes = 0;
        for (int s = 0; s < tune->options.sizes; s++) {
            const double *here = medians + (size_t)s * (size_t)tune->contenders;
            sizes += fastest(tune, here) == c;
        }
        if (sizes > 0)
            fprintf(
                stderr,
                "strag-tune: %s is the fastest at %d of %s; with --mca coll_%s_priority 50 "
                "it would be the previous component, here and for jobs: measure again with it\n",
                tune->names[c], sizes, strag_units_count(tune->options.sizes, "size").text,
                tune->names[c]);
    }
}

static void measure_all(const struct tune *tune, double *medians)
{
    const struct options *options = &tune->options;
    for (int s = 0; s < options->sizes; s++) {
        double *here = medians + (size_t)s * (size_t)tune->contenders;
        measure(tune, options->bytes[s], here);
        if (tune->rank != 0)
            continue;
        const int best = fastest(tune, here);
        fprintf(stderr, "strag-tune: %zu bytes: %s %.2f us, previous %.2f us\n", options->bytes[s],
                tune->names[best], 1e6 * here[best], 1e6 * here[0]);
    }
}

/* ---- The model ---- */

static void write_model(const char *name, struct strag_model_entry *entry)
{
    const struct strag_models models = {.count = 1, .entry = entry};
    struct strag_output output;
    struct strag_error err;
    if (strag_output_open(&output, name, &err) != STRAG_OK)
        die("%s: %s", name, err.text);
    (void)strag_models_write(&models, output.stream); /* closing reports it, too */
    if (strag_output_close(&output, true, &err) != STRAG_OK)
        die("%s: %s", name, err.text);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (entry->value[id] >= 0)
            fprintf(stderr, "strag-tune: %s %.4g %s\n", strag_model_numbers[id].name,
                    entry->value[id] / strag_model_numbers[id].scale, strag_model_numbers[id].unit);
}

static void tune_model(const struct tune *tune)
{
    struct strag_model_entry entry;
    char name[4096];
    MPI_Comm comm = communicator("coll_strag_algorithm", "auto");
    runs_itself(tune, comm); /* ends the program if strag is not used */
    MPI_Comm_free(&comm);
    name_model(&tune->options, name, sizeof name);
    tune_model_measure(tune->sync, &entry);
    if (tune->rank == 0)
        write_model(name, &entry);
}

/* ---- The end ---- */

static void write_rules(const struct tune *tune, const double *medians)
{
    const struct options *options = &tune->options;
    const struct tune_results results = {tune->contenders, tune->shown,    options->sizes,
                                         tune->names,      options->bytes, medians};
    struct strag_error err;
    char *text;
    struct strag_output output;
    const char *name = options->output ? options->output : "/dev/stdout";
    if (tune_write(&tune->job, &results, options->old, name, &text, &err) != STRAG_OK)
        die("%s", err.text);
    if (strag_output_open(&output, name, &err) != STRAG_OK)
        die("%s: %s", name, err.text);
    fputs(text, output.stream);
    if (strag_output_close(&output, true, &err) != STRAG_OK)
        die("%s: %s", name, err.text);
    free(text);
}

static void tune_rules(struct tune *tune)
{
    prepare(tune);
    double *medians =
        allocate(sizeof *medians * (size_t)tune->options.sizes * (size_t)tune->contenders);
    measure_all(tune, medians);
    if (tune->rank == 0) {
        advise(tune, medians);
        write_rules(tune, medians);
    }
    free(medians);
}

static void finish(struct tune *tune)
{
    for (int c = 0; c < tune->contenders; c++)
        MPI_Comm_free(&tune->comms[c]);
    MPI_Comm_free(&tune->sync);
    free(tune->options.bytes);
    free(tune->options.old);
    free(tune->components);
    free(tune->send);
    free(tune->receive);
    free(tune->times);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    struct tune tune = {.rank = 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tune.rank);
    read_options(&tune.options, argc, argv, tune.rank);
    find_job(&tune.job);
    check_files(&tune);
    open_counters(tune.rank);
    tune.sync = communicator("ompi_comm_coll_preference", "^strag");
    if (tune.options.model)
        tune_model(&tune);
    if (!tune.options.model || tune.options.output)
        tune_rules(&tune);
    finish(&tune);
    return 0;
}

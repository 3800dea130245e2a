/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes, times, the machine and the model in words and as JSON.
 */
#include "write.h"

#include "base/units.h"

#define TITLE_MAX 4096

const char *size_text(size_t bytes, char text[32])
{
    static const char *const suffixes[] = {"", "K", "M", "G", "T"};
    int s = 0;
    for (; s < 4 && bytes && bytes % 1024 == 0; s++)
        bytes /= 1024;
    snprintf(text, 32, "%zu%s", bytes, suffixes[s]);
    return text;
}

const char *time_text(double seconds, char text[48])
{
    double us = seconds * 1e6;
    int decimals = us == 0 ? 0 : 4;
    for (double limit = 0.99995; decimals > 0 && us >= limit; limit *= 10)
        decimals--;
    snprintf(text, 48, "%.*f", decimals, us);
    return text;
}

static int hosts_of(const struct machine *machine)
{
    return machine->topology ? machine->topology->hosts : machine->problem.n;
}

static int ranks_per_host_of(const struct machine *machine)
{
    return machine->topology ? machine->topology->ranks_per_host : 1;
}

void write_machine(const struct machine *machine)
{
    char title[TITLE_MAX];
    int hosts = hosts_of(machine), ranks = ranks_per_host_of(machine);
    printf("n = %d, %s, %s, ", machine->problem.n, machine_title(machine, title, sizeof title),
           strag_units_count(hosts, "host").text);
    if (ranks)
        printf("%s on each\n", strag_units_count(ranks, "rank").text);
    else
        puts("different numbers of ranks on them");
    for (int l = 0; l < machine->state.nstragglers; l++)
        printf("rank %d is %g us late\n", machine->state.straggler[l].rank,
               machine->state.straggler[l].delay * 1e6);
    for (int s = 0; s < machine->state.nslow; s++)
        printf("the links of rank %d's host are %g times slower\n", machine->state.slow[s].rank,
               machine->state.slow[s].factor);
}

/* Write where numbers that are no defaults come from: "; from lab.yaml, line 3: alpha, bandwidth;
 * user: hop-latency". The user's are on the command line, and shown only of a saved file. */
static void write_origins(const struct machine *machine)
{
    const struct strag_sourced_model *model = &machine->sourced;
    const int last = machine->saved ? STRAG_FROM_USER : STRAG_FROM_FILE;
    for (int origin = STRAG_FROM_MEASURED; origin <= last; origin++) {
        const char *separator = ": ";
        for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
            if ((int)model->origin[id] != origin)
                continue;
            if (separator[0] == ':' && origin == STRAG_FROM_FILE && model->line > 0)
                printf("; from %s, line %d", model_file_name(machine), model->line);
            else if (separator[0] == ':')
                printf("; %s", strag_origin_name((enum strag_origin)origin));
            printf("%s%s", separator, strag_model_numbers[id].name);
            separator = ", ";
        }
    }
}

void write_model(const struct machine *machine)
{
    const struct strag_model *model = &machine->sourced.model;
    printf("alpha = %g us, overhead = %g us, bandwidth = %g Gbit/s", model->alpha * 1e6,
           model->overhead * 1e6, model->bandwidth * 8 / 1e9);
    if (model->link_latency > 0 || model->hop_latency > 0)
        printf(", link = %g ns, hop = %g ns", model->link_latency * 1e9, model->hop_latency * 1e9);
    if (model->injection_bandwidth > 0)
        printf(", injection = %g Gbit/s", model->injection_bandwidth * 8 / 1e9);
    if (ranks_per_host_of(machine) != 1)
        printf(", within a host alpha = %g us, bandwidth = %g Gbit/s", model->local_alpha * 1e6,
               model->local_bandwidth * 8 / 1e9);
    if (model->reduce_bandwidth > 0)
        printf(", reducing = %g Gbit/s", model->reduce_bandwidth * 8 / 1e9);
    if (model->ties == STRAG_TIES_PLUS)
        printf(", ties = plus");
    write_origins(machine);
}

void write_json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < ' ')
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void write_json_state(const struct machine *machine)
{
    if (machine->state.nstragglers)
        printf(",\"straggler\":%d,\"delay_us\":%.9g", machine->state.straggler->rank,
               machine->state.straggler->delay * 1e6);
    for (int l = 1; l < machine->state.nstragglers; l++)
        printf("%s{\"rank\":%d,\"delay_us\":%.9g}%s", l == 1 ? ",\"earlier\":[" : ",",
               machine->state.straggler[l].rank, machine->state.straggler[l].delay * 1e6,
               l + 1 == machine->state.nstragglers ? "]" : "");
    if (machine->state.nslow)
        printf(",\"slow\":[");
    for (int s = 0; s < machine->state.nslow; s++)
        printf("%s{\"rank\":%d,\"factor\":%.9g}", s ? "," : "", machine->state.slow[s].rank,
               machine->state.slow[s].factor);
    if (machine->state.nslow)
        putchar(']');
}

/* Write where numbers that are no defaults come from. */
static void write_json_origins(const struct machine *machine)
{
    const struct strag_sourced_model *model = &machine->sourced;
    const char *comma = "";
    if (!model_file_name(machine) && !machine->saved)
        return;
    if (model->line > 0) {
        fputs(",\"model\":{\"file\":", stdout);
        write_json_string(model_file_name(machine));
        printf(",\"line\":%d}", model->line);
    }
    fputs(",\"origins\":{", stdout);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (model->origin[id] == STRAG_FROM_DEFAULT)
            continue;
        printf("%s\"%s\":\"%s\"", comma, strag_model_numbers[id].parameter,
               strag_origin_name(model->origin[id]));
        comma = ",";
    }
    putchar('}');
}

void write_json_machine(const struct machine *machine)
{
    const struct strag_model *model = &machine->sourced.model;
    char title[TITLE_MAX];
    printf("\"n\":%d,\"topology\":", machine->problem.n);
    write_json_string(machine_title(machine, title, sizeof title));
    printf(",\"hosts\":%d,\"ranks_per_host\":%d", hosts_of(machine), ranks_per_host_of(machine));
    write_json_state(machine);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const struct strag_model_number *number = &strag_model_numbers[id];
        const char *unit = number->unit[0] == 'G' ? "gbit" : number->unit;
        printf(",\"%s_%s\":%.9g", number->parameter, unit,
               strag_model_value(model, id) / number->scale);
    }
    printf(",\"ties\":\"%s\"", model->ties == STRAG_TIES_SPLIT ? "split" : "plus");
    write_json_origins(machine);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/flex_shares.h"

#include "algorithms/skips.h"
#include "base/scale.h"

#include <math.h>

enum { NONE = -1, TIMES = 16 /* steps of relieve_hosts */ };

/* lcm(1 .. 40), about 2^52.2: one division by up to 40 stays exact. Times 512 segments it is below
 * the 2^62 that strag_bounds allows. */
static const int64_t many_divisors = INT64_C(5342931457063200);

/* ---- Shares ---- */

static double rate_of(const struct strag_tree *tree, int child, bool said)
{
    return (said ? strag_tree_uplink(tree, child) : 1) / strag_tree_slowed(tree, child);
}

/* The shares that the rates ask for. Uplinks count as equal unless all are configured. */
struct rates {
    bool said, equal;
    double time;  /* T, for all of a child's traffic: 1 is a vector at rate 1 */
    double level; /* the share of children whose uplinks are fast enough for it */
    double sum;   /* of the children's shares */
};

/* Theorem 2 (model/bounds.h): all links are busy all of the time, or the slowest one is. */
static double least_time(int links, double sum, double least)
{
    return fmax(2 * (links - 1) / sum, 1 / least);
}

/* The largest share with which a child's uplink is busy for no longer than rates->time. */
static double largest(const struct rates *rates, const struct strag_tree *tree,
                      const struct strag_tree_node *node, int child)
{
    const double more = rates->time * rate_of(tree, child, rates->said) - 1;
    return more > 0 ? more / (node->children - 2) : 0;
}

/* Raise the level until the shares sum up to 1. Each step adds the part of the missing sum that
 * each child gets if no further one reaches its largest share. */
static void find_level(struct rates *rates, const struct strag_tree *tree,
                       const struct strag_tree_node *node)
{
    const int most = node->children;
    int below = most;
    rates->level = 0;
    rates->sum = 0;
    for (int last = most + 1; below > 0 && below < last;) {
        last = below;
        rates->level += (1 - rates->sum) / below;
        rates->sum = 0;
        below = 0;
        for (int c = 0; c < most; c++) {
            const double share = largest(rates, tree, node, node->first_child + c);
            rates->sum += fmin(share, rates->level);
            below += share > rates->level;
        }
    }
    rates->equal = below == most || !(rates->sum > 0);
}

/* How long hosts' links are busy on all levels: the longest time below any child. The m equal hosts
 * of a child have carried 2(1 - 1/m) vectors each on lower levels. All of them together carry 1 +
 * (q-2) f on this level, and 2f (1 - 1/r) above it, where r is the product of the degrees there. A
 * child that is a host has its link's largest share already. */
static double hosts_take(const struct rates *rates, const struct strag_tree *tree,
                         const struct strag_tree_node *node, const struct strag_flex_hosts *hosts)
{
    double above = 1, most = 0;
    for (int i = node->parent; i != NONE; i = tree->nodes[i].parent)
        above *= tree->nodes[i].children;
    for (int c = node->first_child; c < node->first_child + node->children; c++) {
        const double m = (double)tree->nodes[c].leaves * hosts->count / tree->n;
        const double share = fmin(largest(rates, tree, node, c), rates->level);
        if (tree->nodes[c].network)
            most = fmax(most, 2 - (1 - (node->children - 2 / above) * share) / m);
    }
    return most / hosts->rate;
}

/* If a child's share is so large that its hosts take longer than the uplinks, the uplinks may take
 * longer, until both take as long or shares are equal. */
static void relieve_hosts(struct rates *rates, const struct strag_tree *tree,
                          const struct strag_tree_node *node, const struct strag_flex_hosts *hosts,
                          double equal)
{
    double low = rates->time, high = equal;
    if (hosts_take(rates, tree, node, hosts) <= low)
        return;
    for (int i = 0; i < TIMES; i++) {
        rates->time = (low + high) / 2;
        find_level(rates, tree, node);
        if (hosts_take(rates, tree, node, hosts) > rates->time)
            low = rates->time;
        else
            high = rates->time;
    }
    rates->time = high;
    find_level(rates, tree, node);
}

static struct rates find_rates(const struct strag_tree *tree, const struct strag_tree_node *node,
                               const struct strag_flex_hosts *hosts)
{
    const int first = node->first_child;
    struct rates rates = {.said = true};
    for (int c = 0; c < node->children; c++)
        rates.said = rates.said && strag_tree_uplink(tree, first + c) > 0;
    double least = rate_of(tree, first, rates.said), most = least, sum = 0;
    for (int c = 0; c < node->children; c++) {
        double rate = rate_of(tree, first + c, rates.said);
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
        sum += rate;
    }
    rates.time = least_time(node->children, sum, least);
    rates.equal = !(most > least) || !isfinite(rates.time); /* or too extreme for a double */
    if (!rates.equal)
        find_level(&rates, tree, node);
    if (!rates.equal && rates.said && hosts->rate > 0)
        relieve_hosts(&rates, tree, node, hosts, 2 * (1 - 1. / node->children) / least);
    return rates;
}

/* A link without a configured rate counts as fast as the fastest link with one. */
struct strag_flex_hosts strag_flex_hosts(const struct strag_tree *tree)
{
    struct strag_flex_hosts hosts = {0};
    double sum = 0, least = INFINITY, most = 0;
    int unsaid = 0;
    for (int i = 1; i < tree->nnodes; i++) {
        if (tree->nodes[i].network || !tree->nodes[tree->nodes[i].parent].network)
            continue;
        const double rate = rate_of(tree, i, true);
        hosts.count++;
        unsaid += rate == 0;
        sum += rate;
        most = fmax(most, rate);
        least = rate > 0 ? fmin(least, rate) : least;
    }
    if (most > 0)
        hosts.rate =
            2 * (1 - 1. / hosts.count) / least_time(hosts.count, sum + unsaid * most, least);
    return hosts;
}

void strag_flex_shares(const struct strag_tree *tree, int node,
                       const struct strag_flex_hosts *hosts, int64_t whole, int64_t *shares)
{
    const struct strag_tree_node *above = &tree->nodes[node];
    int degree = above->children;
    struct rates found = {.equal = true};
    if (hosts && degree > 2)
        found = find_rates(tree, above, hosts);
    double asked = 0;
    int64_t given = 0;
    for (int c = 0; c < degree; c++) {
        int64_t until = (int64_t)strag_scale((uint64_t)whole, (uint64_t)c + 1, (uint64_t)degree);
        if (!found.equal && c + 1 < degree) {
            asked += fmin(largest(&found, tree, above, above->first_child + c), found.level);
            until = (int64_t)((double)whole * (asked / found.sum));
            until = until > whole ? whole : until;
        }
        shares[c] = until - given;
        given = until;
    }
}

/* ---- The denominator ---- */

/* The product of the degrees above a node, or 0 if it is above `limit`. */
static int64_t product_above(const struct strag_tree *tree, int node, int64_t limit)
{
    int64_t product = 1;
    for (int i = tree->nodes[node].parent; i != NONE; i = tree->nodes[i].parent) {
        if (product > limit / tree->nodes[i].children)
            return 0;
        product *= tree->nodes[i].children;
    }
    return product;
}

/* The least common denominator of all portions, or many_divisors. */
static int64_t find_whole(const struct strag_tree *tree)
{
    int64_t whole = 1;
    for (int i = 0, parent = NONE; i < tree->nnodes; i++) {
        if (tree->nodes[i].children || tree->nodes[i].parent == parent)
            continue;
        parent = tree->nodes[i].parent;
        int64_t product = product_above(tree, i, many_divisors);
        if (product == 0)
            return many_divisors;
        int64_t times = product / strag_gcd(whole, product);
        if (whole > many_divisors / times)
            return many_divisors;
        whole *= times;
    }
    return whole;
}

bool strag_flex_is_equal(const struct strag_tree *tree)
{
    const struct strag_flex_hosts hosts = strag_flex_hosts(tree);
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children > 2 && !find_rates(tree, &tree->nodes[i], &hosts).equal)
            return false;
    }
    return true;
}

int64_t strag_flex_whole(const struct strag_tree *tree, bool rates)
{
    return !rates || strag_flex_is_equal(tree) ? find_whole(tree) : many_divisors;
}

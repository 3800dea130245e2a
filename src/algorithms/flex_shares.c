/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/flex_shares.h"

#include "algorithms/skips.h"
#include "base/scale.h"

#include <math.h>

enum { NONE = -1 };

/* lcm(1 .. 40), about 2^52.2: what is divided by up to 40 once stays exact. Times 512 segments it
 * is below the 2^62 that strag_bounds allows. */
static const int64_t many_divisors = INT64_C(5342931457063200);

/* ---- Shares ---- */

static double rate_of(const struct strag_tree *tree, int child, bool said)
{
    return (said ? strag_tree_uplink(tree, child) : 1) / strag_tree_slowed(tree, child);
}

/* By how much the rates ask for unequal shares. Uplinks count as alike where not all are said. */
struct rates {
    bool said, alike;
    double time; /* T: all a child's traffic, sent one vector per unit of time and rate */
    double sum;  /* of what the children ask for */
};

/* What a child asks for: with this share its uplink is busy during all of the time. */
static double wish(const struct rates *rates, const struct strag_tree *tree, int child)
{
    double more = rates->time * rate_of(tree, child, rates->said) - 1;
    return more > 0 ? more : 0;
}

static struct rates find_rates(const struct strag_tree *tree, const struct strag_tree_node *node)
{
    const int first = node->first_child;
    struct rates rates = {.said = true, .alike = true};
    for (int c = 0; c < node->children; c++)
        rates.said = rates.said && strag_tree_uplink(tree, first + c) > 0;
    double least = rate_of(tree, first, rates.said), most = least, sum = 0;
    for (int c = 0; c < node->children; c++) {
        double rate = rate_of(tree, first + c, rates.said);
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
        sum += rate;
    }
    rates.alike = !(most > least);
    rates.time = 2 * (node->children - 1) / sum;
    if (rates.time < 1 / least)
        rates.time = 1 / least;
    for (int c = 0; c < node->children; c++)
        rates.sum += wish(&rates, tree, first + c);
    rates.alike = rates.alike || !isfinite(rates.sum); /* beyond what numbers can tell apart */
    return rates;
}

void strag_flex_shares(const struct strag_tree *tree, int node, bool rates, int64_t whole,
                       int64_t *shares)
{
    const struct strag_tree_node *above = &tree->nodes[node];
    int degree = above->children;
    struct rates found = {.alike = true};
    if (rates && degree > 2)
        found = find_rates(tree, above);
    double asked = 0;
    int64_t given = 0;
    for (int c = 0; c < degree; c++) {
        int64_t until = (int64_t)strag_scale((uint64_t)whole, (uint64_t)c + 1, (uint64_t)degree);
        if (!found.alike && c + 1 < degree) {
            asked += wish(&found, tree, above->first_child + c);
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

bool strag_flex_alike(const struct strag_tree *tree)
{
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children > 2 && !find_rates(tree, &tree->nodes[i]).alike)
            return false;
    }
    return true;
}

int64_t strag_flex_whole(const struct strag_tree *tree, bool rates)
{
    return !rates || strag_flex_alike(tree) ? find_whole(tree) : many_divisors;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maximum-weight matching in any graph: Edmonds' blossoms with dual values, in O(n^3).
 *
 * Nodes that are not to be paired get an edge of weight 0, and an odd number of nodes one node
 * more: then all are paired. Every node has a value; an edge is tight when its two nodes' values
 * sum up to twice its weight, and no edge is below that (slack >= 0). If all are paired by tight
 * edges, no other pairs weigh more. From all unpaired nodes trees grow along tight edges, which
 * alternate between edges out of and in the matching: the nodes at even depth are EVEN, at odd
 * depth ODD, those in no tree are FREE. A tight edge between EVEN nodes of two trees is a path
 * along which one more pair can be made. One within a tree closes a circle of odd length, a
 * blossom: it is shrunk into a node of its own, which is EVEN. Where nothing is tight, values of
 * EVEN nodes go down and of ODD nodes up until an edge becomes tight, or an ODD blossom, whose own
 * value goes down, has to be opened. (J. Edmonds, "Maximum matching and a polyhedron with
 * 0,1-vertices"; Z. Galil, "Efficient algorithms for finding maximum matching in graphs".)
 *
 * Nodes are 1 to n, blossoms above; 0 stands for none. A blossom's list of children goes round its
 * circle from its base, the child whose partner is outside: edges 1-2, 3-4, ... are in the
 * matching.
 */
#include "algorithms/stragglar_match.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum label { FREE = -1, EVEN, ODD };

enum { LISTS = 10 };

struct edge {
    int32_t u, v; /* nodes, also where it is an edge of the blossoms around them */
    int32_t weight;
};

struct strag_matching {
    int n;      /* nodes in the graph at hand */
    int top;    /* nodes and blossoms: 1 .. top may exist */
    int stride; /* of the arrays below with two indices */

    struct edge *edges; /* [x][y]: the tightest edge between x and y */
    int32_t *within;    /* [b][node]: the child of b that has the node; 0: none has */
    int32_t *children;  /* [b][i] */

    int32_t *lists; /* all of these, one behind the other; by node or blossom */
    int32_t *nchildren;
    int32_t *value;
    int32_t *mate;    /* the node outside that it is paired with; 0: none */
    int32_t *nearest; /* a node with the tightest edge from an EVEN node; 0: none is known */
    int32_t *gap;     /* and how far that is from being tight */
    int32_t *outer;   /* the outermost blossom around it; 0: it does not exist */
    int32_t *parent;  /* in its tree, the node at the far end of the edge upwards */
    int32_t *label;   /* enum label, of the outermost */
    int32_t *visited; /* in which search for a common ancestor */
    int32_t *queue;   /* EVEN nodes to be looked at: each once while trees grow */
    int32_t visit;
    int head, tail;
};

/* ---- Access ---- */

static struct edge *edge_at(const struct strag_matching *m, int x, int y)
{
    return &m->edges[(size_t)x * (size_t)m->stride + (size_t)y];
}

static int32_t *within_at(const struct strag_matching *m, int b, int node)
{
    return &m->within[(size_t)b * (size_t)m->stride + (size_t)node];
}

static int32_t *children_of(const struct strag_matching *m, int b)
{
    return &m->children[(size_t)b * (size_t)m->stride];
}

static int slack(const struct strag_matching *m, const struct edge *edge)
{
    return m->value[edge->u] + m->value[edge->v] - 2 * edge_at(m, edge->u, edge->v)->weight;
}

static void note_nearest(struct strag_matching *m, int node, int x, int gap)
{
    if (!m->nearest[x] || gap < m->gap[x]) {
        m->nearest[x] = node;
        m->gap[x] = gap;
    }
}

static void find_nearest(struct strag_matching *m, int x)
{
    m->nearest[x] = 0;
    for (int node = 1; node <= m->n; node++) {
        if (edge_at(m, node, x)->weight > 0 && m->outer[node] != x &&
            m->label[m->outer[node]] == EVEN)
            note_nearest(m, node, x, slack(m, edge_at(m, node, x)));
    }
}

static bool has(const struct strag_matching *m, int x, int node)
{
    return x == node || (x > m->n && *within_at(m, x, node));
}

/* The nodes of x, which has become EVEN. */
static void enqueue(struct strag_matching *m, int x)
{
    for (int node = 1; node <= m->n; node++) {
        if (has(m, x, node))
            m->queue[m->tail++] = node;
    }
}

static void set_outer(struct strag_matching *m, int x, int b)
{
    m->outer[x] = b;
    for (int i = 0; x > m->n && i < m->nchildren[x]; i++)
        set_outer(m, children_of(m, x)[i], b);
}

/* ---- Pairing ---- */

static void reverse(int32_t *items, int first, int end)
{
    for (; first < --end; first++) {
        int32_t item = items[first];
        items[first] = items[end];
        items[end] = item;
    }
}

/* Where a child stands in a blossom, on the side of the circle that is an even number of edges away
 * from the base; the circle is turned round for that where needed. */
static int even_position(struct strag_matching *m, int b, int child)
{
    int32_t *children = children_of(m, b);
    int at = 0;
    while (children[at] != child)
        at++;
    if (at % 2 == 0)
        return at;
    reverse(children, 1, m->nchildren[b]);
    return m->nchildren[b] - at;
}

/* Pair x with y by their tightest edge; within x the pairs shift, and its base becomes the child
 * that the edge begins in. */
static void pair(struct strag_matching *m, int x, int y)
{
    const struct edge edge = *edge_at(m, x, y);
    m->mate[x] = edge.v;
    if (x <= m->n)
        return;
    int32_t *children = children_of(m, x);
    int child = *within_at(m, x, edge.u), at = even_position(m, x, child);
    for (int i = 0; i < at; i++)
        pair(m, children[i], children[i ^ 1]);
    pair(m, child, y);
    reverse(children, 0, at);
    reverse(children, at, m->nchildren[x]);
    reverse(children, 0, m->nchildren[x]);
}

/* Pair x with y, and go up x's tree, where every other edge changes. */
static void augment(struct strag_matching *m, int x, int y)
{
    for (;;) {
        int above = m->outer[m->mate[x]];
        pair(m, x, y);
        if (!above)
            return;
        int next = m->outer[m->parent[above]];
        pair(m, above, next);
        x = next;
        y = above;
    }
}

/* ---- Blossoms ---- */

/* Where the ways from x and y to the roots of their trees meet. @return 0: nowhere */
static int common_ancestor(struct strag_matching *m, int x, int y)
{
    m->visit++;
    while (x || y) {
        if (x) {
            if (m->visited[x] == m->visit)
                return x;
            m->visited[x] = m->visit;
            x = m->outer[m->mate[x]];
            if (x)
                x = m->outer[m->parent[x]];
        }
        int other = x;
        x = y;
        y = other;
    }
    return 0;
}

/* The way from x up to the ancestor becomes children of b; those that were ODD are now EVEN. */
static void add_way(struct strag_matching *m, int b, int x, int ancestor)
{
    while (x != ancestor) {
        int odd = m->outer[m->mate[x]];
        children_of(m, b)[m->nchildren[b]++] = x;
        children_of(m, b)[m->nchildren[b]++] = odd;
        enqueue(m, odd);
        x = m->outer[m->parent[odd]];
    }
}

static void join_edges(struct strag_matching *m, int b, int child)
{
    for (int x = 1; x <= m->top; x++) {
        const struct edge *mine = edge_at(m, b, x), *its = edge_at(m, child, x);
        if (its->weight > 0 && (mine->weight == 0 || slack(m, its) < slack(m, mine))) {
            *edge_at(m, b, x) = *its;
            *edge_at(m, x, b) = *edge_at(m, x, child);
        }
    }
    for (int node = 1; node <= m->n; node++) {
        if (has(m, child, node))
            *within_at(m, b, node) = child;
    }
}

static void shrink(struct strag_matching *m, int x, int ancestor, int y)
{
    int b = m->n + 1;
    while (b <= m->top && m->outer[b])
        b++;
    if (b > m->top)
        m->top = b;
    m->value[b] = 0;
    m->label[b] = EVEN;
    m->mate[b] = m->mate[ancestor];
    m->nchildren[b] = 1;
    children_of(m, b)[0] = ancestor;
    add_way(m, b, x, ancestor);
    reverse(children_of(m, b), 1, m->nchildren[b]);
    add_way(m, b, y, ancestor);
    set_outer(m, b, b);
    for (int other = 1; other <= m->top; other++)
        edge_at(m, b, other)->weight = edge_at(m, other, b)->weight = 0;
    for (int node = 1; node <= m->n; node++)
        *within_at(m, b, node) = 0;
    for (int i = 0; i < m->nchildren[b]; i++)
        join_edges(m, b, children_of(m, b)[i]);
    find_nearest(m, b);
}

/* An ODD blossom is no longer: its children from where its tree enters to its base stay in the
 * tree, the others leave it. */
static void expand(struct strag_matching *m, int b)
{
    int32_t *children = children_of(m, b);
    for (int i = 0; i < m->nchildren[b]; i++)
        set_outer(m, children[i], children[i]);
    int entry = *within_at(m, b, edge_at(m, b, m->parent[b])->u);
    int at = even_position(m, b, entry);
    for (int i = 0; i < at; i += 2) {
        int odd = children[i], even = children[i + 1];
        m->parent[odd] = edge_at(m, even, odd)->u;
        m->label[odd] = ODD;
        m->label[even] = EVEN;
        m->nearest[odd] = 0;
        find_nearest(m, even);
        enqueue(m, even);
    }
    m->label[entry] = ODD;
    m->parent[entry] = m->parent[b];
    for (int i = at + 1; i < m->nchildren[b]; i++) {
        m->label[children[i]] = FREE;
        find_nearest(m, children[i]);
    }
    m->outer[b] = 0;
}

/* ---- Growing trees ---- */

/* A tight edge from an EVEN node. @return is there one more pair now? */
static bool use_edge(struct strag_matching *m, const struct edge *edge)
{
    int x = m->outer[edge->u], y = m->outer[edge->v];
    if (m->label[y] == FREE) {
        int even = m->outer[m->mate[y]];
        m->parent[y] = edge->u;
        m->label[y] = ODD;
        m->label[even] = EVEN;
        m->nearest[y] = m->nearest[even] = 0;
        enqueue(m, even);
    } else if (m->label[y] == EVEN) {
        int ancestor = common_ancestor(m, x, y);
        if (!ancestor) {
            augment(m, x, y);
            augment(m, y, x);
            return true;
        }
        shrink(m, x, ancestor, y);
    }
    return false;
}

static bool look_at_queue(struct strag_matching *m)
{
    while (m->head < m->tail) {
        int node = m->queue[m->head++];
        if (m->label[m->outer[node]] == ODD)
            continue;
        for (int other = 1; other <= m->n; other++) {
            const struct edge *edge = edge_at(m, node, other);
            if (edge->weight == 0 || m->outer[node] == m->outer[other])
                continue;
            int gap = m->value[node] + m->value[other] - 2 * edge->weight;
            if (gap > 0)
                note_nearest(m, node, m->outer[other], gap);
            else if (use_edge(m, edge))
                return true;
        }
    }
    return false;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* How far values can move until something happens. */
static int next_step(const struct strag_matching *m)
{
    int step = INT_MAX;
    for (int x = 1; x <= m->top; x++) {
        if (m->outer[x] != x)
            continue;
        if (x > m->n && m->label[x] == ODD)
            step = smaller(step, m->value[x] / 2);
        if (m->nearest[x] && m->label[x] != ODD)
            step = smaller(step, m->label[x] == FREE ? m->gap[x] : m->gap[x] / 2);
    }
    return step;
}

static void move_values(struct strag_matching *m, int step)
{
    for (int node = 1; node <= m->n; node++) {
        int label = m->label[m->outer[node]];
        if (label != FREE)
            m->value[node] += label == EVEN ? -step : step;
    }
    for (int x = 1; x <= m->top; x++) {
        if (m->outer[x] != x)
            continue;
        if (x > m->n && m->label[x] != FREE)
            m->value[x] += m->label[x] == EVEN ? 2 * step : -2 * step;
        if (m->label[x] != ODD)
            m->gap[x] -= m->label[x] == EVEN ? 2 * step : step;
    }
}

/* Make one more pair. @return false: all are paired */
static bool add_pair(struct strag_matching *m)
{
    m->head = m->tail = 0;
    for (int x = 1; x <= m->top; x++) {
        m->label[x] = FREE;
        m->nearest[x] = 0;
    }
    for (int x = 1; x <= m->top; x++) {
        if (m->outer[x] == x && !m->mate[x]) {
            m->parent[x] = 0;
            m->label[x] = EVEN;
            enqueue(m, x);
        }
    }
    if (m->tail == 0)
        return false;
    for (;;) {
        if (look_at_queue(m))
            return true;
        move_values(m, next_step(m));
        m->head = m->tail = 0;
        for (int x = 1; x <= m->top; x++) {
            int node = m->nearest[x];
            if (m->outer[x] == x && node && m->outer[node] != x &&
                slack(m, edge_at(m, node, x)) == 0 && use_edge(m, edge_at(m, node, x)))
                return true;
        }
        for (int b = m->n + 1; b <= m->top; b++) {
            if (m->outer[b] == b && m->label[b] == ODD && m->value[b] == 0)
                expand(m, b);
        }
    }
}

/* ---- The whole ---- */

struct strag_matching *strag_matching_create(int n)
{
    struct strag_matching *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    size_t nodes = (size_t)n + 1, stride = nodes + nodes / 2 + 1, all = stride * stride;
    m->stride = (int)stride;
    m->edges = malloc(all * sizeof *m->edges);
    m->within = malloc(all * sizeof *m->within);
    m->children = malloc(all * sizeof *m->children);
    m->lists = malloc(LISTS * stride * sizeof *m->lists);
    if (m->edges && m->within && m->children && m->lists)
        return m;
    strag_matching_free(m);
    return NULL;
}

void strag_matching_free(struct strag_matching *m)
{
    if (!m)
        return;
    free(m->edges);
    free(m->within);
    free(m->children);
    free(m->lists);
    free(m);
}

/* Lists and edges of a graph of n nodes, and perhaps one more that makes their number even. */
static void start(struct strag_matching *m, int n, const int32_t *weight)
{
    size_t stride = (size_t)m->stride;
    int32_t **const lists[LISTS] = {&m->nchildren, &m->value,  &m->mate,  &m->nearest, &m->gap,
                                    &m->outer,     &m->parent, &m->label, &m->visited, &m->queue};
    for (size_t i = 0; i < LISTS; i++)
        *lists[i] = m->lists + i * stride;
    memset(m->lists, 0, LISTS * stride * sizeof *m->lists);
    memset(m->edges, 0, stride * stride * sizeof *m->edges);
    m->n = m->top = n + n % 2;
    m->visit = 0;
    for (int u = 1; u <= m->n; u++) {
        m->outer[u] = u;
        for (int v = 1; v <= m->n; v++) {
            int32_t w = 0;
            if (u <= n && v <= n)
                w = weight[(size_t)(u - 1) * (size_t)n + (size_t)(v - 1)];
            /* Above 0, since all pairs are allowed; and even, so that values can move by halves. */
            *edge_at(m, u, v) = (struct edge){u, v, u == v ? 0 : 2 * w + 2};
        }
    }
}

/* Each node's value is its heaviest edge's weight; what is tight then is used at once. */
static void pair_first(struct strag_matching *m)
{
    for (int u = 1; u <= m->n; u++) {
        for (int v = 1; v <= m->n; v++) {
            int32_t w = edge_at(m, u, v)->weight;
            m->value[u] = w > m->value[u] ? w : m->value[u];
        }
    }
    for (int u = 1; u <= m->n; u++) {
        for (int v = u + 1; v <= m->n && !m->mate[u]; v++) {
            if (!m->mate[v] && slack(m, edge_at(m, u, v)) == 0) {
                m->mate[u] = v;
                m->mate[v] = u;
            }
        }
    }
}

void strag_matching_solve(struct strag_matching *m, int n, const int32_t *weight, int32_t *partner)
{
    start(m, n, weight);
    pair_first(m);
    while (add_pair(m))
        ;
    for (int u = 0; u < n; u++) {
        int v = m->mate[u + 1] - 1;
        partner[u] = v < n && weight[(size_t)u * (size_t)n + (size_t)v] > 0 ? v : -1;
    }
}

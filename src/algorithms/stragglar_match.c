/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maximum-weight matching in any graph: Edmonds' blossoms with dual values, in O(n^3).
 *
 * Nodes that must not be paired get an edge of weight 0: then all can be paired. Every node has a
 * value. An edge is tight when its two nodes' values sum up to twice its weight, and no edge's sum
 * is below that (slack >= 0). If all nodes are paired by tight edges, no other pairs weigh more.
 * From all unpaired nodes trees grow along tight edges, which alternate between edges outside and
 * inside of the matching: nodes at even depth are EVEN, at odd depth ODD, nodes in no tree FREE. A
 * tight edge between EVEN nodes of two trees completes a path along which one more pair can be
 * made. A tight edge within a tree closes a circle of odd length, a blossom, which is shrunk into a
 * node of its own, an EVEN one. If no such edge is tight, values of EVEN nodes go down and of ODD
 * nodes up until one becomes tight, or until an ODD blossom, whose own value goes down, has to be
 * opened. (J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices"; Z. Galil, "Efficient
 * algorithms for finding maximum matching in graphs".)
 *
 * Nodes are 1 to n, blossoms have higher numbers; 0 stands for none. A blossom's list of children
 * goes round its circle from its base, the child whose partner is outside. The edges between
 * children 1-2, 3-4, ... are in the matching.
 */
#include "algorithms/stragglar_match.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum label { FREE = -1, EVEN, ODD };

/* Room for nodes, and for nodes and blossoms, both counted from 1. */
enum { NODES = STRAG_MATCHING_MAX + 1, ALL = NODES + NODES / 2 };

struct edge {
    int16_t u, v; /* nodes, even if it is an edge of the blossoms around them */
    int32_t weight;
};

struct strag_matching {
    int n;                                        /* nodes in the current graph */
    int top;                                      /* the highest node or blossom that may exist */
    struct edge edges[ALL][ALL];                  /* [x][y]: the tightest edge between x and y */
    int32_t children[ALL][NODES], nchildren[ALL]; /* of a blossom */
    int32_t inside[ALL];                          /* the blossom whose child it is, or was */
    int32_t outer[ALL]; /* the outermost blossom around it; 0 if it does not exist */
    int32_t value[ALL];
    int32_t mate[ALL];           /* the node outside that it is paired with, or 0 */
    int32_t nearest[ALL];        /* the EVEN node with the tightest edge to it, or 0 */
    int32_t gap[ALL];            /* and how far that edge is from being tight */
    int32_t parent[ALL];         /* in its tree: the node at the far end of the edge upwards */
    int32_t label[ALL];          /* enum label, of outermost ones */
    int32_t visited[ALL], visit; /* the search for a common ancestor */
    int32_t queue[NODES];        /* EVEN nodes to be examined, each once while trees grow */
    int head, tail;
};

/* ---- Access ---- */

static int slack(const struct strag_matching *m, const struct edge *edge)
{
    return m->value[edge->u] + m->value[edge->v] - 2 * edge->weight;
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
        const struct edge *edge = &m->edges[node][x];
        if (edge->weight > 0 && m->outer[node] != x && m->label[m->outer[node]] == EVEN)
            note_nearest(m, node, x, slack(m, edge));
    }
}

/* The child of b that contains a node. */
static int child_with(const struct strag_matching *m, int b, int node)
{
    while (m->inside[node] != b)
        node = m->inside[node];
    return node;
}

/* Enqueue the nodes of x, which is in no other blossom and has become EVEN. */
static void enqueue(struct strag_matching *m, int x)
{
    for (int node = 1; node <= m->n; node++) {
        if (m->outer[node] == x)
            m->queue[m->tail++] = node;
    }
}

static void set_outer(struct strag_matching *m, int x, int b)
{
    m->outer[x] = b;
    for (int i = 0; x > m->n && i < m->nchildren[x]; i++)
        set_outer(m, m->children[x][i], b);
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

/* A child's position in a blossom, an even number of edges away from the base; the circle is
 * reversed if this is needed. */
static int even_position(struct strag_matching *m, int b, int child)
{
    int32_t *children = m->children[b];
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
    const struct edge *edge = &m->edges[x][y];
    m->mate[x] = edge->v;
    if (x <= m->n)
        return;
    int32_t *children = m->children[x];
    int child = child_with(m, x, edge->u), at = even_position(m, x, child);
    for (int i = 0; i < at; i++)
        pair(m, children[i], children[i ^ 1]);
    pair(m, child, y);
    reverse(children, 0, at);
    reverse(children, at, m->nchildren[x]);
    reverse(children, 0, m->nchildren[x]);
}

/* Pair x with y, and go up x's tree, in which every other edge changes. */
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

/* Where the ways from x and y to the roots of their trees meet, or 0 if they do not. */
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

/* The way from x up to the ancestor becomes children of b; its ODD nodes are now EVEN. */
static void add_way(struct strag_matching *m, int b, int x, int ancestor)
{
    while (x != ancestor) {
        int odd = m->outer[m->mate[x]];
        m->children[b][m->nchildren[b]++] = x;
        m->children[b][m->nchildren[b]++] = odd;
        enqueue(m, odd);
        x = m->outer[m->parent[odd]];
    }
}

static void add_edges(struct strag_matching *m, int b, int child)
{
    m->inside[child] = b;
    for (int x = 1; x <= m->top; x++) {
        const struct edge *mine = &m->edges[b][x], *its = &m->edges[child][x];
        if (its->weight > 0 && (mine->weight == 0 || slack(m, its) < slack(m, mine))) {
            m->edges[b][x] = *its;
            m->edges[x][b] = m->edges[x][child];
        }
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
    m->children[b][0] = ancestor;
    add_way(m, b, x, ancestor);
    reverse(m->children[b], 1, m->nchildren[b]);
    add_way(m, b, y, ancestor);
    set_outer(m, b, b);
    for (int other = 1; other <= m->top; other++)
        m->edges[b][other].weight = m->edges[other][b].weight = 0;
    for (int i = 0; i < m->nchildren[b]; i++)
        add_edges(m, b, m->children[b][i]);
    find_nearest(m, b);
}

/* Open an ODD blossom: children from where its tree enters it to its base stay in the tree, others
 * do not. */
static void expand(struct strag_matching *m, int b)
{
    int32_t *children = m->children[b];
    for (int i = 0; i < m->nchildren[b]; i++)
        set_outer(m, children[i], children[i]);
    int entry = child_with(m, b, m->edges[b][m->parent[b]].u);
    int at = even_position(m, b, entry);
    for (int i = 0; i < at; i += 2) {
        int odd = children[i], even = children[i + 1];
        m->parent[odd] = m->edges[even][odd].u;
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

/* Use a tight edge from an EVEN node. @return whether there is one more pair now */
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
            const struct edge *edge = &m->edges[node][other];
            if (edge->weight == 0 || m->outer[node] == m->outer[other])
                continue;
            int gap = slack(m, edge);
            if (gap > 0)
                note_nearest(m, node, m->outer[other], gap);
            else if (use_edge(m, edge))
                return true;
        }
    }
    return false;
}

/* How far values can move until an edge becomes tight or a blossom has to be opened. */
static int next_step(const struct strag_matching *m)
{
    int step = INT_MAX;
    for (int x = 1; x <= m->top; x++) {
        if (m->outer[x] != x)
            continue;
        int most = INT_MAX;
        if (m->label[x] == ODD)
            most = x > m->n ? m->value[x] / 2 : INT_MAX;
        else if (m->nearest[x])
            most = m->label[x] == FREE ? m->gap[x] : m->gap[x] / 2;
        step = most < step ? most : step;
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

/* Make one more pair. @return false if all are paired */
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
                slack(m, &m->edges[node][x]) == 0 && use_edge(m, &m->edges[node][x]))
                return true;
        }
        for (int b = m->n + 1; b <= m->top; b++) {
            if (m->outer[b] == b && m->label[b] == ODD && m->value[b] == 0)
                expand(m, b);
        }
    }
}

/* ---- The whole ---- */

struct strag_matching *strag_matching_create(void)
{
    return calloc(1, sizeof(struct strag_matching));
}

/* At first a node's value is its heaviest edge's weight; edges that are tight then are used. */
static void start(struct strag_matching *m, int n, const int32_t *weight)
{
    m->n = m->top = n;
    memset(m->outer, 0, sizeof m->outer);
    for (int u = 1; u <= n; u++) {
        m->outer[u] = u;
        m->value[u] = m->mate[u] = 0;
        for (int v = 1; v <= n; v++) {
            /* Above 0, so that all can be paired; and even, so that values can move by halves. */
            int32_t w = u == v ? 0 : 2 * weight[(u - 1) * n + v - 1] + 2;
            m->edges[u][v] = (struct edge){(int16_t)u, (int16_t)v, w};
            m->value[u] = w > m->value[u] ? w : m->value[u];
        }
    }
    for (int u = 1; u <= n; u++) {
        for (int v = u + 1; v <= n && !m->mate[u]; v++) {
            if (!m->mate[v] && slack(m, &m->edges[u][v]) == 0) {
                m->mate[u] = v;
                m->mate[v] = u;
            }
        }
    }
}

void strag_matching_solve(struct strag_matching *m, int n, const int32_t *weight, int32_t *partner)
{
    start(m, n, weight);
    while (add_pair(m))
        ;
    for (int u = 0; u < n; u++) {
        int v = m->mate[u + 1] - 1;
        partner[u] = weight[u * n + v] > 0 ? v : -1;
    }
}

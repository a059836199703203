/*
 * Depth-limited search with the evaluations of engine/windows.py and agents/deepening.py: the same values and the same
 * best moves as engine/search.py, on boards of up to 128 bits. The last part of core.c, whose board and types it shares.
 *
 * A caller makes room for a search (windows_size() bytes, 16-byte aligned) and for its table (zeroed before windows_init). The search
 * keeps its stack in that room: windows_run searches so many nodes and returns, and is called again to go on. So nothing
 * has to interrupt it, and a caller that looks at the clock between two calls keeps any deadline.
 *
 * Values are whole numbers from the view of the player to move at the root. Weights that are not come as doubles; the
 * value is then the double's bits, in an order-preserving form, so that to search is the same in both cases. Inside,
 * a node's value is from the view of the side to move: that only turns the sign of what the evaluation said.
 *
 * A disc changes only the windows through its cell. What it makes of one that holds a discs of its own side and b of the
 * other is looked up, and added to a running sum: of values, or of counts where only doubles give the value.
 *
 * The search proper is compiled for boards of 64 and of 128 bits, by this file including itself.
 */
#ifndef WIDTH

typedef uint16_t u16;
typedef int64_t i64;
typedef i64 i64x2 __attribute__((vector_size(16)));

enum {
    LINES = 2048,           /* (cell, window through it) pairs */
    PLIES = 128,
    FEW_NODES = 30000, FEW_BUCKETS = 1 << 14,   /* until so many, a search keeps to a part of the table: 1 MiB */
    MIRRORED_STONES = 14,   /* positions of at most so many share an entry with their mirror image */
    QUIET_MOVES = 1,        /* quiescence with forced_moves of engine/search.py, */
    QUIET_CELLS = 2,        /* with Position.forced of agents/deepening.py */
    LOWER = 1, UPPER = 2    /* what a table's value is; both: the exact one */
};
static const i64 INFINITE = INT64_MAX;

typedef struct {            /* as in search.py; worth and weight: [of the root's player, of the other][cells lacking] */
    i64 worth[2][4], centre, parity, won, drawn, lost, per_stone;
    double weight[2][4], centre_weight;
    u64 hoped[2][2];        /* rows in which a winning cell counts, by low and high bits */
    i32 is_exact, has_ends, quiet, pruned;
} evaluation;

typedef struct { u64 key[2]; i64 value; u64 data; } entry;      /* data: generation 32 | depth 8 | bound 8 | ended 8 | move 8 */

typedef struct {            /* opaque to the caller */
    u128 bottom, board, middle, hoped[2], root[2];
    const evaluation *e;    /* stays the caller's */
    i64x2 change[2][MAX_INAROW][MAX_INAROW];    /* [by the root's player][a][b] */
    entry *table;
    u64 buckets, used, nodes, node_limit;       /* used: of the buckets */
    i32 rows, columns, inarow, cells, stones, depth, top, wide, mirrors;
    u32 generation, history[2][128], best_columns;
    u16 first[128 + 1];     /* of the windows through a cell */
    u8 distance[128];       /* of a cell from the middle */
    union { u64 narrow[LINES]; u128 wide[LINES]; } lines;
} windows_search;

INLINE u32 generation_of_entry(u64 data) { return (u32)(data >> 32); }
INLINE int depth_of(u64 data) { return data >> 24 & 255; }
INLINE int bound_of(u64 data) { return data >> 16 & 255; }
INLINE int ended_of(u64 data) { return data >> 8 & 255; }
INLINE int move_of(u64 data) { return data & 255; }

/* The whole number that has the order of a double; 0.0 and -0.0 are the same */
static i64 ordered(double value)
{
    union { double value; i64 bits; } both = {value + 0.0};
    return both.bits < 0 ? both.bits ^ INT64_MAX : both.bits;
}

/* As evaluate_windows adds up, in the same order: counts of 16 bits, of windows lacking 0, 1, 2 cells */
static i64 weighted(const evaluation *e, i64x2 counts, int centre)
{
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
    double part[3], value;
    for (int lacking = 0; lacking < 3; lacking++) {
        double own = (double)(counts[0] >> 16 * lacking & 0xffff) * e->weight[0][lacking];
        double other = (double)(counts[1] >> 16 * lacking & 0xffff) * e->weight[1][lacking];
        part[lacking] = own + other;
    }
    value = part[1] + part[2];
    value += part[0];
    double middle = centre * e->centre_weight;
    return ordered(value + middle);
}

/* What one window is worth: with so many discs of the root's player and of the other */
static i64x2 worth_of(const windows_search *s, int own, int other)
{
    int discs = own + other, lacking = s->inarow - discs;
    i64x2 none = {0, 0};
    if ((own && other) || !discs || lacking > 3) return none;
    if (s->e->is_exact) return (i64x2){s->e->worth[!own][lacking], 0};
    return own ? (i64x2){(i64)1 << 16 * lacking, 0} : (i64x2){0, (i64)1 << 16 * lacking};
}

#define WIDTH 64
#include "windows.c"
#undef WIDTH
#define WIDTH 128
#include "windows.c"
#undef WIDTH

/* ---- what the library offers ---- */

EXPORT u64 windows_size(void) { return sizeof(windows_search) + PLIES * sizeof(node_128); }
EXPORT u64 windows_nodes(const windows_search *s) { return s->nodes; }

/* 0, or -1: no such board, -2: a table below 64 bytes or not aligned to them */
EXPORT i32 windows_init(windows_search *s, i32 rows, i32 columns, i32 inarow, const evaluation *e, entry *table, u64 table_bytes)
{
    static const int right[4] = {0, 1, 1, 1}, up[4] = {1, 0, 1, -1};
    if (rows < 1 || columns < 1 || columns > MAX_COLUMNS || inarow < 1 || inarow > MAX_INAROW || rows > 120) return -1;
    int height = rows + 1, bits = height * columns, lines = 0;
    if (bits > 128) return -1;
    if ((uintptr_t)table & 63 || table_bytes < 64) return -2;
    s->rows = rows, s->columns = columns, s->inarow = inarow, s->cells = rows * columns, s->wide = bits > 64 || height > 63;
    s->e = e;
    s->table = table, s->buckets = table_bytes / 64, s->generation = 0;
    s->bottom = s->board = s->middle = 0;
    for (int side = 0; side < 2; side++) s->hoped[side] = (u128)e->hoped[side][1] << 64 | e->hoped[side][0];
    for (int at = 0; at < bits; at++) {
        int c = at / height, r = at % height, distance = 2 * c - (columns - 1);
        s->distance[at] = (u8)(distance < 0 ? -distance : distance);
        s->first[at] = (u16)lines;
        if (r == rows) continue;
        u128 cell = (u128)1 << at;
        s->board |= cell;
        if (r == 0) s->bottom |= cell;
        if (s->distance[at] < 2) s->middle |= cell;
        for (int d = 0; d < 4; d++)
            for (int before = 0; before < inarow; before++) {
                int c0 = c - before * right[d], r0 = r - before * up[d];
                int c1 = c0 + (inarow - 1) * right[d], r1 = r0 + (inarow - 1) * up[d];
                if (c0 < 0 || c1 >= columns || r0 < 0 || r0 >= rows || r1 < 0 || r1 >= rows) continue;
                u128 line = 0;
                for (int i = 0; i < inarow; i++) line |= (u128)1 << ((c0 + i * right[d]) * height + r0 + i * up[d]);
                if (lines == LINES) return -1;
                if (s->wide) s->lines.wide[lines++] = line;
                else s->lines.narrow[lines++] = (u64)line;
            }
    }
    for (int at = bits; at <= 128; at++) s->first[at] = (u16)lines;
    for (int a = 0; a < inarow; a++)
        for (int b = 0; a + b < inarow; b++) {
            s->change[1][a][b] = worth_of(s, a + 1, b) - worth_of(s, a, b);
            s->change[0][a][b] = worth_of(s, b, a + 1) - worth_of(s, b, a);
        }
    return 0;
}

/* Sets the root by its stones, low and high 64 bits each, side to move first; forgets all about other positions */
EXPORT void windows_set(windows_search *s, u64 own, u64 own_high, u64 other, u64 other_high)
{
    s->root[0] = (u128)own_high << 64 | own, s->root[1] = (u128)other_high << 64 | other;
    s->stones = count_2(s->root[0] | s->root[1]);
    s->nodes = 0;
    for (int i = 0; i < 128; i++) s->history[0][i] = s->history[1][i] = 0;
    if (++s->generation) return;
    s->generation = 1;
    for (u64 i = 0; i < 2 * s->buckets; i++) s->table[i].data = 0;
}

/* Begins to search so many moves deep; windows_run does it. Nobody has a line, and the board is not full */
EXPORT void windows_begin(windows_search *s, i32 depth)
{
    s->depth = depth < s->cells - s->stones ? depth : s->cells - s->stones;
    s->node_limit = s->nodes;
    s->used = s->nodes < FEW_NODES && s->buckets > FEW_BUCKETS ? FEW_BUCKETS : s->buckets;
    if (s->wide) begin_128(s);
    else begin_64(s);
}

/* Goes on for so many nodes. Whether the search is finished */
EXPORT i32 windows_run(windows_search *s, u64 nodes)
{
    s->node_limit = s->nodes + nodes;
    return s->wide ? run_128(s) : run_64(s);
}

/* What was found: the value, the columns that reach it (bit c for column c), whether every line ended the game, and the
   columns of best play, as many as are returned */
EXPORT i32 windows_found(const windows_search *s, i64 *value, u32 *columns, i32 *ended, u8 *line)
{
    return s->wide ? found_128(s, value, columns, ended, line) : found_64(s, value, columns, ended, line);
}

#else
/* ---- the search proper, once for each width ---- */

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define N(name) JOIN(name, WIDTH)
#if WIDTH == 64
#define bits u64
#define LINE narrow
#define COUNT count_1
#define LOWEST lowest_1
#else
#define bits u128
#define LINE wide
#define COUNT count_2
#define LOWEST lowest_2
#endif

typedef struct { bits own, other, own_wins, other_wins; i64x2 sum; } N(position);    /* own: of the side to move */

typedef struct {
    N(position) at;
    i64 alpha, beta, lower, best;   /* lower: alpha as it was */
    u64 key[2];
    entry *bucket;
    i32 depth, count, next, is_open, ended, mirrored, best_move, line_length;
    u8 moves[MAX_COLUMNS], line[PLIES];
} N(node);

INLINE N(node) *N(nodes)(const windows_search *s) { return (N(node) *)(s + 1); }
INLINE bits N(playable)(const windows_search *s, const N(position) *p) { return ((p->own | p->other) + (bits)s->bottom) & (bits)s->board; }

/* The position after a stone on a cell */
static N(position) N(after)(const windows_search *s, const N(position) *p, int cell, int by_root)
{
    bits m = (bits)1 << cell, wins = p->own_wins;
    i64x2 sum = p->sum;
    for (const bits *line = s->lines.LINE + s->first[cell], *end = s->lines.LINE + s->first[cell + 1]; line < end; line++) {
        int a = COUNT(*line & p->own), b = COUNT(*line & p->other);
        sum += s->change[by_root][a][b];
        if (a == s->inarow - 2 && !b) wins |= *line;
    }
    return (N(position)){p->other, p->own | m, p->other_wins & ~m, wins & ~(p->own | m), sum};
}

/* The value for the root's player of a position where the game goes on, or is valued like that */
static i64 N(windows)(const windows_search *s, const N(position) *p, int root_moves)
{
    bits own = root_moves ? p->own : p->other;
    int centre = COUNT(own & (bits)s->middle);
    if (!s->e->is_exact) return weighted(s->e, p->sum, centre);
    i64 value = p->sum[0] + centre * s->e->centre;
    if (!s->e->parity) return value;
    bits wins = root_moves ? p->own_wins : p->other_wins, its = root_moves ? p->other_wins : p->own_wins;
    int good = COUNT(wins & ~(its << 1) & (bits)s->hoped[0]), bad = COUNT(its & ~(wins << 1) & (bits)s->hoped[1]);
    return value + s->e->parity * (good - bad);
}

/* The move that a position dictates, or 0 */
static bits N(forced)(const windows_search *s, const N(position) *p)
{
    bits playable = N(playable)(s, p), wins = p->own_wins & playable, threats = p->other_wins & playable;
    if (wins) return wins & -wins;
    bits safe = playable & ~(p->other_wins >> 1);
    if (threats && s->e->quiet == QUIET_CELLS) return threats & -threats;
    if (threats) safe = threats & (threats - 1) ? 0 : safe & threats;
    if (safe & (safe - 1)) return 0;
    if (!safe) safe = playable;
    return safe & -safe;
}

/* Whether the game is over after a move */
INLINE int N(ends)(const windows_search *s, const N(position) *p, bits m)
{
    return p->own_wins & m || (p->own | p->other | m) == (bits)s->board;
}

/* The value for the root's player of the position after a move, which nothing follows but what is forced */
static i64 N(leaf)(const windows_search *s, const N(position) *p, int cell, int by_root)
{
    N(position) here = *p, next;
    for (;;) {
        bits m = (bits)1 << cell;
        int over = N(ends)(s, &here, m);
        if (over && s->e->has_ends) {
            i64 stones = s->e->per_stone ? s->e->per_stone * COUNT(here.own | here.other | m) : 0;
            if (!(here.own_wins & m)) return s->e->drawn;
            return by_root ? s->e->won - stones : s->e->lost + stones;
        }
        next = N(after)(s, &here, cell, by_root);
        by_root = !by_root;
        bits move = over || !s->e->quiet ? 0 : N(forced)(s, &next);
        if (!move) return N(windows)(s, &next, by_root);
        cell = LOWEST(move), here = next;
    }
}

/* The moves of a node, the most promising first */
static void N(order)(const windows_search *s, N(node) *n, int side, int first)
{
    bits moves = N(playable)(s, &n->at);
    if (s->e->pruned) {
        bits forced = N(forced)(s, &n->at);
        moves = forced ? forced : moves & ~(n->at.other_wins >> 1);
    }
    u64 worth[MAX_COLUMNS];
    int count = 0;
    for (; moves; moves &= moves - 1, count++) {
        bits m = moves & -moves;
        int cell = LOWEST(m), k = count;
        u64 w = (u64)s->history[side][cell] << 8 | (255u - s->distance[cell]);
        if (n->at.other_wins & m) w |= (u64)1 << 50;
        if (n->at.own_wins & m) w |= (u64)1 << 51;
        if (cell == first) w |= (u64)1 << 52;
        for (; k > 0 && worth[k - 1] < w; k--) worth[k] = worth[k - 1], n->moves[k] = n->moves[k - 1];
        worth[k] = w, n->moves[k] = (u8)cell;
    }
    n->count = count, n->next = 0;
}

static bits N(mirror)(const windows_search *s, bits x)
{
    bits mirror = 0;
    int height = s->rows + 1;
    for (int c = 0; c < s->columns; c++, x >>= height) mirror = mirror << height | (x & (((bits)1 << height) - 1));
    return mirror;
}

INLINE int N(mirrored_cell)(const windows_search *s, int cell)
{
    int height = s->rows + 1;
    return (s->columns - 1 - cell / height) * height + cell % height;
}

/* Where the table has a position, or may have it; its entry, if there is one */
static const entry *N(look_up)(const windows_search *s, N(node) *n, int stones)
{
    bits key = n->at.own + (n->at.own | n->at.other);
    n->mirrored = 0;
    if (s->mirrors && stones <= MIRRORED_STONES) {
        bits mirror = N(mirror)(s, key);
        if (mirror < key) key = mirror, n->mirrored = 1;
    }
    n->key[0] = (u64)key, n->key[1] = WIDTH == 128 ? (u64)((u128)key >> 64) : 0;
    u64 hash = n->key[0] * (u64)0x9E3779B97F4A7C15 ^ n->key[1] * (u64)0xC2B2AE3D27D4EB4F;
    hash ^= hash >> 32, hash *= (u64)0xD6E8FEB86659FD93;
    n->bucket = s->table + 2 * scale(hash, s->used);
    for (int i = 0; i < 2; i++) {
        const entry *e = n->bucket + i;
        if (e->key[0] == n->key[0] && e->key[1] == n->key[1] && generation_of_entry(e->data) == s->generation) return e;
    }
    return 0;
}

/* The first entry of a bucket keeps the deepest search, the other one the latest */
static void N(remember)(const windows_search *s, const N(node) *n)
{
    entry *e = n->bucket;
    int same = e->key[0] == n->key[0] && e->key[1] == n->key[1];
    if (!same && generation_of_entry(e->data) == s->generation && depth_of(e->data) > n->depth) e++;
    int bound = (n->best > n->lower ? LOWER : 0) | (n->best < n->beta ? UPPER : 0);
    int move = n->mirrored ? N(mirrored_cell)(s, n->best_move) : n->best_move;
    e->key[0] = n->key[0], e->key[1] = n->key[1], e->value = n->best;
    e->data = (u64)s->generation << 32 | (u64)n->depth << 24 | (u64)bound << 16 | (u64)n->ended << 8 | (u64)move;
}

/* Makes a node ready to be searched, or finds its value in the table: then 1 */
static int N(enter)(windows_search *s, N(node) *n, int ply, i64 alpha, i64 beta)
{
    n->depth = s->depth - ply;
    const entry *e = N(look_up)(s, n, s->stones + ply);
    int first = 128;
    if (e) {
        first = n->mirrored ? N(mirrored_cell)(s, move_of(e->data)) : move_of(e->data);
        int depth = depth_of(e->data), bound = bound_of(e->data);
        if (beta == alpha + 1 && (depth == n->depth || (depth < n->depth && ended_of(e->data)))
            && ((bound & LOWER && e->value >= beta) || (bound & UPPER && e->value <= alpha))) {
            n->best = e->value, n->ended = ended_of(e->data);
            return 1;
        }
    }
    n->alpha = n->lower = alpha, n->beta = beta, n->best = -INFINITE;
    n->is_open = 0, n->ended = 1, n->line_length = 0, n->best_move = 0;
    N(order)(s, n, ply & 1, first);
    return 0;
}

static void N(begin)(windows_search *s)
{
    N(node) *root = N(nodes)(s);
    bits all = (bits)s->board, own = (bits)s->root[0], other = (bits)s->root[1];
    N(position) p = {0, 0, s->inarow == 1 ? all : 0, s->inarow == 1 ? all : 0, {0, 0}};
    for (; own; own &= own - 1) {
        N(position) next = N(after)(s, &p, LOWEST(own), 1);
        p = (N(position)){next.other, next.own, next.other_wins, next.own_wins, next.sum};
    }
    p = (N(position)){p.other, p.own, p.other_wins, p.own_wins, p.sum};
    for (; other; other &= other - 1) {
        N(position) next = N(after)(s, &p, LOWEST(other), 0);
        p = (N(position)){next.other, next.own, next.other_wins, next.own_wins, next.sum};
    }
    root->at = (N(position)){p.other, p.own, p.other_wins, p.own_wins, p.sum};
    s->mirrors = s->e->has_ends || !s->e->quiet;      /* a mirrored position has the same value */
    s->top = 0, s->best_columns = 0;
    N(enter)(s, root, 0, -INFINITE, INFINITE);
    for (int i = 0; i < root->count; i++) s->best_columns |= (u32)1 << root->moves[i] / (s->rows + 1);
    root->line[0] = root->moves[0], root->line_length = 1;      /* as long as nothing is known */
}

/* A node with one move left: the value of the best, for the side to move */
static i64 N(last_move)(windows_search *s, N(node) *n, int ply, i64 alpha, i64 beta)
{
    bits moves = N(playable)(s, &n->at);
    int by_root = !(ply & 1);
    n->best = -INFINITE, n->ended = 1, n->line_length = 1;
    n->depth = 1;
    N(order)(s, n, ply & 1, 128);
    (void)moves;
    for (int i = 0; i < n->count; i++) {
        int cell = n->moves[i];
        s->nodes++;
        if (!N(ends)(s, &n->at, (bits)1 << cell)) n->ended = 0;
        i64 v = N(leaf)(s, &n->at, cell, by_root);
        if (!by_root) v = -v;
        if (v > n->best) {
            n->best = v, n->line[0] = (u8)cell;
            if (v >= beta) break;
        }
    }
    (void)alpha;
    return n->best;
}

/* Whether the search is finished; if not, it has spent its nodes */
static int N(run)(windows_search *s)
{
    N(node) *n = N(nodes)(s) + s->top;
    for (;;) {
        i64 v;
        N(node) *child = n + 1;
        int ply = s->top;
        if (n->next < n->count && n->best < n->beta) {
            int cell = n->moves[n->next];
            bits m = (bits)1 << cell;
            if (s->nodes >= s->node_limit) return 0;
            s->nodes++;
            child->line_length = 0;
            if (n->depth == 1 || N(ends)(s, &n->at, m)) {
                child->ended = N(ends)(s, &n->at, m);
                v = N(leaf)(s, &n->at, cell, !(ply & 1));
                if (ply & 1) v = -v;
            } else {
                i64 alpha = n->alpha, beta = n->next && !n->is_open ? alpha + 1 : n->beta;
                child->at = N(after)(s, &n->at, cell, !(ply & 1));
                if (n->depth == 2) {
                    v = -N(last_move)(s, child, ply + 1, -beta, -alpha);
                } else if (N(enter)(s, child, ply + 1, -beta, -alpha)) {
                    v = -child->best;
                } else {
                    n = child, s->top++;
                    continue;
                }
            }
        } else {
            N(remember)(s, n);
            if (n->best >= n->beta) s->history[ply & 1][n->best_move] += (u32)(n->depth * n->depth);
            if (!ply) return 1;
            child = n--, s->top--, ply--;
            v = -child->best;
        }
        int cell = n->moves[n->next];
        if (v > n->alpha && v < n->beta && n->next && !n->is_open && n->beta != n->alpha + 1) {
            n->is_open = 1;                     /* better than was expected: how much? */
            continue;
        }
        n->ended &= child->ended;
        n->is_open = 0, n->next++;
        if (!ply && v >= n->best) {             /* at the root all moves that are as good count */
            u32 column = (u32)1 << cell / (s->rows + 1);
            s->best_columns = v > n->best ? column : s->best_columns | column;
        }
        if (v > n->best) {
            n->best = v, n->best_move = cell;
            if (v > n->alpha) {
                n->alpha = ply ? v : v - 1;
                n->line[0] = (u8)cell, n->line_length = child->line_length + 1;
                for (int i = 0; i < child->line_length; i++) n->line[i + 1] = child->line[i];
            }
        }
    }
}

static i32 N(found)(const windows_search *s, i64 *value, u32 *columns, i32 *ended, u8 *line)
{
    const N(node) *root = N(nodes)(s);
    *value = root->best, *columns = s->best_columns, *ended = root->ended;
    for (int i = 0; i < root->line_length; i++) line[i] = root->line[i] / (u8)(s->rows + 1);
    return root->line_length;
}

#undef JOIN2
#undef JOIN
#undef N
#undef bits
#undef LINE
#undef COUNT
#undef LOWEST
#endif

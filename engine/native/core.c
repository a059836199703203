/*
 * Exact Connect Four solver: freestanding C11 (vector extensions of gcc and clang), no libc, no written globals.
 *
 * A caller makes room for one solver (solver_size() bytes, 32-byte aligned) a thread, and for two tables:
 *   table   shared by any number of solvers without locks: every entry verifies itself, a torn one is only a miss;
 *   near    private to a solver and small enough to stay in the processor's cache (1 MiB is good): the last plies,
 *           nine tenths of all nodes, never leave it. This is worth more than any size of the big table.
 * Both must be zeroed once. Bounds in them are facts about positions of one geometry: they never go stale, but one
 * table must not serve two geometries. Entries of another `generation` (1..255) are not seen: a way to forget all.
 *
 * Board (7x6 drawn): bit = column * (rows + 1) + row, a row of always empty cells above the top one.
 *      6 13 20 27 34 41 48    sentinel: a column's carry in `mask + bottom`, no line runs across it
 *      5 12 19 26 33 40 47    row 6 (rows are counted from 1 in comments)
 *      4 11 18 25 32 39 46
 *      3 10 17 24 31 38 45    me, opp    stones of the side to move and of the other
 *      2  9 16 23 30 37 44    mask       me | opp;  me + mask is different for all positions: the key
 *      1  8 15 22 29 36 43    mine, its  empty cells that would complete a line for me, for the other
 *      0  7 14 21 28 35 42    p          stones on the board
 *
 * Scores: 0 a draw, +1 a win with one's last stone, +2 with the one before, ...; negative the same for losses.
 *
 * The body of the solver is compiled three times, by this file including itself: for 7x6x4 with every number a
 * constant, for boards of up to 64 bits, for boards of up to 128 bits.
 */
#ifndef VARIANT

#include <stdint.h>

typedef int32_t i32;
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef u64 u64x4 __attribute__((vector_size(32)));

#ifdef __clang__            /* for boards of any size: half the code, as fast */
#define SMALL_LOOP _Pragma("clang loop unroll(disable)")
#else
#define SMALL_LOOP
#endif
#define INLINE static inline __attribute__((always_inline))
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum {
    ABI_VERSION = 2,
    MAX_COLUMNS = 32,       /* children of a node */
    MAX_INAROW = 16,
    NO_SCORE = -1000,       /* a full column; a search that was stopped */
    POLL = 1024,            /* nodes between two looks at the stop flag: 0.1 ms */
    NEAR_CELLS = 20,        /* positions with at most so many empty cells live in the near table, */
    LAST_CELLS = 6,         /* with at most so many in none */
    SPLIT_CELLS = 24,       /* with more, threads that solve one position together tell each other what they search */
    BUSY = 4096,            /* words for that: a power of 2 */
    MIRROR_PLIES = 10,      /* positions of at most so many stones share an entry with their mirror image */
    BUCKET_WORDS = 4
};

typedef struct {            /* a position that is being searched: is its score above alpha? */
    u128 me, mask;
    i32 p, alpha;
} open_node;

typedef struct {            /* opaque to the caller */
    u128 board, bottom, claim, me, opp;     /* claim: rows of the top row's parity (2, 4, 6) */
    u64 *table, *near_table;
    u64 buckets, near_buckets;
    u64 nodes, node_limit;
    const volatile i32 *stop;
    u64 *team;              /* what the others of a team search; then for each of its own open nodes: */
    i32 level, found;       /* how many there are; the answer to one that another has found */
    open_node open[128];
    i32 rows, columns, inarow, cells, p, stopped, variant;
    u32 generation;
    u8 place[2][128];       /* worth of a cell in move ordering, for the side that moves with an even, odd number of cells left */
} solver;

/* A table entry's data: generation 8 | work 6 | upper 7 | lower 7 bits, low 28 bits of a word */
INLINE u64 pack(u32 generation, int work, int upper, int lower)
{
    return (u64)generation << 20 | (u64)work << 14 | (u64)(upper + 64) << 7 | (u64)(lower + 64);
}
INLINE int lower_of(u64 data) { return (int)(data & 127) - 64; }
INLINE int upper_of(u64 data) { return (int)(data >> 7 & 127) - 64; }
INLINE u32 generation_of(u64 data) { return data >> 20 & 255; }
INLINE u32 work_of(u64 data, u32 generation) { return generation_of(data) == generation ? (data >> 14 & 63) + 1 : 0; }
INLINE int log2_of(u64 x) { return x ? 63 - __builtin_clzll(x) : 0; }

/* Words of a table are read and written one by one, by several threads */
INLINE u64 get(const u64 *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
INLINE void put(u64 *word, u64 value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

/* Why a search stops: by the flag or the limit; or from n on since the answer to open node number n - FOUND is there */
enum { STOPPED = 1, FOUND };

INLINE u64 scale(u64 hash, u64 n) { return (u64)((u128)hash * n >> 64); }       /* 0 .. n - 1 */
INLINE int count64(u64 x) { return __builtin_popcountll(x); }
INLINE int lowest64(u64 x) { return __builtin_ctzll(x); }
INLINE u64 any64x4(u64x4 x) { return x[0] | x[1] | x[2] | x[3]; }

/* Tuned by node counts: see STEPS.md. [side][row][distance from the edge] */
static const u8 standard_place[2][6][4] = {
    {{0, 6, 15, 18}, {4, 7, 19, 22}, {0, 6, 18, 21}, {4, 10, 16, 22}, {3, 6, 12, 15}, {10, 10, 13, 22}},
    {{0, 0, 12, 15}, {4, 10, 13, 22}, {3, 12, 15, 18}, {10, 13, 16, 22}, {3, 6, 9, 18}, {13, 16, 16, 22}},
};
enum { THREAT = 40, THREAT_NOW = 32, THREAT_NEXT = 8, THREAT_WASTED = 96 };

#define VARIANT 0
#include "core.c"
#undef VARIANT
#define VARIANT 1
#include "core.c"
#undef VARIANT
#define VARIANT 2
#include "core.c"
#undef VARIANT

/* ---- what the library offers ---- */

#ifdef _WIN32               /* what Windows calls when it loads a library */
i32 DllMainCRTStartup(void *module, u32 reason, void *reserved) { (void)module, (void)reason, (void)reserved; return 1; }
#endif

EXPORT u32 abi_version(void) { return ABI_VERSION; }
#ifndef SOURCE_HASH
#define SOURCE_HASH 0
#endif
EXPORT u64 source_hash(void) { return SOURCE_HASH; }   /* which source this was made from: given by the compilation */
EXPORT u64 solver_size(void) { return sizeof(solver); }
EXPORT u64 solver_nodes(const solver *s) { return s->nodes; }

/* Also forgets the position. 0, or -1: no such board, -2: a table below 256 KiB or not aligned to 32 bytes */
EXPORT i32 solver_init(solver *s, i32 rows, i32 columns, i32 inarow, u64 *table, u64 table_bytes, u64 *near_table, u64 near_bytes)
{
    if (rows < 1 || columns < 1 || columns > MAX_COLUMNS || inarow < 1 || inarow > MAX_INAROW || rows > 120) return -1;
    int height = rows + 1, bits = height * columns;
    if (bits > 128) return -1;
    if (((uintptr_t)table | (uintptr_t)near_table) & 31 || table_bytes >> 18 == 0 || near_bytes >> 18 == 0) return -2;
    s->variant = rows == 6 && columns == 7 && inarow == 4 ? 0 : bits <= 64 && height < 63 ? 1 : 2;
    s->rows = rows, s->columns = columns, s->inarow = inarow, s->cells = rows * columns;
    s->bottom = s->board = s->claim = 0;
    for (int c = 0; c < columns; c++) {
        s->bottom |= (u128)1 << c * height;
        for (int r = 0; r < rows; r++) {
            int edge = c < columns - 1 - c ? c : columns - 1 - c, bit = c * height + r, high = (rows - r) & 1;
            s->board |= (u128)1 << bit;
            if (high) s->claim |= (u128)1 << bit;
            for (int side = 0; side < 2; side++)
                s->place[side][bit] = s->variant ? (u8)(6 * edge + 4 * high) : standard_place[side][r][edge];
        }
    }
    u64 bytes = BUCKET_WORDS * 8 << (s->variant == 2);
    s->table = table, s->buckets = table_bytes / bytes;
    s->near_table = near_table, s->near_buckets = near_bytes / bytes;
    s->nodes = 0, s->node_limit = ~(u64)0, s->stop = 0, s->generation = 1;
    s->me = s->opp = 0, s->p = 0, s->stopped = 0, s->team = 0;
    return 0;
}

/* stop: looked at while searching, a value other than 0 stops (may be null); node_limit: nodes of one call */
EXPORT void solver_limits(solver *s, const i32 *stop, u64 node_limit)
{
    s->stop = stop;
    s->node_limit = node_limit;
}

/* Solvers of several threads that solve one position together, on one table: they call the same function at the same
   time with the same zeroed memory of solver_team_size() bytes. The answer of the first to finish is right. Simplified
   ABDADA (Kerrigan, 2017, after Weill, 1996): a move that another is searching is put off. */
EXPORT u64 solver_team_size(void) { return BUSY * sizeof(u64); }
EXPORT void solver_team(solver *s, u64 *memory) { s->team = memory; }

/* Takes the memory of a table, without changing what it holds, also while others use it */
EXPORT void table_touch(u64 *table, u64 bytes)
{
    enum { PAGE = 4096 };
    for (u64 i = 0; i < bytes / sizeof *table; i += PAGE / sizeof *table) {
        u64 value = get(table + i);     /* written again, if it is still the same */
        __atomic_compare_exchange_n(table + i, &value, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

EXPORT void solver_generation(solver *s, u32 generation) { s->generation = generation & 255; }

/* Sets the position after `count` moves (columns from 0). Returns count, or the index of the first move that cannot
   be played (no such column, a full one, or the game was over): the position is then the one before that move. */
EXPORT i32 solver_position(solver *s, const u8 *moves, i32 count)
{
    s->me = s->opp = 0;
    for (s->p = 0; s->p < count; s->p++) {
        if (moves[s->p] >= s->columns || wins_2(s, s->opp)) return s->p;
        u128 column = (((u128)1 << s->rows) - 1) << moves[s->p] * (s->rows + 1);
        u128 mask = s->me | s->opp, m = (mask + (s->bottom & column)) & column;
        if (!m || mask & m) return s->p;
        u128 moved = s->me | m;
        s->me = s->opp;
        s->opp = moved;
    }
    return s->p;
}

/* Sets a position by its stones, low and high 64 bits each; side to move first */
EXPORT void solver_set(solver *s, u64 me, u64 me_high, u64 opp, u64 opp_high)
{
    s->me = (u128)me_high << 64 | me;
    s->opp = (u128)opp_high << 64 | opp;
    s->p = count_2(s->me | s->opp);
}

static u64 perft(const solver *s, u128 me, u128 opp, i32 depth)
{
    if (depth == 0) return 1;
    if (wins_2(s, opp)) return 0;
    u64 sequences = 0;
    for (u128 moves = ((me | opp) + s->bottom) & s->board; moves; moves &= moves - 1)
        sequences += perft(s, opp, me | (moves & -moves), depth - 1);
    return sequences;
}

/* Sequences of `depth` moves from the position, without those whose game ends before: a test of the rules */
EXPORT u64 solver_perft(const solver *s, i32 depth) { return perft(s, s->me, s->opp, depth); }

static i32 begin(solver *s)
{
    s->nodes = 0;
    s->stopped = s->level = 0;
    return wins_2(s, s->opp);
}

static i32 solve_position(solver *s, u128 me, u128 opp, i32 p, i32 alpha, i32 beta)
{
    if (s->variant == 0) return solve_0(s, (u64)me, (u64)opp, p, alpha, beta);
    if (s->variant == 1) return solve_1(s, (u64)me, (u64)opp, p, alpha, beta);
    return solve_2(s, me, opp, p, alpha, beta);
}

/* The score of the position if it is between alpha and beta, else a bound on the same side of the window.
   (-1000, 1000) for the score, (-1, 1) for win, draw or loss only. NO_SCORE when stopped or when the game is won. */
EXPORT i32 solver_score(solver *s, i32 alpha, i32 beta)
{
    if (begin(s)) return NO_SCORE;
    i32 v = solve_position(s, s->me, s->opp, s->p, alpha, beta);
    return s->stopped ? NO_SCORE : v;
}

/* The cell a stone would fall to in a column, 0 when it is full */
static u128 cell_of(const solver *s, i32 c)
{
    u128 column = (((u128)1 << s->rows) - 1) << c * (s->rows + 1), mask = s->me | s->opp;
    return (mask + (s->bottom & column)) & column & ~mask;
}

/* What a move is worth to the side that makes it */
static i32 solve_move(solver *s, u128 m, i32 alpha, i32 beta)
{
    if (wins_2(s, s->me | m)) return (s->cells + 1 - s->p) / 2;
    return -solve_position(s, s->opp, s->me | m, s->p + 1, -beta, -alpha);
}

/* The same for every move: scores[column], for the side to move; NO_SCORE for a full column. 0, or NO_SCORE when stopped */
EXPORT i32 solver_columns(solver *s, i32 alpha, i32 beta, i32 *scores)
{
    for (i32 c = 0; c < s->columns; c++) scores[c] = NO_SCORE;
    if (begin(s)) return NO_SCORE;
    for (i32 c = 0; c < s->columns; c++) {
        u128 m = cell_of(s, c);
        if (!m) continue;
        i32 v = solve_move(s, m, alpha, beta);
        if (s->stopped) return NO_SCORE;
        scores[c] = v;
    }
    return 0;
}

/* The score, and which columns reach it: bit c for column c. It may be given, else NO_SCORE; one null window a column
   then, and none for the last one when no other has reached it. NO_SCORE when stopped or when the game is won */
EXPORT i32 solver_best(solver *s, i32 score, u32 *columns)
{
    *columns = 0;
    if (begin(s)) return NO_SCORE;
    if (score == NO_SCORE) score = solve_position(s, s->me, s->opp, s->p, NO_SCORE, -NO_SCORE);
    i32 last = s->columns;
    while (last > 0 && !cell_of(s, last - 1)) last--;
    for (i32 c = 0; c < last && !s->stopped; c++) {
        u128 m = cell_of(s, c);
        if (m && ((c == last - 1 && !*columns) || solve_move(s, m, score - 1, score) >= score)) *columns |= (u32)1 << c;
    }
    return s->stopped ? NO_SCORE : score;
}

#include "windows.c"

#elif !defined SET
/* ---- the solver proper, once for each variant ---- */

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define N(name) JOIN(name, VARIANT)

#if VARIANT == 0
#define ROWS 6
#define CELLS 42
#define INAROW 4
#define BOTTOM ((u64)0x40810204081)
#define BOARD ((u64)0x40810204081 * 63)
#define CLAIM ((u64)0x40810204081 * 42)
#else
#define ROWS (s->rows)
#define CELLS (s->cells)
#define INAROW (s->inarow)
#define BOTTOM ((bits)s->bottom)
#define BOARD ((bits)s->board)
#define CLAIM ((bits)s->claim)
#endif
#define HEIGHT (ROWS + 1)

#if VARIANT == 2            /* one child at a time, as there are no vectors of 128-bit numbers */
#define bits u128
#define lanes u128
#define LANES 1
INLINE int N(count)(bits x) { return count64((u64)x) + count64((u64)(x >> 64)); }
INLINE int N(lowest)(bits x) { return (u64)x ? lowest64((u64)x) : 64 + lowest64((u64)(x >> 64)); }
#define zero_many_2 zero_one_2
#define any_many_2 any_one_2
INLINE lanes N(take)(bits *rest) { bits m = *rest & -*rest; *rest ^= m; return m; }
#else                       /* four children at a time */
#define bits u64
#define lanes u64x4
#define LANES 4
INLINE int N(count)(bits x) { return count64(x); }
INLINE int N(lowest)(bits x) { return lowest64(x); }
INLINE lanes N(zero_many)(lanes x) { return (lanes)(x == 0); }
INLINE bits N(any_many)(lanes x) { return any64x4(x); }
INLINE bits N(take_one)(bits *rest) { bits m = *rest & -*rest; *rest ^= m; return m; }
INLINE lanes N(take)(bits *rest)
{
    bits a = N(take_one)(rest), b = N(take_one)(rest), c = N(take_one)(rest), d = N(take_one)(rest);
    return (lanes){a, b, c, d};
}
#endif

/* All bits set where x is 0; not 0 where x is not */
INLINE bits N(zero_one)(bits x) { return x ? 0 : ~(bits)0; }
INLINE bits N(any_one)(bits x) { return x; }

INLINE int N(win_score)(const solver *s, int stones) { (void)s; return (CELLS + 2 - stones) / 2; }

/* Functions on stones, for one board and for several at once: the third part of this file */
#define SHIFT(k) ((bits)(k))
#define S(name) JOIN(name##_one, VARIANT)
#define set bits
#define SET
#include "core.c"
#undef S
#undef set
#if LANES > 1
#define S(name) JOIN(name##_many, VARIANT)
#define set lanes
#include "core.c"
#undef S
#undef set
#else
#define cells_many_2 cells_one_2
#define prove_many_2 prove_one_2
#endif
#undef SET

#if VARIANT == 2
static i32 wins_2(const solver *s, u128 x) { return lines_one_2(s, x) != 0; }
#endif

/* ---- tables ----
 * A bucket is four words (eight for 128-bit boards). For 7x6 a word is an entry: multiplying by an odd number permutes
 * the 49-bit keys; the bucket follows from the top of that product, the entry keeps its low 36 bits, and for 2^13
 * buckets or more the two determine it. Larger boards keep the key, each of its words combined with the data word.
 */
typedef struct { u64 *bucket, check[VARIANT == 2 ? 2 : 1]; } N(place_of);

INLINE bits N(key_of)(const solver *s, bits me, bits mask, int p)
{
    bits key = me + mask, rest = key, mirror = 0;
    if (p > MIRROR_PLIES) return key;
    for (int c = 0; c < s->columns; c++, rest >>= HEIGHT) mirror = mirror << HEIGHT | (rest & (((bits)1 << HEIGHT) - 1));
    return mirror < key ? mirror : key;
}

INLINE N(place_of) N(place)(const solver *s, bits me, bits mask, int p)
{
    N(place_of) at;
    bits key = N(key_of)(s, me, mask, p);
#if VARIANT == 0
    u64 hash = key * ((u64)0x9E3779B97F4A7C15 << 15);
    at.check[0] = hash >> 15 << 28;
#elif VARIANT == 1
    u64 hash = key * (u64)0x9E3779B97F4A7C15;
    hash ^= hash >> 32, hash *= (u64)0xD6E8FEB86659FD93;
    at.check[0] = key;
#else
    u64 hash = (u64)key * (u64)0x9E3779B97F4A7C15 ^ (u64)(key >> 64) * (u64)0xC2B2AE3D27D4EB4F;
    hash ^= hash >> 32, hash *= (u64)0xD6E8FEB86659FD93;
    at.check[0] = (u64)key, at.check[1] = (u64)(key >> 64);
#endif
    u64 words = BUCKET_WORDS << (VARIANT == 2);
    at.bucket = CELLS - p <= NEAR_CELLS ? s->near_table + scale(hash, s->near_buckets) * words
                                        : s->table + scale(hash, s->buckets) * words;
    return at;
}

#if VARIANT == 0
#define ENTRY_WORDS 1
#else
#define ENTRY_WORDS (2 * VARIANT)       /* data, key; data, two of key, unused */
#endif
enum { N(WAYS) = (BUCKET_WORDS << (VARIANT == 2)) / ENTRY_WORDS };

/* The data of an entry if it is the position's, else 0 */
INLINE u64 N(match)(const solver *s, const u64 *e, const N(place_of) *at)
{
    u64 data = get(e);
#if VARIANT == 0
    return (data ^ (at->check[0] | (u64)s->generation << 20)) >> 20 ? 0 : data;
#else
    if ((get(e + 1) ^ data) != at->check[0] || generation_of(data) != s->generation) return 0;
    return VARIANT == 2 && (get(e + 2) ^ data) != at->check[VARIANT - 1] ? 0 : data;
#endif
}

INLINE u64 N(probe)(const solver *s, const N(place_of) *at)
{
    for (int i = 0; i < N(WAYS); i++) {
        u64 data = N(match)(s, at->bucket + i * ENTRY_WORDS, at);
        if (data) return data;
    }
    return 0;
}

/* The big table gives up the entry of least work, the near one the oldest */
INLINE void N(store)(const solver *s, const N(place_of) *at, int p, u64 work, int upper, int lower)
{
    int victim = N(WAYS) - 1, near = CELLS - p <= NEAR_CELLS;
    u32 least = ~(u32)0;
    for (int i = 0; i < N(WAYS); i++) {
        const u64 *e = at->bucket + i * ENTRY_WORDS;
        if (N(match)(s, e, at)) { victim = i; break; }
        u32 w = work_of(get(e), s->generation);
        if (!near && w < least) least = w, victim = i;
    }
    u64 *e = at->bucket + victim * ENTRY_WORDS, data = pack(s->generation, log2_of(work), upper, lower);
    if (near)
        for (; e > at->bucket; e -= ENTRY_WORDS)
            for (int i = 0; i < ENTRY_WORDS; i++) put(e + i, get(e + i - ENTRY_WORDS));
#if VARIANT == 0
    put(e, at->check[0] | data);
#else
    put(e, data);
    for (int i = 0; i < VARIANT; i++) put(e + 1 + i, at->check[i] ^ data);
#endif
}

/* Every POLL nodes: shall the search stop? One of a team looks for what the others have found meanwhile */
static void N(poll)(solver *s)
{
    for (int i = 0; i < s->level && !s->stopped; i++) {
        const open_node *o = &s->open[i];
        N(place_of) at = N(place)(s, (bits)o->me, (bits)o->mask, o->p);
        u64 data = N(probe)(s, &at);
        if (!data || (lower_of(data) <= o->alpha && upper_of(data) > o->alpha)) continue;
        s->stopped = FOUND + i;
        s->found = lower_of(data) > o->alpha ? lower_of(data) : upper_of(data);
    }
    if (s->nodes >= s->node_limit || (s->stop && *s->stop)) s->stopped = STOPPED;
}

/* Is the score above alpha? Returns a bound that tells: a lower bound above alpha, or an upper bound not above it.
   Nobody has a line, and me cannot complete one now. */
static int N(search)(solver *s, bits me, bits opp, bits mine, bits its, int p, int alpha)
{
    if (++s->nodes % POLL == 0) N(poll)(s);
    bits mask = me | opp, playable = (mask + BOTTOM) & BOARD;
    bits moves = playable & ~(its >> 1), forced = playable & its;
    if (forced) moves &= forced & (forced - 1) ? 0 : forced;
    if (!moves) return -N(win_score)(s, p + 2);
    if (p >= CELLS - 2) return 0;
    int lower = -N(win_score)(s, p + 4), upper = N(win_score)(s, p + 3);
    if (lower > alpha) return lower;
    if (upper <= alpha) return upper;

    if (forced) {                               /* one reply: nothing to order or to remember */
        bits next = (moves ^ playable) | (moves << 1 & BOARD), w = N(cells_one)(s, me | moves) & BOARD & ~(mask | moves), now = w & next;
        if ((now & (now - 1)) | (now << 1 & w) || !(next & ~(w >> 1))) return upper;
        if (N(win_score)(s, p + 5) <= alpha) return N(win_score)(s, p + 5);
        int proven = N(prove_one)(s, me | moves, opp, w, BOARD & ~(mask | moves), next, ~(bits)0, CELLS - p - 1, alpha < 0 ? -1 : alpha);
        if (proven > alpha) return proven;
        return -N(search)(s, opp, me | moves, its & ~moves, w, p + 1, -alpha - 1);
    }
    int tabled = CELLS - p > LAST_CELLS, children_tabled = CELLS - p - 1 > LAST_CELLS;
    N(place_of) here;
    if (tabled) {
        here = N(place)(s, me, mask, p);
        u64 data = N(probe)(s, &here);
        if (data) {
            if (lower_of(data) > alpha) return lower_of(data);
            if (upper_of(data) <= alpha) return upper_of(data);
            if (lower_of(data) > lower) lower = lower_of(data);
            if (upper_of(data) < upper) upper = upper_of(data);
        }
    }

    union { lanes many[MAX_COLUMNS / LANES]; bits one[MAX_COLUMNS]; } move, wins;
    N(place_of) child[VARIANT ? MAX_COLUMNS : 7];
    int n = N(count)(moves), blocks = (n + LANES - 1) / LANES;
    bits rest = moves;
    for (int b = 0; b < blocks; b++) move.many[b] = N(take)(&rest);
    if (children_tabled)
        for (int i = 0; i < n; i++) {
            child[i] = N(place)(s, opp, mask | move.one[i], p + 1);
            __builtin_prefetch(child[i].bucket);
        }

    /* A move wins by force if two of its threats can be carried out at once or one after the other in a column, or if
       the other can move only below a threat */
    bits won = 0;
    for (int b = 0; b < blocks; b++) {
        lanes m = move.many[b], next = (m ^ playable) | (m << SHIFT(1) & BOARD);
        lanes w = N(cells_many)(s, m | me) & ~(m | mask) & BOARD, now = w & next;
        wins.many[b] = w;
        won |= N(any_many)((now & (now - 1)) | (now << SHIFT(1) & w) | (N(zero_many)(next & ~(w >> SHIFT(1))) & ~N(zero_many)(m)));
    }
    if (won) return N(win_score)(s, p + 3);
    if (N(win_score)(s, p + 5) < upper) upper = N(win_score)(s, p + 5);
    if (upper <= alpha) return upper;

    for (int b = 0; b < blocks; b++) {
        lanes m = move.many[b], next = (m ^ playable) | (m << SHIFT(1) & BOARD);
        int proven = N(prove_many)(s, m | me, opp, wins.many[b], (bits)(BOARD & ~mask) ^ m, next, ~N(zero_many)(m), CELLS - p - 1, alpha < 0 ? -1 : alpha);
        if (proven > alpha) return proven;
    }
    /* Order: threats not right above one of the other's; more for those playable next, or after that; a move right
       below an own threat gives it away */
    int order[2 * (VARIANT ? MAX_COLUMNS : 7)];     /* worth and index of the children; then those put off */
    const u8 *place = s->place[(CELLS - p) & 1];
    for (int i = 0; i < n; i++) {
        bits m = move.one[i], good = wins.one[i] & ~(its << 1), next = (playable ^ m) | m << 1;
        int worth = N(count)(good) * THREAT + N(count)(wins.one[i] & next) * THREAT_NOW + N(count)(good & next << 1) * THREAT_NEXT
                    - (mine & m << 1 ? THREAT_WASTED : 0) + place[N(lowest)(m)], k = i;
        worth = worth * MAX_COLUMNS + (MAX_COLUMNS - 1 - i);
        for (; k > 0 && order[k - 1] < worth; k--) order[k] = order[k - 1];
        order[k] = worth;
    }

    if (children_tabled)
        for (int i = 0; i < n; i++) {
            u64 data = N(probe)(s, &child[i]);
            if (data && -upper_of(data) > alpha) return -upper_of(data);
        }

    u64 before = s->nodes;
    int best = NO_SCORE;
    int team = s->team && CELLS - p > SPLIT_CELLS, level = s->level;
    if (team) s->open[s->level++] = (open_node){me, mask, p, alpha};
    for (int k = 0, end = n; k < end && best <= alpha; k++) {
        int i = MAX_COLUMNS - 1 - (order[k] & (MAX_COLUMNS - 1));
        u64 *busy = 0, id = 0;
        if (team) {
            id = child[i].check[0] ^ (u64)(uintptr_t)child[i].bucket;
            busy = s->team + scale(id * (u64)0x9E3779B97F4A7C15, BUSY);
            if (k > 0 && k < n && get(busy) == id) {    /* another's: see what it finds */
                order[end++] = order[k];
                continue;
            }
            put(busy, id);
        }
        int v = -N(search)(s, opp, me | move.one[i], its & ~move.one[i], wins.one[i], p + 1, -alpha - 1);
        if (busy) put(busy, 0);
        if (s->stopped == FOUND + level && team) {
            s->stopped = 0;
            best = s->found;
            break;
        }
        if (s->stopped) return 0;
        if (v > best) best = v;
    }
    s->level = level;
    if (best > upper) best = upper;
    if (best > alpha) lower = best;
    else upper = best;
    if (tabled) N(store)(s, &here, p, s->nodes - before, upper, lower);
    return best;
}

/* Null windows: first from far out towards 0, where a window costs little (quick wins and losses), then 0, then halves */
static int N(solve)(solver *s, bits me, bits opp, int p, int alpha, int beta)
{
    enum { FAR = 5 };
    bits empty = BOARD & ~(me | opp), playable = (me | opp) + BOTTOM;
    bits mine = N(cells_one)(s, me) & empty, its = N(cells_one)(s, opp) & empty;
    if (p >= CELLS) return 0;
    if (mine & playable) return N(win_score)(s, p + 1);
    int lower = p + 2 > CELLS ? 0 : -N(win_score)(s, p + 2), upper = p + 3 > CELLS ? 0 : N(win_score)(s, p + 3);
    while (lower < upper && lower < beta && upper > alpha) {
        int middle = 0;
        if (lower >= 0) middle = lower + (upper - lower - 1) / 2;
        else if (upper <= 0) middle = upper - 1 - (upper - lower - 1) / 2;
        else if (-lower > FAR && -lower >= upper) middle = lower / 2 < -FAR ? lower / 2 : -FAR;
        else if (upper > FAR) middle = upper / 2 > FAR ? upper / 2 : FAR;
        if (middle >= beta) middle = beta - 1;
        if (middle < alpha) middle = alpha;
        int v = N(search)(s, me, opp, mine, its, p, middle);
        if (s->stopped) return 0;
        if (v > middle) lower = v;
        else upper = v;
    }
    return lower >= beta ? lower : upper <= alpha ? upper : lower;
}

#undef ROWS
#undef CELLS
#undef INAROW
#undef BOTTOM
#undef BOARD
#undef CLAIM
#undef HEIGHT
#undef bits
#undef lanes
#undef LANES
#undef ENTRY_WORDS
#undef SHIFT
#undef N
#undef JOIN
#undef JOIN2

#else
/* ---- functions on stones: `set` is one board, or several ---- */

#define FOUR_MISSING_ONE(d)                                                             \
    two = x << SHIFT(d) & x << SHIFT(2 * (d));                                          \
    cells |= two & (x << SHIFT(3 * (d)) | x >> SHIFT(d));                               \
    two = x >> SHIFT(d) & x >> SHIFT(2 * (d));                                          \
    cells |= two & (x >> SHIFT(3 * (d)) | x << SHIFT(d));
#define FOUR(d) two = x & x >> SHIFT(d), found |= two & two >> SHIFT(2 * (d));

/* Cells where a stone would complete a line of x; says nothing about occupied cells */
INLINE set S(cells)(const solver *s, set x)
{
    (void)s;
    if (VARIANT == 0) {
        set two, cells = x << SHIFT(1) & x << SHIFT(2) & x << SHIFT(3);
        FOUR_MISSING_ONE(HEIGHT) FOUR_MISSING_ONE(HEIGHT + 1) FOUR_MISSING_ONE(HEIGHT - 1)
        return cells;
    }
    const int step[4] = {1, HEIGHT - 1, HEIGHT, HEIGHT + 1};
    set cells = x & ~x;
    SMALL_LOOP for (int k = 0; k < 4; k++) {
        set before[MAX_INAROW], after = ~cells | cells;    /* runs of i stones before a cell, of INAROW - 1 - i after */
        before[0] = after;
        SMALL_LOOP for (int i = 1; i < INAROW; i++) before[i] = (before[i - 1] & x) << SHIFT(step[k]);
        SMALL_LOOP for (int i = INAROW - 1; i >= 0; i--, after = (after & x) >> SHIFT(step[k])) cells |= before[i] & after;
    }
    return cells;
}

/* Not 0 where x has a line */
INLINE set S(lines)(const solver *s, set x)
{
    (void)s;
    set two, found = x & ~x;
    if (VARIANT == 0) {
        FOUR(1) FOUR(HEIGHT) FOUR(HEIGHT + 1) FOUR(HEIGHT - 1)
        return found;
    }
    const int step[4] = {1, HEIGHT - 1, HEIGHT, HEIGHT + 1};
    SMALL_LOOP for (int k = 0; k < 4; k++) {
        two = x;
        SMALL_LOOP for (int i = 1; i < INAROW; i++) two = x & two >> SHIFT(step[k]);
        found |= two;
    }
    return found;
}

/* x and all cells above it; x has no sentinels. A column not empty carries into its sentinel; from there, x is taken */
INLINE set S(upward)(const solver *s, set x)
{
    (void)s;
    return (((x + BOARD) & BOTTOM << SHIFT(ROWS)) - x) | x;
}

/* ---- follow-up proofs ----
 * Side x has just moved. It can answer every move of y, from now to the end, by playing right above it, if the number
 * of cells left is even: it gets every cell of the top row's parity (2, 4, 6) except those playable now. (Where y
 * takes one of these, its column and one other have an odd number left: x answers in such another.) Let y have all the
 * other cells, then if y has no line, y does not win; if x has one, y loses.
 *
 * If the number left is odd, x needs a threat t on a row of the other parity. It answers in the same way but leaves
 * the column of t alone from below t's lower neighbour: the number of the other cells is even, so y has to play below
 * t in the end. In that column x gets the cells of t's parity below t. x wins at the latest when all is full to t.
 *
 * In both: y never gets the cells above another claimed cell where x wins.
 *
 * Returns a score above `above` that x is sure of on one of the boards where real is not 0, or NO_SCORE.
 */
INLINE int S(prove)(const solver *s, set x, bits y, set x_wins, set empty, set playable, set real, int left, int above)
{
    set later = empty & ~playable, claims = later & CLAIM;
    if (left % 2 == 0) {
        if (above > 0) return NO_SCORE;
        set may = empty & ~claims & ~S(upward)(s, x_wins & claims);
        set proven = S(zero)(S(lines)(s, y | may)) & real;
        if (above == 0) proven &= ~S(zero)(S(lines)(s, x | claims));
        return S(any)(proven) ? above + 1 : NO_SCORE;
    }
    for (bits threats = S(any)(x_wins & later & ~CLAIM & real); threats; threats &= threats - 1) {
        bits t = threats & -threats;
        int at = N(lowest)(t), row = at % HEIGHT + 1, score = N(win_score)(s, CELLS - ROWS + row);
        if (score <= above) continue;
        bits column = (((bits)2 << ROWS) - 1) << at / HEIGHT * HEIGHT, below = column & (t - 1);
        bits claim = (CLAIM & ~column) | (~CLAIM & below), keep = ~column | below;
        set may = empty & keep & ~(later & claim) & ~S(upward)(s, x_wins & claims & ~column);
        set proven = S(zero)(S(lines)(s, y | may)) & ~S(zero)(x_wins & later & t) & real;
        if (S(any)(proven)) return score;
    }
    return NO_SCORE;
}

#undef FOUR
#undef FOUR_MISSING_ONE
#endif

/* Searches random positions on many kinds of boards and compares values and best columns with a plain search that counts
   windows one by one: check_windows POSITIONS. Compiled with the sanitizers; prints the number of positions compared. */
#include "core.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 1 << 12 };     /* so small that entries push each other out */

static const evaluation weights = {
    .worth = {{1000, 10, 3, 1}, {-900, -7, -2, 0}}, .centre = 3, .won = 100000, .drawn = 1, .lost = -90000,
    .is_exact = 1, .has_ends = 1,
};
static int rows, columns, inarow, cell[128], height[MAX_COLUMNS];
static u64 random_state = 88172645463325252u;

static int random_below(int n)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (int)(random_state % (u64)n);
}

/* What all windows together are worth to a player; in *winner who has a line */
static i64 count_windows(const evaluation *e, int player, int *winner)
{
    static const int right[4] = {0, 1, 1, 1}, up[4] = {1, 0, 1, -1};
    i64 value = 0;
    *winner = 0;
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            int from_middle = 2 * c - columns + 1;
            if (cell[c * rows + r] == player && abs(from_middle) < 2) value += e->centre;
            for (int d = 0; d < 4; d++) {
                int discs[3] = {0}, c1 = c + (inarow - 1) * right[d], r1 = r + (inarow - 1) * up[d];
                if (c1 >= columns || r1 < 0 || r1 >= rows) continue;
                for (int i = 0; i < inarow; i++) discs[cell[(c + i * right[d]) * rows + r + i * up[d]]]++;
                for (int mark = 1; mark <= 2; mark++) {
                    if (discs[mark] == inarow) *winner = mark;
                    if (discs[mark] && !discs[3 - mark] && discs[0] < 4) value += e->worth[mark != player][discs[0]];
                }
            }
        }
    return value;
}

static i64 plain_search(const evaluation *e, int player, int mark, int depth, int stones, u32 *best_columns)
{
    int winner;
    i64 value = count_windows(e, player, &winner), best = mark == player ? INT64_MIN : INT64_MAX;
    if (winner && e->has_ends) return winner == player ? e->won : e->lost;
    if (!winner && e->has_ends && stones == rows * columns) return e->drawn;
    if (winner || stones == rows * columns || !depth) return value;
    for (int c = 0; c < columns; c++) {
        u32 ignored;
        if (height[c] == rows) continue;
        int at = c * rows + height[c]++;
        cell[at] = mark;
        i64 v = plain_search(e, player, 3 - mark, depth - 1, stones + 1, &ignored);
        cell[at] = 0, height[c]--;
        if (v == best) *best_columns |= (u32)1 << c;
        if (mark == player ? v > best : v < best) best = v, *best_columns = (u32)1 << c;
    }
    return best;
}

/* A random game of `target` moves; how many were played until it was over */
static int random_game(int target)
{
    int stones = 0, winner = 0;
    memset(cell, 0, sizeof cell), memset(height, 0, sizeof height);
    while (stones < target && !winner) {
        int c = random_below(columns);
        if (height[c] == rows) continue;
        cell[c * rows + height[c]++] = 1 + stones++ % 2;
        count_windows(&weights, 1, &winner);
    }
    return winner ? -1 : stones;
}

static void set_root(windows_search *s, int mark)
{
    u64 words[2][2] = {{0}};
    for (int i = 0; i < rows * columns; i++) {
        int at = i / rows * (rows + 1) + i % rows;
        if (cell[i]) words[cell[i] != mark][at / 64] |= (u64)1 << at % 64;
    }
    windows_set(s, words[0][0], words[0][1], words[1][0], words[1][1]);
}

static i64 search_to(windows_search *s, int depth, u32 *best_columns)
{
    i64 value;
    i32 ended;
    u8 line[PLIES];
    for (int d = 1; d <= depth; d++) {
        windows_begin(s, d);
        while (!windows_run(s, 100)) {}
    }
    int length = windows_found(s, &value, best_columns, &ended, line);
    return length < 1 || length > depth || !(*best_columns >> line[0] & 1) ? INT64_MIN : value;
}

int main(int argc, char **argv)
{
    /* rows, columns, inarow, depth */
    static const int boards[][4] = {
        {6, 7, 4, 4}, {4, 4, 3, 6}, {5, 4, 4, 5}, {6, 9, 4, 3}, {9, 7, 4, 3}, {8, 8, 5, 3}, {12, 9, 5, 3}, {9, 12, 7, 3},
        {3, 3, 3, 9}, {2, 2, 2, 4}, {3, 5, 1, 3}, {1, 10, 3, 4}, {8, 1, 3, 8}, {1, 1, 1, 1}, {7, 16, 6, 2}, {62, 1, 4, 9},
        {3, 32, 5, 2}, {4, 4, 16, 5}, {120, 1, 16, 9}, {10, 11, 5, 2},
    };
    static _Alignas(64) u64 table[TABLE_BYTES / 8];
    windows_search *s = aligned_alloc(16, windows_size());
    int compared = 0, wanted = argc > 1 ? atoi(argv[1]) : 20;
    for (unsigned b = 0; b < sizeof boards / sizeof *boards; b++) {
        rows = boards[b][0], columns = boards[b][1], inarow = boards[b][2];
        for (int i = 0, found = 0; found < wanted && i < 20 * wanted; i++) {
            int stones = random_game(random_below(rows * columns)), mark = 1 + random_below(2);
            if (stones < 0) continue;
            found++;
            for (int kind = 0; kind < 6; kind++) {      /* the last four do what only Python compares: see that they end */
                evaluation e = weights;
                u32 best_columns = 0, expected_columns = 0;
                e.has_ends = kind != 1, e.is_exact = kind != 2, e.quiet = kind < 3 ? 0 : 1 + kind % 2;
                e.pruned = e.parity = e.per_stone = kind == 5, e.hoped[0][0] = e.hoped[1][1] = ~(u64)0;
                int depth = 1 + random_below(boards[b][3]);
                memset(table, 0, sizeof table);
                if (windows_init(s, rows, columns, inarow, &e, (entry *)table, sizeof table)) return printf("init\n"), 1;
                set_root(s, mark);
                i64 value = search_to(s, depth, &best_columns);
                if (kind > 1 && value != INT64_MIN) continue;
                i64 expected = plain_search(&e, mark, mark, depth, stones, &expected_columns);
                if (value != expected || best_columns != expected_columns) {
                    printf("%dx%dx%d, kind %d: %lld (%x), not %lld (%x)\n", rows, columns, inarow, kind, (long long)value,
                           best_columns, (long long)expected, expected_columns);
                    return free(s), 1;
                }
                compared++;
            }
        }
    }
    free(s);
    printf("%d\n", compared);
    return 0;
}

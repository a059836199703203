/* Plays random games on many kinds of boards and compares the core with a plain search: check_core POSITIONS.
   Compiled with the sanitizers of the compiler at hand; prints the number of positions compared. */
#include "core.c"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 1 << 18 };     /* the smallest there may be */

static int rows, columns, inarow, cell[128], height[MAX_COLUMNS];
static u64 random_state = 88172645463325252u;

static int random_below(int n)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (int)(random_state % (u64)n);
}

static int drop(int column, int mark)
{
    static const int right[4] = {0, 1, 1, 1}, up[4] = {1, 0, 1, -1};
    int row = height[column]++;
    cell[column * rows + row] = mark;
    for (int d = 0; d < 4; d++) {
        int length = 1;
        for (int side = -1; side <= 1; side += 2)
            for (int i = 1;; i++) {
                int c = column + side * i * right[d], r = row + side * i * up[d];
                if (c < 0 || c >= columns || r < 0 || r >= rows || cell[c * rows + r] != mark) break;
                length++;
            }
        if (length >= inarow) return 1;
    }
    return 0;
}

static void take_back(int column) { cell[column * rows + --height[column]] = 0; }

static int plain_search(int stones, int mark)
{
    int best = stones == rows * columns ? 0 : NO_SCORE;
    for (int c = 0; c < columns; c++) {
        if (height[c] == rows) continue;
        int won = drop(c, mark);
        int score = won ? (rows * columns + 1 - stones) / 2 : -plain_search(stones + 1, 3 - mark);
        take_back(c);
        if (score > best) best = score;
    }
    return best;
}

/* A random game of `target` moves; how many were played, and in `won` whether the last one won */
static int random_game(u8 *moves, int target, int *won)
{
    int stones = 0;
    memset(cell, 0, sizeof cell), memset(height, 0, sizeof height);
    for (*won = 0; stones < target && !*won;) {
        int c = random_below(columns);
        if (height[c] == rows) continue;
        moves[stones] = (u8)c;
        *won = drop(c, 1 + stones++ % 2);
    }
    return stones;
}

static int fail(const char *what, int got, int expected)
{
    printf("%dx%dx%d: %s is %d, not %d\n", rows, columns, inarow, what, got, expected);
    return 1;
}

static int compare(solver *s, const u8 *moves, int stones, int won)
{
    i32 scores[MAX_COLUMNS];
    if (solver_position(s, moves, stones) != stones) return fail("the number of legal moves", s->p, stones);
    int got = solver_score(s, NO_SCORE, -NO_SCORE);
    if (won) return got != NO_SCORE && fail("the score of a game that is over", got, NO_SCORE);
    int expected = plain_search(stones, 1 + stones % 2), best = stones == s->cells ? 0 : NO_SCORE;
    if (got != expected) return fail("the score", got, expected);
    int sign = solver_score(s, -1, 1);
    if ((sign > 0) - (sign < 0) != (expected > 0) - (expected < 0)) return fail("the sign", sign, expected);
    solver_columns(s, NO_SCORE, -NO_SCORE, scores);
    for (int c = 0; c < columns; c++)
        if (scores[c] > best) best = scores[c];
    if (best != expected) return fail("the best column", best, expected);
    for (int known = 0; known < 2; known++) {
        u32 reached, columns_found = 0;
        got = solver_best(s, known ? expected : NO_SCORE, &reached);
        for (int c = 0; c < columns; c++) columns_found |= (u32)(scores[c] == expected) << c;
        if (got != expected) return fail("the score of the best columns", got, expected);
        if (reached != columns_found) return fail("the set of best columns", (int)reached, (int)columns_found);
    }
    return 0;
}

typedef struct { solver s; i32 score; } member;

static void *solve_in_thread(void *one)
{
    member *m = one;
    m->score = solver_score(&m->s, NO_SCORE, -NO_SCORE);
    return 0;
}

/* Two threads together find what one finds, on boards of each width */
static int compare_team(int wanted)
{
    static const int boards[][3] = {{6, 7, 4}, {5, 8, 4}, {9, 9, 4}};
    static _Alignas(32) u64 tables[3][TABLE_BYTES / 8];
    static _Alignas(32) member members[2];
    static u64 team[BUSY];
    if (solver_team_size() != sizeof team) return fail("the size of a team's memory", (int)solver_team_size(), sizeof team);
    for (int b = 0; b < 3; b++)
        for (int i = 0, found = 0; found < wanted && i < 100 * wanted; i++) {
            u8 moves[128];
            rows = boards[b][0], columns = boards[b][1], inarow = boards[b][2];
            int won, stones = random_game(moves, rows * columns - SPLIT_CELLS - 3, &won), expected = 0;
            if (won) continue;
            found++;
            for (int together = 0; together < 2; together++) {
                memset(tables, 0, sizeof tables);
                for (int k = 0; k <= together; k++) {
                    solver *s = &members[k].s;
                    solver_init(s, rows, columns, inarow, tables[0], TABLE_BYTES, tables[1 + k], TABLE_BYTES);
                    solver_position(s, moves, stones);
                    if (together) solver_team(s, team);
                }
                pthread_t other;
                if (together && pthread_create(&other, 0, solve_in_thread, &members[1])) return fail("a thread", 0, 1);
                solve_in_thread(&members[0]);
                if (together) pthread_join(other, 0);
                if (!together) expected = members[0].score;
            }
            for (int k = 0; k < 2; k++)
                if (members[k].score != expected) return fail("the score found in a team", members[k].score, expected);
        }
    return 0;
}

int main(int argc, char **argv)
{
    /* rows, columns, inarow, empty cells at most for the plain search */
    static const int boards[][4] = {
        {6, 7, 4, 8}, {4, 4, 3, 8}, {5, 4, 4, 9}, {6, 9, 4, 7}, {9, 7, 4, 7}, {8, 8, 5, 7}, {12, 9, 5, 6}, {9, 12, 7, 6},
        {6, 7, 5, 8}, {3, 3, 3, 9}, {2, 2, 2, 4}, {3, 5, 1, 9}, {1, 10, 3, 9}, {8, 1, 3, 8}, {1, 1, 1, 1}, {7, 16, 6, 6},
        {62, 1, 4, 9}, {3, 32, 5, 6}, {4, 4, 16, 7}, {120, 1, 16, 9}, {15, 8, 6, 6}, {7, 8, 4, 7},
    };
    static _Alignas(32) solver s;
    static _Alignas(32) u64 table[TABLE_BYTES / 8], near_table[TABLE_BYTES / 8];
    int compared = 0, wanted = argc > 1 ? atoi(argv[1]) : 50;
    for (unsigned b = 0; b < sizeof boards / sizeof *boards; b++) {
        u8 moves[128];
        rows = boards[b][0], columns = boards[b][1], inarow = boards[b][2];
        memset(table, 0, sizeof table), memset(near_table, 0, sizeof near_table);
        if (solver_init(&s, rows, columns, inarow, table, sizeof table, near_table, sizeof near_table)) return fail("init", 1, 0);
        for (int i = 0, late = 0; late < wanted && i < 100 * wanted; i++) {
            int won, stones = random_game(moves, rows * columns - random_below(boards[b][3] + 1), &won);
            late += !won;
            solver_generation(&s, (u32)(1 + i % 255));
            if (compare(&s, moves, stones, won)) return 1;
            compared++;
        }
    }
    if (compare_team(1 + wanted / 10)) return 1;
    printf("%d\n", compared);
    return 0;
}

/* Attention and scores of pairs within sequences that are packed one after the other.

   Nothing is padded that others would see, so a sequence's result does not depend on the others. */

#ifndef TARGET
#define SELF "attention.c"
#include "targets.h"
#else
#include "vector.h"

#define turn NAME(turn)
#define attend NAME(attend)
#define distribute NAME(distribute)

#ifndef PERIN_ATTENTION
#define PERIN_ATTENTION
enum { QUERIES = 16 };
/* Queries whose scores are held at a time. */
static inline int64_t up_to(int64_t multiple, int64_t n) { return (n + multiple - 1) / multiple * multiple; }
#endif

/* rows [n, size], stride apart, to columns [size, padded], times a scale, zero where there is no row. */
TARGET static void turn(const float *rows, int64_t n, int64_t size, int64_t stride, int64_t padded, float scale,
                        float *columns) {
    for (int64_t i = 0; i < size; i++) {
        for (int64_t row = 0; row < n; row++) columns[i * padded + row] = rows[row * stride + i] * scale;
        for (int64_t row = n; row < padded; row++) columns[i * padded + row] = 0.0f;
    }
}

/* One head of one sequence.  A row of queries and results has a stride of width, one of keys and values of 2 * width.
   keys_turned [size, padded], values_copied [n, wide], scores [QUERIES, padded], mixed [QUERIES, wide] are for use here. */
TARGET static void attend(const float *queries, int64_t rows, const float *keys, const float *values, int64_t n,
                          int64_t size, int64_t width, float *scratch, float *result) {
    const int64_t padded = up_to(PANEL, n), wide = up_to(PANEL, size);
    float *keys_turned = scratch, *values_copied = keys_turned + size * padded;
    float *scores = values_copied + n * wide, *mixed = scores + QUERIES * padded;
    turn(keys, n, size, 2 * width, padded, 1.0f / sqrtf((float)size), keys_turned);
    for (int64_t key = 0; key < n; key++) {
        memcpy(values_copied + key * wide, values + key * 2 * width, (size_t)size * sizeof(float));
        for (int64_t i = size; i < wide; i++) values_copied[key * wide + i] = 0.0f;
    }
    for (int64_t first = 0; first < rows; first += QUERIES) {
        const int64_t count = rows - first < QUERIES ? rows - first : QUERIES;
        float factors[QUERIES];
        NAME(multiply)(queries + first * width, count, size, width, keys_turned, padded, scores, padded);
        for (int64_t row = 0; row < count; row++) factors[row] = NAME(weigh)(scores + row * padded, n);
        NAME(multiply)(scores, count, n, padded, values_copied, wide, mixed, wide);
        for (int64_t row = 0; row < count; row++)
            for (int64_t i = 0; i < size; i++) result[(first + row) * width + i] = mixed[row * wide + i] * factors[row];
    }
}

/* queries [rows, heads * size] and memories [memory rows, 2 * heads * size], keys before values, to result [rows, heads *
   size].  lengths and memory_lengths [sequences] add up to the numbers of rows.  Who has nothing to attend to gets zeros.
   Returns 0, or 1 if there is no memory. */
TARGET int NAME(attention)(const float *queries, const float *memories, const int64_t *lengths,
                           const int64_t *memory_lengths, int64_t sequences, int64_t heads, int64_t size, float *result) {
    const int64_t width = heads * size, wide = up_to(PANEL, size);
    int64_t longest = 0;
    for (int64_t i = 0; i < sequences; i++) longest = memory_lengths[i] > longest ? memory_lengths[i] : longest;
    longest = up_to(PANEL, longest);
    float *scratch = malloc((size_t)((size + QUERIES + wide) * longest + QUERIES * wide + 1) * sizeof(float));
    if (scratch == NULL) return 1;
    for (int64_t i = 0; i < sequences; i++) {
        const int64_t n = memory_lengths[i];
        if (n == 0) memset(result, 0, (size_t)(lengths[i] * width) * sizeof(float));
        for (int64_t head = 0; head < heads && n > 0; head++) {
            const float *keys = memories + head * size;
            attend(queries + head * size, lengths[i], keys, keys + width, n, size, width, scratch, result + head * size);
        }
        queries += lengths[i] * width;
        result += lengths[i] * width;
        memories += n * 2 * width;
    }
    free(scratch);
    return 0;
}

/* Scores [outputs, padded] to distributions over the outputs, for each of the padded columns. */
TARGET static void distribute(float *scores, int64_t outputs, int64_t padded) {
    for (int64_t column = 0; column < padded; column += 8) {
        v8 most = load8(scores + column), total = all8(0.0f);
        for (int64_t output = 1; output < outputs; output++) most = max8(load8(scores + output * padded + column), most);
        for (int64_t output = 0; output < outputs; output++) {
            float *score = scores + output * padded + column;
            const v8 weight = exponential8(load8(score) - most);
            store8(score, weight);
            total += weight;
        }
        const v8 factor = all8(1.0f) / total;
        for (int64_t output = 0; output < outputs; output++) {
            float *score = scores + output * padded + column;
            store8(score, load8(score) * factor);
        }
    }
}

/* Probabilities of all pairs of each sequence: left [rows * outputs, inner] times right [right rows, inner], plus single
   [rows * outputs], as distributions over the outputs or each by itself, to [rows, outputs, right rows up to PANEL], one
   sequence after the other. */
TARGET int NAME(pairs)(const float *left, const float *single, const float *right, const int64_t *lengths,
                       const int64_t *right_lengths, int64_t sequences, int64_t outputs, int64_t inner, int distribution,
                       float *result) {
    int64_t longest = 0;
    for (int64_t i = 0; i < sequences; i++) longest = right_lengths[i] > longest ? right_lengths[i] : longest;
    float *turned = malloc((size_t)(inner * up_to(PANEL, longest) + 1) * sizeof(float));
    if (turned == NULL) return 1;
    for (int64_t i = 0; i < sequences; i++) {
        const int64_t padded = up_to(PANEL, right_lengths[i]);
        turn(right, right_lengths[i], inner, inner, padded, 1.0f, turned);
        for (int64_t row = 0; row < lengths[i]; row++) {
            NAME(multiply)(left, outputs, inner, inner, turned, padded, result, padded);
            for (int64_t output = 0; output < outputs; output++) {
                const v8 more = all8(single[output]);
                for (int64_t j = 0; j < padded; j += 8)
                    store8(result + output * padded + j, load8(result + output * padded + j) + more);
            }
            if (distribution) distribute(result, outputs, padded);
            else NAME(activate)(result, outputs * padded, SIGMOID);
            left += outputs * inner;
            single += outputs;
            result += outputs * padded;
        }
        right += right_lengths[i] * inner;
    }
    free(turned);
    return 0;
}
#endif

/* Attention within sequences that are packed one after the other.

   Nothing is padded that others would see, so a sequence's result does not depend on the others. */

#ifndef TARGET
#define SELF "attention.c"
#include "targets.h"
#else
#include "vector.h"

#define turn_square NAME(turn_square)
#define turn NAME(turn)
#define attend NAME(attend)

#ifndef PERIN_ATTENTION
#define PERIN_ATTENTION
enum { QUERIES = 16 };
/* Queries whose scores are held at a time. */
#endif

#if LEVEL > 0
/* Eight rows of eight numbers to columns. */
INLINE void turn_square(const float *rows, int64_t stride, float scale, float *columns, int64_t padded) {
    __m256 row[8], pair[8], four[8];
    for (int i = 0; i < 8; i++) row[i] = _mm256_mul_ps(_mm256_loadu_ps(rows + i * stride), _mm256_set1_ps(scale));
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int half = 0; half < 2; half++) {
            four[i + 2 * half] = _mm256_shuffle_ps(pair[i + half], pair[i + half + 2], 0x44);
            four[i + 2 * half + 1] = _mm256_shuffle_ps(pair[i + half], pair[i + half + 2], 0xee);
        }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(columns + i * padded, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(columns + (i + 4) * padded, _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}
#endif

/* rows [n, size], stride apart, to columns [size, padded], times a scale, zero where there is no row. */
TARGET void turn(const float *rows, int64_t n, int64_t size, int64_t stride, int64_t padded, float scale, float *columns) {
    int64_t first = 0;
#if LEVEL > 0
    if (size % 8 == 0)
        for (; first + 8 <= n; first += 8)
            for (int64_t i = 0; i < size; i += 8)
                turn_square(rows + first * stride + i, stride, scale, columns + i * padded + first, padded);
#endif
    for (int64_t i = 0; i < size; i++) {
        for (int64_t row = first; row < n; row++) columns[i * padded + row] = rows[row * stride + i] * scale;
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
#endif

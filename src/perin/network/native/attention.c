/* Attention within sequences that are packed one after the other, for x86 processors with AVX2.

   Nothing is padded, so that a sequence's result does not depend on the others. */

#include "avx2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 16 };
/* Of a tile, whose sums fit the registers: queries, and keys or features of values. */

/* The product of ROWS rows of n numbers and n rows, stride apart, of COLUMNS numbers. */
AVX2 static inline void multiply(const float *const left[ROWS], int64_t n, const float *right, int64_t stride,
                                 __m256 sums[ROWS][2]) {
    __m256 sum[ROWS][2];
    for (int row = 0; row < ROWS; row++) sum[row][0] = sum[row][1] = _mm256_setzero_ps();
    for (int64_t i = 0; i < n; i++, right += stride) {
        const __m256 first = _mm256_loadu_ps(right), second = _mm256_loadu_ps(right + 8);
        for (int row = 0; row < ROWS; row++) {
            const __m256 factor = _mm256_broadcast_ss(left[row] + i);
            sum[row][0] = _mm256_fmadd_ps(factor, first, sum[row][0]);
            sum[row][1] = _mm256_fmadd_ps(factor, second, sum[row][1]);
        }
    }
    memcpy(sums, sum, sizeof sum);
}

/* Scores of n keys, padded to whole tiles, to e^(score - largest), 0 for what is padded; returns 1 / their sum. */
AVX2 static float weighed(float *scores, int64_t n, int64_t padded) {
    for (int64_t i = n; i < padded; i++) scores[i] = -INFINITY;
    __m256 largest8 = _mm256_loadu_ps(scores), sum8 = _mm256_setzero_ps();
    for (int64_t i = 8; i < padded; i += 8) largest8 = _mm256_max_ps(largest8, _mm256_loadu_ps(scores + i));
    float parts[8], largest = -INFINITY, sum = 0.0f;
    _mm256_storeu_ps(parts, largest8);
    for (int i = 0; i < 8; i++) largest = parts[i] > largest ? parts[i] : largest;
    largest8 = _mm256_set1_ps(largest);
    for (int64_t i = 0; i < padded; i += 8) {
        const __m256 weight = exponential(_mm256_sub_ps(_mm256_loadu_ps(scores + i), largest8));
        _mm256_storeu_ps(scores + i, weight);
    }
    for (int64_t i = n; i < padded; i++) scores[i] = 0.0f;
    for (int64_t i = 0; i < padded; i += 8) sum8 = _mm256_add_ps(sum8, _mm256_loadu_ps(scores + i));
    _mm256_storeu_ps(parts, sum8);
    for (int i = 0; i < 8; i++) sum += parts[i];
    return 1.0f / sum;
}

/* One head of one sequence.  A row of queries and results has a stride of width, one of keys and values of 2 * width.
   turned [size, padded] and scores [ROWS, padded] are for use here. */
AVX2 static void attend(const float *queries, int64_t rows, const float *keys, const float *values, int64_t n, int64_t size,
                        int64_t width, int64_t padded, float *turned, float *scores, float *result) {
    const float scale = 1.0f / sqrtf((float)size);
    for (int64_t i = 0; i < size; i++) {
        for (int64_t key = 0; key < n; key++) turned[i * padded + key] = keys[key * 2 * width + i] * scale;
        for (int64_t key = n; key < padded; key++) turned[i * padded + key] = 0.0f;
    }
    for (int64_t first = 0; first < rows; first += ROWS) {
        const float *left[ROWS];
        __m256 sums[ROWS][2];
        float factors[ROWS];
        for (int row = 0; row < ROWS; row++) left[row] = queries + (first + row < rows ? first + row : rows - 1) * width;
        for (int64_t key = 0; key < padded; key += COLUMNS) {
            multiply(left, size, turned + key, padded, sums);
            for (int row = 0; row < ROWS; row++) {
                _mm256_storeu_ps(scores + row * padded + key, sums[row][0]);
                _mm256_storeu_ps(scores + row * padded + key + 8, sums[row][1]);
            }
        }
        for (int row = 0; row < ROWS; row++) {
            left[row] = scores + row * padded;
            factors[row] = weighed(scores + row * padded, n, padded);
        }
        for (int64_t i = 0; i < size; i += COLUMNS) {
            multiply(left, n, values + i, 2 * width, sums);
            for (int row = 0; row < ROWS && first + row < rows; row++) {
                float *target = result + (first + row) * width + i;
                const __m256 factor = _mm256_set1_ps(factors[row]);
                _mm256_storeu_ps(target, _mm256_mul_ps(factor, sums[row][0]));
                _mm256_storeu_ps(target + 8, _mm256_mul_ps(factor, sums[row][1]));
            }
        }
    }
}

/* queries [rows, heads * size] and memories [memory rows, 2 * heads * size], keys before values, to result [rows, heads *
   size].  lengths and memory_lengths [sequences] add up to the numbers of rows; size is a multiple of COLUMNS.  Who
   has nothing to attend to gets zeros.  Returns 0, or 1 if there is no memory. */
AVX2 int attention(const float *queries, const float *memories, const int64_t *lengths, const int64_t *memory_lengths,
                   int64_t sequences, int64_t heads, int64_t size, float *result) {
    const int64_t width = heads * size;
    int64_t longest = 0;
    for (int64_t i = 0; i < sequences; i++) longest = memory_lengths[i] > longest ? memory_lengths[i] : longest;
    longest = (longest + COLUMNS - 1) / COLUMNS * COLUMNS;
    float *turned = malloc((size_t)((size + ROWS) * longest + 1) * sizeof(float));
    if (turned == NULL) return 1;
    for (int64_t i = 0; i < sequences; i++) {
        const int64_t padded = (memory_lengths[i] + COLUMNS - 1) / COLUMNS * COLUMNS;
        if (padded == 0) memset(result, 0, (size_t)(lengths[i] * width) * sizeof(float));
        for (int64_t head = 0; head < heads && padded > 0; head++) {
            const float *keys = memories + head * size;
            attend(queries + head * size, lengths[i], keys, keys + width, memory_lengths[i], size, width, padded, turned,
                   turned + size * padded, result + head * size);
        }
        queries += lengths[i] * width;
        result += lengths[i] * width;
        memories += memory_lengths[i] * 2 * width;
    }
    free(turned);
    return 0;
}

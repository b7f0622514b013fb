/* Linear layers with eight-bit numbers, for x86 processors with AVX2.

   The rows of the input are rounded here, each by a scale of its own: to whole numbers from -127 to 127, stored as 1 to
   255.  Weights were rounded and packed before (kernels.py) such that the sum of four products fits 16 bits; two of the
   processor's instructions, each of which adds two products, can then be added before the sum is widened to 32 bits.
   All sums are exact, and a row's result does not depend on the other rows. */

#include "avx2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, OUTPUTS = 16, STEP = 8 };
/* Of a tile, whose sums fit the registers: rows of the input, outputs, and inputs that are multiplied at a time. */
enum { BLOCK = 32 };
/* Rows that go through a layer together, few enough to stay in the cache. */
enum { RELU, GELU };
/* Activations between two layers. */

/* A layer; arrays are as kernels.py makes them: for a whole number of tiles. */
struct layer {
    int64_t inputs, outputs;
    const int8_t *packed;
    const float *scales;
    const int32_t *offsets;
    const float *bias;
};

static const float LARGEST = 127.0f, SMALLEST = 1e-12f;

static inline int64_t up_to(int64_t multiple, int64_t n) { return (n + multiple - 1) / multiple * multiple; }

/* Rounds a row of n numbers, followed by zeros up to padded; returns what a rounded number is to be multiplied with. */
AVX2 static float rounded(const float *x, int64_t n, int64_t padded, uint8_t *result) {
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 largest8 = _mm256_set1_ps(SMALLEST);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) largest8 = _mm256_max_ps(largest8, _mm256_and_ps(magnitude, _mm256_loadu_ps(x + i)));
    float parts[8], largest = SMALLEST;
    _mm256_storeu_ps(parts, largest8);
    for (int j = 0; j < 8; j++) largest = parts[j] > largest ? parts[j] : largest;
    for (; i < n; i++) largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;

    const float factor = LARGEST / largest;
    const __m256 factor8 = _mm256_set1_ps(factor);
    const __m256i zero = _mm256_set1_epi16(128), in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (i = 0; i + 32 <= n; i += 32) {
        __m256i part[4];
        for (int j = 0; j < 4; j++) part[j] = _mm256_cvtps_epi32(_mm256_mul_ps(factor8, _mm256_loadu_ps(x + i + 8 * j)));
        const __m256i low = _mm256_add_epi16(_mm256_packs_epi32(part[0], part[1]), zero);
        const __m256i high = _mm256_add_epi16(_mm256_packs_epi32(part[2], part[3]), zero);
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), in_order);
        _mm256_storeu_si256((__m256i *)(result + i), bytes);
    }
    for (; i < n; i++) result[i] = (uint8_t)((int)nearbyintf(x[i] * factor) + 128);
    if (i < padded) memset(result + i, 0, (size_t)(padded - i));
    return largest / LARGEST;
}

/* Two halves of a row of a tile: sums over eight inputs, of which weights[0] and [2], [1] and [3] are those of a half. */
AVX2 static inline void add_products(const uint8_t *inputs, const __m256i weights[4], __m256i sums[2]) {
    const __m256i ones = _mm256_set1_epi16(1);
    int32_t four[2];
    memcpy(four, inputs, sizeof four);
    const __m256i first = _mm256_set1_epi32(four[0]), second = _mm256_set1_epi32(four[1]);
    for (int half = 0; half < 2; half++) {
        const __m256i products = _mm256_add_epi16(
            _mm256_maddubs_epi16(first, weights[half]), _mm256_maddubs_epi16(second, weights[half + 2]));
        sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(products, ones));
    }
}

/* The products of ROWS rows of n inputs with the weights of OUTPUTS outputs. */
AVX2 static inline void multiply(const uint8_t *inputs, int64_t n, const int8_t *packed, __m256i sums[ROWS][2]) {
    __m256i sum[ROWS][2];
    for (int row = 0; row < ROWS; row++) sum[row][0] = sum[row][1] = _mm256_setzero_si256();
    for (int64_t i = 0; i < n; i += STEP, packed += STEP * OUTPUTS) {
        __m256i weights[4];
        for (int part = 0; part < 4; part++) weights[part] = _mm256_loadu_si256((const __m256i *)packed + part);
        add_products(inputs + i, weights, sum[0]);
        add_products(inputs + n + i, weights, sum[1]);
        add_products(inputs + 2 * n + i, weights, sum[2]);
        add_products(inputs + 3 * n + i, weights, sum[3]);
    }
    memcpy(sums, sum, sizeof sum);
}

/* Up to BLOCK rows x [count, inputs] to result [count, outputs]; inputs [BLOCK, inputs and padding] is for use here. */
AVX2 static void apply(const struct layer *layer, const float *x, int64_t count, uint8_t *inputs, float *result) {
    const int64_t padded = up_to(STEP, layer->inputs);
    float row_scales[BLOCK];
    for (int64_t row = 0; row < count; row++)
        row_scales[row] = rounded(x + row * layer->inputs, layer->inputs, padded, inputs + row * padded);
    for (int64_t output = 0; output < layer->outputs; output += OUTPUTS) {
        const int64_t width = layer->outputs - output < OUTPUTS ? layer->outputs - output : OUTPUTS;
        for (int64_t first = 0; first < count; first += ROWS) {
            __m256i sums[ROWS][2];
            multiply(inputs + first * padded, padded, layer->packed + output * padded, sums);
            for (int64_t row = first; row < first + ROWS && row < count; row++) {
                float *target = result + row * layer->outputs + output, values[OUTPUTS];
                float *complete = width == OUTPUTS ? target : values;
                const __m256 row_scale = _mm256_set1_ps(row_scales[row]);
                for (int64_t half = 0; half < 2; half++) {
                    const int64_t place = output + 8 * half;
                    const __m256i offset = _mm256_loadu_si256((const __m256i *)(layer->offsets + place));
                    const __m256 whole = _mm256_cvtepi32_ps(_mm256_sub_epi32(sums[row - first][half], offset));
                    const __m256 scale = _mm256_mul_ps(row_scale, _mm256_loadu_ps(layer->scales + place));
                    _mm256_storeu_ps(complete + 8 * half, _mm256_fmadd_ps(whole, scale, _mm256_loadu_ps(layer->bias + place)));
                }
                if (width < OUTPUTS) memcpy(target, values, (size_t)width * sizeof(float));
            }
        }
    }
}

/* x times the normal distribution up to x, whose error function is that of Abramowitz and Stegun, 7.1.26 (1.5e-7). */
AVX2 static inline __m256 gelu(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f), sign_bit = _mm256_set1_ps(-0.0f);
    const __m256 scaled = _mm256_mul_ps(x, _mm256_set1_ps(0.70710678f)), z = _mm256_andnot_ps(sign_bit, scaled);
    const __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(z, _mm256_set1_ps(0.3275911f), one));
    static const float series[] = {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f};
    __m256 tail = _mm256_set1_ps(series[0]);
    for (int i = 1; i < 5; i++) tail = _mm256_fmadd_ps(tail, t, _mm256_set1_ps(series[i]));
    tail = _mm256_mul_ps(_mm256_mul_ps(tail, t), exponential(_mm256_mul_ps(z, _mm256_xor_ps(z, sign_bit))));
    const __m256 error = _mm256_or_ps(_mm256_sub_ps(one, tail), _mm256_and_ps(sign_bit, scaled));
    return _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(0.5f)), _mm256_add_ps(one, error));
}

/* n numbers, a multiple of 8, in place. */
AVX2 static void activate(float *x, int64_t n, int activation) {
    const __m256 zero = _mm256_setzero_ps();
    if (activation == RELU)
        for (int64_t i = 0; i < n; i += 8) _mm256_storeu_ps(x + i, _mm256_max_ps(_mm256_loadu_ps(x + i), zero));
    else
        for (int64_t i = 0; i < n; i += 8) _mm256_storeu_ps(x + i, gelu(_mm256_loadu_ps(x + i)));
}

/* x [rows, inputs] to result [rows, outputs].  Returns 0, or 1 if there is no memory. */
int linear(const struct layer *layer, const float *x, int64_t rows, float *result) {
    uint8_t *inputs = calloc(BLOCK, (size_t)up_to(STEP, layer->inputs));
    if (inputs == NULL) return 1;
    for (int64_t row = 0; row < rows; row += BLOCK)
        apply(layer, x + row * layer->inputs, rows - row < BLOCK ? rows - row : BLOCK, inputs, result + row * layer->outputs);
    free(inputs);
    return 0;
}

/* The same through two layers with an activation between them; nothing between them leaves the cache. */
int feedforward(const struct layer *first, const struct layer *second, int activation, const float *x, int64_t rows,
                float *result) {
    const int64_t widest = first->inputs > second->inputs ? first->inputs : second->inputs;
    uint8_t *inputs = calloc(BLOCK, (size_t)up_to(STEP, widest));
    float *inner = calloc((size_t)up_to(8, BLOCK * first->outputs), sizeof(float));
    const int failed = inputs == NULL || inner == NULL;
    for (int64_t row = 0; row < rows && !failed; row += BLOCK) {
        const int64_t count = rows - row < BLOCK ? rows - row : BLOCK;
        apply(first, x + row * first->inputs, count, inputs, inner);
        activate(inner, up_to(8, count * first->outputs), activation);
        apply(second, inner, count, inputs, result + row * second->outputs);
    }
    free(inputs);
    free(inner);
    return failed;
}

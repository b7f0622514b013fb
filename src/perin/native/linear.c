/* Linear layers in 32 and in eight bits, and what follows them row by row.

   In eight bits the rows of the input are rounded here, each by a scale of its own: to whole numbers from -127 to 127,
   stored as 1 to 255.  Weights were rounded and packed before (inference/layers.py) such that the sum of four products
   fits 16 bits; two of AVX2's instructions, each of which adds two products, can then be added before the sum is widened
   to 32 bits.  All sums are exact.  A row's result does not depend on the other rows. */

#ifndef TARGET
#define SELF "linear.c"
#include "targets.h"
#else
#include "vector.h"

#define rounded NAME(rounded)
#define products NAME(products)
#define whole_products NAME(whole_products)
#define wide_products NAME(wide_products)
#define apply_whole NAME(apply_whole)
#define gelu8 NAME(gelu8)
#define tanh8 NAME(tanh8)
#define activated8 NAME(activated8)
#define apply NAME(apply)
#define activate NAME(activate)
#define multiply NAME(multiply)
#define weigh NAME(weigh)
#define add NAME(add)

#undef ROWS
#if LEVEL == 2
#define ROWS 8
#else
#define ROWS 4
#endif
/* Rows of a tile, whose sums fit the registers. */

#ifndef PERIN_LINEAR
#define PERIN_LINEAR
static inline int64_t up_to(int64_t multiple, int64_t n) { return (n + multiple - 1) / multiple * multiple; }
#endif

/* Rounds a row of n numbers, followed by zeros up to padded; returns what a rounded number is to be multiplied with. */
TARGET static float rounded(const float *x, int64_t n, int64_t padded, uint8_t *result) {
    float largest = 1e-12f;
    int64_t i = 0;
#if LEVEL == 2
    __m512 widest = _mm512_set1_ps(largest);
    for (; i + 16 <= n; i += 16) widest = _mm512_max_ps(widest, _mm512_abs_ps(_mm512_loadu_ps(x + i)));
    largest = _mm512_reduce_max_ps(widest);
#else
    v8 most = all8(largest);
    for (; i + 8 <= n; i += 8) most = max8(most, (v8)((i8)load8(x + i) & 0x7fffffff));
    largest = largest8(most);
#endif
    for (; i < n; i++) largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    const float factor = 127.0f / largest;
    i = 0;
#if LEVEL == 2
    const __m512 factors = _mm512_set1_ps(factor);
    for (; i + 16 <= n; i += 16) {
        const __m512i part = _mm512_cvtps_epi32(_mm512_mul_ps(factors, _mm512_loadu_ps(x + i)));
        _mm_storeu_si128((__m128i *)(result + i), _mm512_cvtepi32_epi8(_mm512_add_epi32(part, _mm512_set1_epi32(128))));
    }
#elif LEVEL == 1
    const __m256 factor8 = _mm256_set1_ps(factor);
    const __m256i zero = _mm256_set1_epi16(128), in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 32 <= n; i += 32) {
        __m256i part[4];
        for (int j = 0; j < 4; j++) part[j] = _mm256_cvtps_epi32(_mm256_mul_ps(factor8, _mm256_loadu_ps(x + i + 8 * j)));
        const __m256i low = _mm256_add_epi16(_mm256_packs_epi32(part[0], part[1]), zero);
        const __m256i high = _mm256_add_epi16(_mm256_packs_epi32(part[2], part[3]), zero);
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), in_order);
        _mm256_storeu_si256((__m256i *)(result + i), bytes);
    }
#endif
    for (; i < n; i++) result[i] = (uint8_t)((int)((x[i] * factor + 12582912.0f) - 12582912.0f) + 128);
    if (i < padded) memset(result + i, 0, (size_t)(padded - i));
    return largest / 127.0f;
}

/* The sums of ROWS rows of n rounded inputs for the outputs of a panel. */
INLINE void whole_products(const uint8_t *inputs, int64_t n, const int8_t *packed,
                                         int32_t sums[ROWS][PANEL]) {
#if LEVEL == 1
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[ROWS][2];
    for (int row = 0; row < ROWS; row++) sum[row][0] = sum[row][1] = _mm256_setzero_si256();
    for (int64_t i = 0; i < n; i += STEP, packed += STEP * PANEL) {
        __m256i weights[4];
        for (int part = 0; part < 4; part++) weights[part] = _mm256_loadu_si256((const __m256i *)packed + part);
        for (int row = 0; row < ROWS; row++) {
            int32_t four[2];
            memcpy(four, inputs + row * n + i, sizeof four);
            const __m256i first = _mm256_set1_epi32(four[0]), second = _mm256_set1_epi32(four[1]);
            for (int half = 0; half < 2; half++) {
                const __m256i pair = _mm256_add_epi16(
                    _mm256_maddubs_epi16(first, weights[half]), _mm256_maddubs_epi16(second, weights[half + 2]));
                sum[row][half] = _mm256_add_epi32(sum[row][half], _mm256_madd_epi16(pair, ones));
            }
        }
    }
    memcpy(sums, sum, sizeof sum);
#else
    memset(sums, 0, sizeof(int32_t) * ROWS * PANEL);
    for (int64_t i = 0; i < n; i += 4, packed += 4 * PANEL)
        for (int row = 0; row < ROWS; row++) {
            const uint8_t *four = inputs + row * n + i;
            for (int output = 0; output < PANEL; output++) {
                const int8_t *weights = packed + 4 * output;
                sums[row][output] += four[0] * weights[0] + four[1] * weights[1] + four[2] * weights[2] + four[3] * weights[3];
            }
        }
#endif
}

/* The product of up to four rows of n numbers and n rows, stride apart, of PANEL numbers. */
INLINE void products(const float *const left[4], int64_t n, const float *right, int64_t stride,
                                   v8 sums[4][2]) {
    v8 sum[4][2];
    for (int row = 0; row < 4; row++) sum[row][0] = sum[row][1] = all8(0.0f);
    for (int64_t i = 0; i < n; i++, right += stride) {
        const v8 first = load8(right), second = load8(right + 8);
        for (int row = 0; row < 4; row++) {
            const v8 factor = all8(left[row][i]);
            sum[row][0] = fma8(factor, first, sum[row][0]);
            sum[row][1] = fma8(factor, second, sum[row][1]);
        }
    }
    memcpy(sums, sum, sizeof sum);
}

#if LEVEL == 2
/* The same for count rows, in registers twice as wide: the same operations in the same order, so the same bits. */
INLINE void wide_products(const float *const *left, int count, int64_t n, const float *right, int64_t stride,
                          float *result, int64_t result_stride, int64_t rows) {
    __m512 sum[8];
    for (int row = 0; row < count; row++) sum[row] = _mm512_setzero_ps();
    for (int64_t i = 0; i < n; i++, right += stride) {
        const __m512 factors = _mm512_loadu_ps(right);
        for (int row = 0; row < count; row++) sum[row] = _mm512_fmadd_ps(_mm512_set1_ps(left[row][i]), factors, sum[row]);
    }
    for (int row = 0; row < count && row < rows; row++) _mm512_storeu_ps(result + row * result_stride, sum[row]);
}
#endif

/* left [rows, n] times right [n, columns, a multiple of PANEL] to result; the rows of left and of result have strides. */
TARGET void multiply(const float *left, int64_t rows, int64_t n, int64_t stride, const float *right, int64_t columns,
                     float *result, int64_t result_stride) {
    int64_t first = 0;
#if LEVEL == 2
    for (; first < rows; first += 8) {
        const int64_t here = rows - first < 8 ? rows - first : 8;
        const float *chosen[8];
        for (int64_t row = 0; row < 8; row++) chosen[row] = left + (first + (row < here ? row : here - 1)) * stride;
        float *target = result + first * result_stride;
        for (int64_t column = 0; column < columns; column += PANEL)
            if (here > 4) wide_products(chosen, 8, n, right + column, columns, target + column, result_stride, here);
            else wide_products(chosen, 4, n, right + column, columns, target + column, result_stride, here);
    }
#endif
    for (; first < rows; first += 4) {
        const float *chosen[4];
        for (int64_t row = 0; row < 4; row++) chosen[row] = left + (first + row < rows ? first + row : rows - 1) * stride;
        for (int64_t column = 0; column < columns; column += PANEL) {
            v8 sums[4][2];
            products(chosen, n, right + column, columns, sums);
            for (int64_t row = 0; row < 4 && first + row < rows; row++)
                memcpy(result + (first + row) * result_stride + column, sums[row], sizeof sums[row]);
        }
    }
}

#if LEVEL == 2
/* What apply does with rounded rows, for panels of outputs from one on: a tile of ROWS rows and so many panels at a
   time, so that each group of inputs is loaded once for all of them. */
INLINE void apply_whole(const struct layer *layer, const uint8_t *inputs, const float *row_scales, int64_t count,
                        int64_t output, int panels, float *result) {
    const int64_t padded = up_to(STEP, layer->inputs), outputs = layer->outputs;
    const int8_t *packed = (const int8_t *)layer->packed + output * padded;
    for (int64_t first = 0; first < count; first += ROWS) {
        const uint8_t *rows = inputs + first * padded;
        __m512i sum[2][ROWS];
        for (int panel = 0; panel < panels; panel++)
            for (int row = 0; row < ROWS; row++) sum[panel][row] = _mm512_setzero_si512();
        for (int64_t i = 0; i < padded; i += 4) {
            __m512i weights[2];
            for (int panel = 0; panel < panels; panel++)
                weights[panel] = _mm512_loadu_si512(packed + panel * PANEL * padded + i * PANEL);
            for (int row = 0; row < ROWS; row++) {
                int32_t four;
                memcpy(&four, rows + row * padded + i, sizeof four);
                const __m512i fours = _mm512_set1_epi32(four);
                for (int panel = 0; panel < panels; panel++)
                    sum[panel][row] = _mm512_dpbusd_epi32(sum[panel][row], fours, weights[panel]);
            }
        }
        for (int panel = 0; panel < panels; panel++) {
            const int64_t place = output + panel * PANEL, width = outputs - place < PANEL ? outputs - place : PANEL;
            const __m512i offsets = _mm512_loadu_si512(layer->offsets + place);
            const __m512 scales = _mm512_loadu_ps(layer->scales + place), bias = _mm512_loadu_ps(layer->bias + place);
            const __mmask16 real = (__mmask16)((1u << width) - 1);
            for (int64_t row = 0; row < ROWS && first + row < count; row++) {
                const __m512 whole = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum[panel][row], offsets));
                const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(row_scales[first + row]), scales);
                _mm512_mask_storeu_ps(result + (first + row) * outputs + place, real, _mm512_fmadd_ps(whole, scale, bias));
            }
        }
    }
}
#endif

/* Up to BLOCK rows x [count, inputs] to result [count, outputs]; scratch is [BLOCK, inputs and padding]. */
TARGET int apply(const struct layer *layer, const float *x, int64_t count, float *result, uint8_t *scratch) {
    const int64_t inputs = layer->inputs, padded = up_to(STEP, inputs), outputs = layer->outputs;
    float row_scales[BLOCK];
    if (layer->bits == 8)
        for (int64_t row = 0; row < count; row++)
            row_scales[row] = rounded(x + row * inputs, inputs, padded, scratch + row * padded);
#if LEVEL == 2
    if (layer->bits == 8) {
        int64_t place = 0;
        for (; place + PANEL < outputs; place += 2 * PANEL) apply_whole(layer, scratch, row_scales, count, place, 2, result);
        if (place < outputs) apply_whole(layer, scratch, row_scales, count, place, 1, result);
        return 0;
    }
#endif
    for (int64_t output = 0; output < outputs; output += PANEL) {
        const int64_t width = outputs - output < PANEL ? outputs - output : PANEL;
        const v8 bias[2] = {load8(layer->bias + output), load8(layer->bias + output + 8)};
        const int tile = layer->bits == 8 ? ROWS : 4;
        for (int64_t first = 0; first < count; first += tile) {
            v8 values[ROWS][2];
            if (layer->bits == 8) {
                int32_t sums[ROWS][PANEL];
                whole_products(scratch + first * padded, padded, (const int8_t *)layer->packed + output * padded, sums);
                for (int64_t row = 0; row < ROWS && first + row < count; row++) {
                    const v8 row_scale = all8(row_scales[first + row]);
                    for (int half = 0; half < 2; half++) {
                        const int64_t place = output + 8 * half;
                        v8 whole;
                        for (int i = 0; i < 8; i++)
                            whole[i] = (float)(sums[row][8 * half + i] - layer->offsets[place + i]);
                        values[row][half] = fma8(whole, row_scale * load8(layer->scales + place), bias[half]);
                    }
                }
            } else {
                const float *chosen[4];
                for (int64_t row = 0; row < 4; row++)
                    chosen[row] = x + (first + row < count ? first + row : count - 1) * inputs;
                products(chosen, inputs, (const float *)layer->packed + output * inputs, PANEL, values);
                for (int row = 0; row < 4; row++)
                    for (int half = 0; half < 2; half++) values[row][half] += bias[half];
            }
            for (int64_t row = 0; row < tile && first + row < count; row++)
                memcpy(result + (first + row) * outputs + output, values[row], (size_t)width * sizeof(float));
        }
    }
    return 0;
}

INLINE v8 tanh8(v8 x) {
    const i8 sign = (i8)x & (int32_t)0x80000000;
    const v8 one = all8(1.0f), size = (v8)((i8)x & 0x7fffffff), small = exponential8(size * all8(-2.0f));
    return (v8)((i8)((one - small) / (one + small)) | sign);
}

/* x times the normal distribution up to x, whose error function is that of Abramowitz and Stegun, 7.1.26 (1.5e-7). */
INLINE v8 gelu8(v8 x) {
    const v8 one = all8(1.0f), scaled = x * all8(0.70710678f), z = (v8)((i8)scaled & 0x7fffffff);
    const v8 t = one / fma8(z, all8(0.3275911f), one);
    v8 tail = all8(1.061405429f);
    tail = fma8(tail, t, all8(-1.453152027f));
    tail = fma8(tail, t, all8(1.421413741f));
    tail = fma8(tail, t, all8(-0.284496736f));
    tail = fma8(tail, t, all8(0.254829592f));
    tail = tail * t * exponential8(z * -z);
    const v8 error = (v8)((i8)(one - tail) | ((i8)scaled & (int32_t)0x80000000));
    return x * all8(0.5f) * (one + error);
}

INLINE v8 activated8(v8 x, int activation) {
    const v8 zero = all8(0.0f), one = all8(1.0f);
    switch (activation) {
    case RELU: return max8(x, zero);
    case GELU: return gelu8(x);
    case GELU_TANH: return x * all8(0.5f) * (one + tanh8(all8(0.79788456f) * fma8(x * x * x, all8(0.044715f), x)));
    case TANH: return tanh8(x);
    case ELU: return choose8(x > zero, x, exponential8(choose8(x > zero, zero, x)) - one);
    case SIGMOID: {
        const v8 small = exponential8((v8)((i8)x | (int32_t)0x80000000)), part = one / (one + small);
        return choose8(x < zero, small * part, part);
    }
    default: return x;
    }
}

/* n numbers in place. */
TARGET void activate(float *x, int64_t n, int activation) {
    if (activation == NONE) return;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8(x + i, activated8(load8(x + i), activation));
    if (i < n) {
        float rest[8] = {0.0f};
        memcpy(rest, x + i, (size_t)(n - i) * sizeof(float));
        store8(rest, activated8(load8(rest), activation));
        memcpy(x + i, rest, (size_t)(n - i) * sizeof(float));
    }
}

INLINE void add(float *x, const float *added, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8(x + i, load8(x + i) + load8(added + i));
    for (; i < n; i++) x[i] += added[i];
}

/* n scores to e^(score - largest); returns 1 / their sum. */
TARGET float weigh(float *scores, int64_t n) {
    const float infinity = INFINITY;
    v8 most = all8(-infinity), total = all8(0.0f);
    float rest[8];
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) most = max8(load8(scores + i), most);
    const int64_t whole = i;
    for (int64_t j = 0; j < 8; j++) rest[j] = whole + j < n ? scores[whole + j] : -infinity;
    if (whole < n) most = max8(load8(rest), most);
    most = all8(largest8(most));
    for (i = 0; i < whole; i += 8) {
        const v8 weight = exponential8(load8(scores + i) - most);
        store8(scores + i, weight);
        total += weight;
    }
    if (whole < n) {
        store8(rest, exponential8(load8(rest) - most));
        for (int64_t j = n - whole; j < 8; j++) rest[j] = 0.0f;
        memcpy(scores + whole, rest, (size_t)(n - whole) * sizeof(float));
        total += load8(rest);
    }
    return 1.0f / sum8(total);
}

/* x [rows, inputs] to result [rows, outputs], with an activation, and then something [rows, outputs] added or NULL.
   Returns 0, or 1 if there is no memory. */
TARGET int NAME(linear)(const struct layer *layer, const float *x, int64_t rows, int activation, const float *added,
                        float *result) {
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, layer->inputs));
    if (scratch == NULL) return 1;
    for (int64_t row = 0; row < rows; row += BLOCK) {
        const int64_t count = rows - row < BLOCK ? rows - row : BLOCK, n = count * layer->outputs;
        float *target = result + row * layer->outputs;
        apply(layer, x + row * layer->inputs, count, target, scratch);
        activate(target, n, activation);
        if (added != NULL) add(target, added + row * layer->outputs, n);
    }
    free(scratch);
    return 0;
}

/* The same through two layers with an activation between them; nothing between them leaves the cache. */
TARGET int NAME(feedforward)(const struct layer *first, const struct layer *second, int activation, const float *x,
                             int64_t rows, const float *added, float *result) {
    const int64_t widest = first->inputs > second->inputs ? first->inputs : second->inputs;
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, widest));
    float *inner = malloc((size_t)(BLOCK * first->outputs) * sizeof(float));
    const int failed = scratch == NULL || inner == NULL;
    for (int64_t row = 0; row < rows && !failed; row += BLOCK) {
        const int64_t count = rows - row < BLOCK ? rows - row : BLOCK;
        float *target = result + row * second->outputs;
        apply(first, x + row * first->inputs, count, inner, scratch);
        activate(inner, count * first->outputs, activation);
        apply(second, inner, count, target, scratch);
        if (added != NULL) add(target, added + row * second->outputs, count * second->outputs);
    }
    free(scratch);
    free(inner);
    return failed;
}

/* Which queries are less probably null than the limit, at least one of each sequence that has any, and their
   distributions over null and the rules. */
TARGET int NAME(labels)(const struct labels *task) {
    const struct layer *output = task->output;
    const int64_t classes = output->outputs, inputs = output->inputs, parts = task->components;
    int64_t rows = 0, sequence = 0, left = 0, found = 0, count = 0;
    for (int64_t i = 0; i < task->sequences; i++) rows += task->lengths[i];
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, inputs));
    float *scores = malloc((size_t)(BLOCK * classes) * sizeof(float));
    float *mixed = malloc((size_t)(BLOCK * classes) * sizeof(float));
    float *block = malloc((size_t)(BLOCK * inputs) * sizeof(float));
    const int failed = scratch == NULL || scores == NULL || mixed == NULL || block == NULL;
    float least = 2.0f;
    for (int64_t first = 0; first < rows && !failed; first += BLOCK) {
        const int64_t size = rows - first < BLOCK ? rows - first : BLOCK;
        for (int64_t part = 0; part < parts; part++) {
            const float *x = task->latent + first * inputs;
            if (parts > 1) {
                for (int64_t row = 0; row < size; row++)
                    memcpy(block + row * inputs, task->latent + ((first + row) * parts + part) * inputs,
                           (size_t)inputs * sizeof(float));
                x = block;
            }
            apply(output, x, size, scores, scratch);
            for (int64_t row = 0; row < size; row++) {
                float *own = scores + row * classes, *sum = mixed + row * classes;
                const float weight = weigh(own, classes);
                const float factor = parts > 1 ? weight * task->prior[(first + row) * parts + part] : weight;
                for (int64_t i = 0; i < classes; i++) sum[i] = part ? sum[i] + own[i] * factor : own[i] * factor;
            }
        }
        for (int64_t row = 0; row < size; row++) {
            while (left == 0) {
                left = task->lengths[sequence++];
                found = 0;
                least = 2.0f;
            }
            left--;
            const float *own = mixed + row * classes;
            const int accept = own[0] < (float)task->limit;
            if (accept || (!found && !(own[0] >= least))) { /* the least null so far waits where the first one goes */
                memcpy(task->distributions + count * classes, own, (size_t)classes * sizeof(float));
                task->accepted[1 + count] = first + row;
                least = own[0];
            }
            found |= accept;
            count += accept || (left == 0 && !found);
        }
    }
    task->accepted[0] = count;
    free(scratch);
    free(scores);
    free(mixed);
    free(block);
    return failed;
}
#endif

/* Linear layers in 32 and in eight bits, and activations.

   In eight bits the rows of the input are rounded here, each by a scale of its own: to whole numbers from -127 to 127,
   stored as 1 to 255.  Weights were rounded and packed before (inference/layers.py) such that the sum of four products
   fits 16 bits; two of AVX2's instructions, each of which adds two products, can then be added before the sum is widened
   to 32 bits.  All sums are exact.  A row's result does not depend on the other rows. */

#ifndef TARGET
#define SELF "linear.c"
#include "targets.h"
#else
#include "vector.h"
#include "whole.h"

#define rounded NAME(rounded)
#define products NAME(products)
#define multiply_tile NAME(multiply_tile)
#define whole_tile NAME(whole_tile)
#define apply_panels NAME(apply_panels)
#define real_tile NAME(real_tile)
#define gelu NAME(gelu)
#define hyperbolic NAME(hyperbolic)
#define activated NAME(activated)
#define finish_as NAME(finish_as)
#define finish NAME(finish)
#define apply NAME(apply)
#define activate NAME(activate)
#define multiply NAME(multiply)
#define weigh NAME(weigh)

/* Rounds a row of n numbers, followed by zeros up to padded; returns what a rounded number is to be multiplied with. */
TARGET static float rounded(const float *x, int64_t n, int64_t padded, uint8_t *result) {
    float largest = 1e-12f;
    int64_t i = 0;
    vector most = all(largest);
    for (; i + LANES <= n; i += LANES) most = larger(most, (vector)((whole_vector)load(x + i) & 0x7fffffff));
    largest = largest_of(most);
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

INLINE vector hyperbolic(vector x) {
    const whole_vector sign = (whole_vector)x & (int32_t)0x80000000;
    const vector one = all(1.0f), size = (vector)((whole_vector)x & 0x7fffffff), small = exponential(size * all(-2.0f));
    return (vector)((whole_vector)((one - small) / (one + small)) | sign);
}

/* x times the normal distribution up to x, whose error function is that of Abramowitz and Stegun, 7.1.26 (1.5e-7). */
INLINE vector gelu(vector x) {
    const vector one = all(1.0f), scaled = x * all(0.70710678f), z = (vector)((whole_vector)scaled & 0x7fffffff);
    const vector t = one / times_plus(z, all(0.3275911f), one);
    vector tail = all(1.061405429f);
    tail = times_plus(tail, t, all(-1.453152027f));
    tail = times_plus(tail, t, all(1.421413741f));
    tail = times_plus(tail, t, all(-0.284496736f));
    tail = times_plus(tail, t, all(0.254829592f));
    tail = tail * t * exponential(z * -z);
    const vector error = (vector)((whole_vector)(one - tail) | ((whole_vector)scaled & (int32_t)0x80000000));
    return x * all(0.5f) * (one + error);
}

INLINE vector activated(vector x, int activation) {
    const vector zero = all(0.0f), one = all(1.0f);
    switch (activation) {
    case RELU: return larger(x, zero);
    case GELU: return gelu(x);
    case GELU_TANH: return x * all(0.5f) * (one + hyperbolic(all(0.79788456f) * times_plus(x * x * x, all(0.044715f), x)));
    case TANH: return hyperbolic(x);
    case ELU: return choose(x > zero, x, exponential(choose(x > zero, zero, x)) - one);
    case SIGMOID: {
        const vector small = exponential((vector)((whole_vector)x | (int32_t)0x80000000)), part = one / (one + small);
        return choose(x < zero, small * part, part);
    }
    default: return x;
    }
}

/* The rows of x [rows, width], stride apart, in place with an activation, and something with the same stride added. */
INLINE void finish_as(float *x, int64_t rows, int64_t width, int64_t stride, int activation, const float *added) {
    for (int64_t row = 0; row < rows; row++, x += stride) {
        int64_t i = 0;
        for (; i + LANES <= width; i += LANES) {
            const vector value = activated(load(x + i), activation);
            store(x + i, added == NULL ? value : value + load(added + i));
        }
        if (i < width) {
            const vector value = activated(load_some(x + i, width - i, 0.0f), activation);
            store_some(x + i, added == NULL ? value : value + load_some(added + i, width - i, 0.0f), width - i);
        }
        if (added != NULL) added += stride;
    }
}

TARGET static void finish(float *x, int64_t rows, int64_t width, int64_t stride, int activation, const float *added) {
    switch (activation) { /* a loop of its own for each, in which the constants stay in registers */
    case NONE:
        if (added != NULL) finish_as(x, rows, width, stride, NONE, added);
        break;
    case RELU: finish_as(x, rows, width, stride, RELU, added); break;
    case GELU: finish_as(x, rows, width, stride, GELU, added); break;
    case TANH: finish_as(x, rows, width, stride, TANH, added); break;
    case ELU: finish_as(x, rows, width, stride, ELU, added); break;
    case SIGMOID: finish_as(x, rows, width, stride, SIGMOID, added); break;
    default: finish_as(x, rows, width, stride, GELU_TANH, added);
    }
}

/* n numbers in place. */
TARGET void activate(float *x, int64_t n, int activation) { finish(x, 1, n, n, activation, NULL); }

/* n scores to e^(score - largest); returns 1 / their sum. */
TARGET float weigh(float *scores, int64_t n) {
    vector most = all(-INFINITY), total[PARTS];
    for (int64_t i = 0; i < n; i += LANES) most = larger(load_some(scores + i, n - i, -INFINITY), most);
    most = all(largest_of(most));
    for (int part = 0; part < PARTS; part++) total[part] = all(0.0f);
    for (int64_t i = 0; i < n; i += PANEL)
        for (int part = 0; part < PARTS; part++) {
            const int64_t place = i + part * LANES;
            const vector weight = exponential(load_some(scores + place, n - place, -INFINITY) - most);
            store_some(scores + place, weight, n - place);
            total[part] += weight; /* the weights of no scores are too small to change a sum that is at least 1 */
        }
    return 1.0f / sum_of(total);
}

/* The product of ROWS rows of n numbers and n rows, stride apart, of PANEL numbers for each of some panels, which are
   panel_stride apart. */
INLINE void products(const float *const left[ROWS], int rows, int panels, int64_t n, const float *right, int64_t stride,
                     int64_t panel_stride, vector sums[ROWS][PANELS * PARTS]) {
    vector sum[ROWS][PANELS * PARTS];
    for (int row = 0; row < rows; row++)
        for (int part = 0; part < panels * PARTS; part++) sum[row][part] = all(0.0f);
    for (int64_t i = 0; i < n; i++, right += stride) {
        vector factors[PANELS * PARTS];
        for (int part = 0; part < panels * PARTS; part++)
            factors[part] = load(right + part / PARTS * panel_stride + part % PARTS * LANES);
        for (int row = 0; row < rows; row++) {
            const vector factor = all(left[row][i]);
            for (int part = 0; part < panels * PARTS; part++)
                sum[row][part] = times_plus(factor, factors[part], sum[row][part]);
        }
    }
    for (int row = 0; row < rows; row++)
        for (int part = 0; part < panels * PARTS; part++) sums[row][part] = sum[row][part];
}

/* left [rows, n] times right [n, PANEL for each of some panels], with a stride each, to result; at most ROWS rows. */
INLINE void multiply_tile(const float *left, int64_t rows, int panels, int64_t n, int64_t stride, const float *right,
                          int64_t right_stride, float *result, int64_t result_stride) {
    const float *chosen[ROWS];
    vector sums[ROWS][PANELS * PARTS];
    for (int64_t row = 0; row < ROWS; row++) chosen[row] = left + smaller(row, rows - 1) * stride;
    if (2 * rows > ROWS) products(chosen, ROWS, panels, n, right, right_stride, PANEL, sums);
    else products(chosen, ROWS / 2, panels, n, right, right_stride, PANEL, sums);
    for (int64_t row = 0; row < rows; row++)
        for (int part = 0; part < panels * PARTS; part++) store(result + row * result_stride + part * LANES, sums[row][part]);
}

/* left [rows, n] times right [n, columns, a multiple of PANEL] to result; the rows of left and of result have strides. */
TARGET void multiply(const float *left, int64_t rows, int64_t n, int64_t stride, const float *right, int64_t columns,
                     float *result, int64_t result_stride) {
    for (int64_t first = 0; first < rows; first += ROWS) {
        const int64_t here = smaller(rows - first, ROWS);
        const float *own = left + first * stride;
        float *target = result + first * result_stride;
        for (int64_t column = 0; column < columns; column += PANELS * PANEL) {
            const int64_t left_over = (columns - column) / PANEL;
            if (left_over >= PANELS)
                multiply_tile(own, here, PANELS, n, stride, right + column, columns, target + column, result_stride);
            else if (left_over == 2)
                multiply_tile(own, here, 2, n, stride, right + column, columns, target + column, result_stride);
            else multiply_tile(own, here, 1, n, stride, right + column, columns, target + column, result_stride);
        }
    }
}

/* Up to ROWS rounded rows to the results of some panels of outputs from one on, but for the activation; with something
   added, unless that is NULL. */
INLINE void whole_tile(const struct layer *layer, const uint8_t *inputs, const float *row_scales, int64_t rows,
                       int64_t output, int panels, const float *added, float *result) {
    const int64_t padded = up_to(STEP, layer->inputs), outputs = layer->outputs;
    whole_vector sums[ROWS][PANELS * PARTS];
    const int8_t *packed = (const int8_t *)layer->packed + output * padded;
    whole_products(inputs, padded, panels, packed, layer->offsets + output, sums);
    for (int64_t row = 0; row < rows; row++) {
        const vector row_scale = all(row_scales[row]);
        for (int part = 0; part < panels * PARTS; part++) {
            const int64_t here = output + part * LANES, place = row * outputs + here;
            const vector sum = __builtin_convertvector(sums[row][part], vector);
            vector value = times_plus(sum, row_scale * load(layer->scales + here), load(layer->bias + here));
            if (added != NULL) value += load_some(added + place, outputs - here, 0.0f);
            store_some(result + place, value, outputs - here);
        }
    }
}

/* Up to ROWS rows to the results of a panel of outputs of a layer in 32 bits, but for the activation. */
INLINE void real_tile(const struct layer *layer, const float *x, int64_t rows, int64_t output, float *result) {
    const float *chosen[ROWS];
    vector sums[ROWS][PANELS * PARTS];
    for (int64_t row = 0; row < ROWS; row++) chosen[row] = x + smaller(row, rows - 1) * layer->inputs;
    products(chosen, ROWS, 1, layer->inputs, (const float *)layer->packed + output * layer->inputs, PANEL, 0, sums);
    for (int64_t row = 0; row < rows; row++) {
        float *target = result + row * layer->outputs;
        for (int part = 0; part < PARTS; part++) {
            const int64_t here = output + part * LANES;
            store_some(target + here, sums[row][part] + load(layer->bias + here), layer->outputs - here);
        }
    }
}

/* The tiles of count rows, x or rounded in scratch, for some panels of outputs from one on. */
INLINE void apply_panels(const struct layer *layer, const float *x, int64_t count, int64_t output, int panels,
                         const float *row_scales, const uint8_t *scratch, const float *added, float *result) {
    const int64_t padded = up_to(STEP, layer->inputs);
    for (int64_t first = 0; first < count; first += ROWS) {
        const int64_t rows = smaller(count - first, ROWS);
        float *target = result + first * layer->outputs;
        if (layer->bits == 8) {
            const float *more = added == NULL ? NULL : added + first * layer->outputs;
            whole_tile(layer, scratch + first * padded, row_scales + first, rows, output, panels, more, target);
        }
        else
            for (int panel = 0; panel < panels; panel++)
                real_tile(layer, x + first * layer->inputs, rows, output + panel * PANEL, target);
    }
}

/* Up to BLOCK rows x [count, inputs] to result [count, outputs], with an activation, and then something [count, outputs]
   added or NULL; scratch is [BLOCK, inputs and padding]. */
TARGET void apply(const struct layer *layer, const float *x, int64_t count, int activation, const float *added,
                  float *result, uint8_t *scratch) {
    const int64_t inputs = layer->inputs, padded = up_to(STEP, inputs), outputs = layer->outputs;
    float row_scales[BLOCK];
    if (layer->bits == 8)
        for (int64_t row = 0; row < count; row++)
            row_scales[row] = rounded(x + row * inputs, inputs, padded, scratch + row * padded);
    const int at_once = layer->bits == 8 && activation == NONE; /* what is added is so before anything is stored */
    const float *early = at_once ? added : NULL, *late = at_once ? NULL : added;
    for (int64_t output = 0; output < outputs; output += PANELS * PANEL) {
        const int64_t panels = smaller((outputs - output + PANEL - 1) / PANEL, PANELS);
        if (panels == PANELS) apply_panels(layer, x, count, output, PANELS, row_scales, scratch, early, result);
        else
            for (int64_t panel = 0; panel < panels; panel++)
                apply_panels(layer, x, count, output + panel * PANEL, 1, row_scales, scratch, early, result);
        finish(result + output, count, smaller(outputs - output, PANELS * PANEL), outputs, activation,
               late == NULL ? NULL : late + output);
    }
}

/* x [rows, inputs] to result [rows, outputs], with an activation, and then something [rows, outputs] added or NULL.
   Returns 0, or 1 if there is no memory. */
TARGET int NAME(linear)(const struct layer *layer, const float *x, int64_t rows, int activation, const float *added,
                        float *result) {
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, layer->inputs));
    if (scratch == NULL) return 1;
    for (int64_t row = 0; row < rows; row += BLOCK) {
        const float *more = added == NULL ? NULL : added + row * layer->outputs;
        apply(layer, x + row * layer->inputs, smaller(rows - row, BLOCK), activation, more, result + row * layer->outputs,
              scratch);
    }
    free(scratch);
    return 0;
}

/* The same through two layers with an activation between them; nothing between them leaves the cache. */
TARGET int NAME(feedforward)(const struct layer *first, const struct layer *second, int activation, const float *x,
                             int64_t rows, const float *added, float *result) {
    const int64_t widest = first->inputs > second->inputs ? first->inputs : second->inputs, width = second->outputs;
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, widest));
    float *inner = malloc((size_t)(BLOCK * first->outputs) * sizeof(float));
    const int failed = scratch == NULL || inner == NULL;
    for (int64_t row = 0; row < rows && !failed; row += BLOCK) {
        const int64_t count = smaller(rows - row, BLOCK);
        const float *more = added == NULL ? NULL : added + row * width;
        apply(first, x + row * first->inputs, count, activation, NULL, inner, scratch);
        apply(second, inner, count, NONE, more, result + row * width, scratch);
    }
    free(scratch);
    free(inner);
    return failed;
}
#endif

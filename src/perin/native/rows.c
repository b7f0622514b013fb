/* What is done with whole rows: norms, sums, means, rotations. */

#ifndef TARGET
#define SELF "rows.c"
#include "targets.h"
#else
#include "vector.h"

/* Rows to a mean of 0 and a variance of 1, then times weight plus bias. */
TARGET void NAME(norm)(const float *x, int64_t rows, int64_t width, const float *weight, const float *bias,
                       double epsilon, float *result) {
    for (int64_t row = 0; row < rows; row++, x += width, result += width) {
        const int64_t whole = width / PANEL * PANEL;
        vector sums[PARTS], squares[PARTS];
        float sum = 0.0f, square = 0.0f;
        for (int part = 0; part < PARTS; part++) sums[part] = squares[part] = all(0.0f);
        for (int64_t i = 0; i < whole; i += PANEL)
            for (int part = 0; part < PARTS; part++) sums[part] += load(x + i + part * LANES);
        for (int64_t i = whole; i < width; i++) sum += x[i];
        const float mean = (sum_of(sums) + sum) / (float)width;
        for (int64_t i = 0; i < whole; i += PANEL)
            for (int part = 0; part < PARTS; part++) {
                const vector centred = load(x + i + part * LANES) - all(mean);
                squares[part] = times_plus(centred, centred, squares[part]);
            }
        for (int64_t i = whole; i < width; i++) square += (x[i] - mean) * (x[i] - mean);
        const float variance = (sum_of(squares) + square) / (float)width;
        const float factor = (float)(1.0 / sqrt((double)variance + epsilon));
        for (int64_t i = 0; i < whole; i += LANES) {
            const vector scaled = (load(x + i) - all(mean)) * all(factor);
            store(result + i, times_plus(scaled, load(weight + i), load(bias + i)));
        }
        for (int64_t i = whole; i < width; i++) result[i] = (x[i] - mean) * factor * weight[i] + bias[i];
    }
}

/* The weighted sum of several arrays of n numbers. */
TARGET void NAME(mix)(const float *const *states, const float *weights, int64_t count, int64_t n, float *result) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vector sum = all(0.0f);
        for (int64_t state = 0; state < count; state++)
            sum = times_plus(load(states[state] + i), all(weights[state]), sum);
        store(result + i, sum);
    }
    for (; i < n; i++) {
        float sum = 0.0f;
        for (int64_t state = 0; state < count; state++) sum += states[state][i] * weights[state];
        result[i] = sum;
    }
}

/* result [rows, width]: each row the sum of those rows of x that go to it. */
TARGET void NAME(pool)(const float *x, int64_t width, const int64_t *from, const int64_t *to, int64_t pairs, int64_t rows,
                       float *result) {
    memset(result, 0, (size_t)(rows * width) * sizeof(float));
    for (int64_t pair = 0; pair < pairs; pair++) {
        const float *source = x + from[pair] * width;
        float *target = result + to[pair] * width;
        for (int64_t i = 0; i < width; i++) target[i] += source[i];
    }
}

/* result [bags, width]: each row the mean of the table's rows that are members of the bag, from its start to the next. */
TARGET void NAME(bag)(const float *table, int64_t width, const int64_t *members, const int64_t *starts, int64_t count,
                      int64_t bags, float *result) {
    memset(result, 0, (size_t)(bags * width) * sizeof(float));
    for (int64_t bag = 0; bag < bags; bag++, result += width) {
        const int64_t end = bag + 1 < bags ? starts[bag + 1] : count;
        for (int64_t member = starts[bag]; member < end; member++) {
            const float *row = table + members[member] * width;
            for (int64_t i = 0; i < width; i++) result[i] += row[i];
        }
        const float size = end > starts[bag] ? (float)(end - starts[bag]) : 1.0f;
        for (int64_t i = 0; i < width; i++) result[i] /= size;
    }
}

/* Each pair of features (i, i + half) of each head of x [rows, heads * size and more, stride], in place, turned by an
   angle whose cosine and sine [longest, half] depend on the row's position in its sequence. */
TARGET void NAME(rotate)(float *x, const int64_t *lengths, int64_t sequences, int64_t heads, int64_t size, int64_t stride,
                         const float *cos, const float *sin) {
    const int64_t half = size / 2;
    for (int64_t i = 0; i < sequences; i++)
        for (int64_t row = 0; row < lengths[i]; row++, x += stride)
            for (int64_t head = 0; head < heads; head++)
                for (int64_t feature = 0; feature < half; feature++) {
                    float *first = x + head * size + feature, *second = first + half;
                    const float c = cos[row * half + feature], s = sin[row * half + feature], a = *first, b = *second;
                    *first = a * c - b * s;
                    *second = a * s + b * c;
                }
}
#endif

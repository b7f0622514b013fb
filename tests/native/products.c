/* Linear layers in eight bits against a plain loop, for layers of any shape and weights up to the limits.

   Inputs, weights and results are whole numbers, so all are to be equal.  Prints the number of results compared. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { INPUTS = 200, OUTPUTS = 50, ROWS = 40, LARGEST = 128 };

static int8_t weights[OUTPUTS][INPUTS], packed[(OUTPUTS + PANEL) * (INPUTS + STEP)];
static float x[ROWS * INPUTS], scales[OUTPUTS + PANEL], bias[OUTPUTS + PANEL], result[ROWS * OUTPUTS];
static int32_t offsets[OUTPUTS + PANEL];

static int below(int limit) { return rand() % limit; }

/* Weights of inputs 0, 1, 4 and 5 of eight, or of the others: the positive ones add up to LARGEST, and the negative. */
static void draw_quad(int8_t *eight, int first, int inputs) {
    const int places[] = {first, first + 1, first + 4, first + 5};
    int left[2] = {LARGEST, LARGEST};
    for (int i = 0; i < 4; i++) {
        const int sign = below(2), most = left[sign] < 127 ? left[sign] : 127, size = below(4) ? below(most + 1) : most;
        if (places[i] >= inputs) continue;
        eight[places[i]] = (int8_t)(sign ? -size : size);
        left[sign] -= size;
    }
}

static void draw(int rows, int inputs, int outputs) {
    memset(weights, 0, sizeof weights);
    memset(packed, 0, sizeof packed);
    memset(offsets, 0, sizeof offsets);
    const int padded = (inputs + STEP - 1) / STEP * STEP;
    for (int output = 0; output < outputs; output++) {
        for (int i = 0; i < inputs; i += STEP)
            for (int first = 0; first < 4; first += 2) draw_quad(weights[output] + i, first, inputs - i);
        for (int i = 0; i < inputs; i++) {
            const int quad = (output / PANEL * padded + i / 4 * 4) * PANEL + output % PANEL * 4;
            packed[quad + i % 4] = weights[output][i];
            offsets[output] += LARGEST * weights[output][i];
        }
    }
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < inputs; i++) x[row * inputs + i] = (float)(below(3) ? below(255) - 127 : below(2) * 254 - 127);
        x[row * inputs + below(inputs)] = below(2) ? 127.0f : -127.0f; /* so that rounding changes nothing */
    }
}

static int wrong(int rows, int inputs, int outputs) {
    int count = 0;
    for (int row = 0; row < rows; row++)
        for (int output = 0; output < outputs; output++) {
            int sum = 0;
            for (int i = 0; i < inputs; i++) sum += (int)x[row * inputs + i] * weights[output][i];
            count += result[row * outputs + output] != (float)sum;
        }
    return count;
}

int main(void) {
    long compared = 0;
    for (int i = 0; i < OUTPUTS + PANEL; i++) scales[i] = 1.0f;
    for (int round = 0; round < 600; round++) {
        const int rows = 1 + below(ROWS), inputs = 1 + below(INPUTS), outputs = 1 + below(OUTPUTS);
        draw(rows, inputs, outputs);
        const struct layer layer = {inputs, outputs, 8, packed, scales, offsets, bias};
        if (linear_portable(&layer, x, rows, NONE, NULL, result) || wrong(rows, inputs, outputs)) {
            printf("wrong with %d rows, %d inputs, %d outputs\n", rows, inputs, outputs);
            return 1;
        }
        compared += rows * outputs;
    }
    printf("%ld equal\n", compared);
    return 0;
}

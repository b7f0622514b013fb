/* What the heads say: which queries become nodes, and scores of pairs within sequences that are packed one after the
   other. */

#ifndef TARGET
#define SELF "heads.c"
#include "targets.h"
#else
#include "vector.h"

#define distribute NAME(distribute)

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
            NAME(apply)(output, x, size, NONE, NULL, scores, scratch);
            for (int64_t row = 0; row < size; row++) {
                float *own = scores + row * classes, *sum = mixed + row * classes;
                const float weight = NAME(weigh)(own, classes);
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
/* Scores [outputs, padded] to distributions over the outputs, for each of the padded columns. */
TARGET static void distribute(float *scores, int64_t outputs, int64_t padded) {
    for (int64_t column = 0; column < padded; column += LANES) {
        vector most = load(scores + column), total = all(0.0f);
        for (int64_t output = 1; output < outputs; output++) most = larger(load(scores + output * padded + column), most);
        for (int64_t output = 0; output < outputs; output++) {
            float *score = scores + output * padded + column;
            const vector weight = exponential(load(score) - most);
            store(score, weight);
            total += weight;
        }
        const vector factor = all(1.0f) / total;
        for (int64_t output = 0; output < outputs; output++) {
            float *score = scores + output * padded + column;
            store(score, load(score) * factor);
        }
    }
}

/* Probabilities of all pairs of each sequence: x [rows, inputs of the layer] through the layer, which makes vectors
   [outputs, inner] of each row, times right [right rows, inner], plus single [rows, outputs], as distributions over the
   outputs or each by itself, to [rows, outputs, right rows up to PANEL], one sequence after the other. */
TARGET int NAME(pairs)(const struct layer *layer, const float *x, const float *single, const float *right,
                       const int64_t *lengths, const int64_t *right_lengths, int64_t sequences, int64_t outputs,
                       int64_t inner, int distribution, float *result) {
    int64_t longest = 0;
    for (int64_t i = 0; i < sequences; i++) longest = right_lengths[i] > longest ? right_lengths[i] : longest;
    float *turned = malloc((size_t)(inner * up_to(PANEL, longest) + 1) * sizeof(float));
    float *left = malloc((size_t)(BLOCK * layer->outputs) * sizeof(float));
    uint8_t *scratch = calloc(BLOCK, (size_t)up_to(STEP, layer->inputs));
    const int failed = turned == NULL || left == NULL || scratch == NULL;
    for (int64_t i = 0; i < sequences && !failed; i++) {
        const int64_t padded = up_to(PANEL, right_lengths[i]);
        NAME(turn)(right, right_lengths[i], inner, inner, padded, 1.0f, turned);
        for (int64_t first = 0; first < lengths[i]; first += BLOCK) {
            const int64_t count = smaller(lengths[i] - first, BLOCK);
            NAME(apply)(layer, x, count, NONE, NULL, left, scratch);
            NAME(multiply)(left, count * outputs, inner, inner, turned, padded, result, padded);
            for (int64_t row = 0; row < count * outputs; row++)
                for (int64_t j = 0; j < padded; j += LANES)
                    store(result + row * padded + j, load(result + row * padded + j) + all(single[row]));
            for (int64_t row = 0; row < count && distribution; row++)
                distribute(result + row * outputs * padded, outputs, padded);
            if (!distribution) NAME(activate)(result, count * outputs * padded, SIGMOID);
            x += count * layer->inputs;
            single += count * outputs;
            result += count * outputs * padded;
        }
        right += right_lengths[i] * inner;
    }
    free(turned);
    free(left);
    free(scratch);
    return failed;
}
#endif

/* What the files share: layers, activations, and the kernels of each kind of processor. */
#pragma once

#include <stdint.h>

enum { BLOCK = 32 };
/* Rows that go through a layer together, few enough to stay in the cache. */
enum { PANEL = 16, STEP = 8 };
/* Weights are packed for this many outputs and, in eight bits, inputs at a time. */
enum { NONE, RELU, GELU, GELU_TANH, TANH, ELU, SIGMOID };
/* Activations. */

/* A linear layer as inference/layers.py packs it: for whole panels of outputs.
   In 32 bits weights are [panels, inputs, PANEL] floats; in eight bits [panels, inputs and padding / 4, PANEL, 4]. */
struct layer {
    int64_t inputs, outputs, bits;
    const void *packed;
    const float *scales;    /* of each output, in eight bits */
    const int32_t *offsets; /* of each output, in eight bits: what inputs without sign add to its sum */
    const float *bias;
};

/* What a mixture of softmaxes over rules is computed from, and where the accepted queries go. */
struct labels {
    const struct layer *output;
    int64_t components;
    const float *prior;  /* [queries, components], if there are several */
    const float *latent; /* [queries, components * inputs], or just [queries, inputs] */
    const int64_t *lengths;
    int64_t sequences;
    double limit;
    float *distributions; /* [accepted, outputs] */
    int64_t *accepted;    /* the number of accepted queries, and then their rows, ascending */
};

#define KERNELS(name)                                                                                                     \
    void apply_##name(const struct layer *, const float *x, int64_t count, int activation, const float *added,            \
                      float *result, uint8_t *scratch);                                                                   \
    void turn_##name(const float *rows, int64_t n, int64_t size, int64_t stride, int64_t padded, float scale,             \
                     float *columns);                                                                                     \
    void activate_##name(float *x, int64_t n, int activation);                                                            \
    void multiply_##name(const float *left, int64_t rows, int64_t n, int64_t stride, const float *right, int64_t columns, \
                         float *result, int64_t result_stride);                                                           \
    float weigh_##name(float *scores, int64_t n);                                                                         \
    int linear_##name(const struct layer *, const float *x, int64_t rows, int activation, const float *added,             \
                      float *result);                                                                                     \
    int feedforward_##name(const struct layer *, const struct layer *, int activation, const float *x, int64_t rows,      \
                           const float *added, float *result);                                                            \
    int labels_##name(const struct labels *);                                                                             \
    int attention_##name(const float *queries, const float *memories, const int64_t *lengths,                             \
                         const int64_t *memory_lengths, int64_t sequences, int64_t heads, int64_t size, float *result);   \
    int pairs_##name(const struct layer *, const float *x, const float *single, const float *right,                       \
                     const int64_t *lengths, const int64_t *right_lengths, int64_t sequences, int64_t outputs,            \
                     int64_t inner, int distribution, float *result);                                                     \
    void norm_##name(const float *x, int64_t rows, int64_t width, const float *weight, const float *bias, double epsilon, \
                     float *result);                                                                                      \
    void mix_##name(const float *const *states, const float *weights, int64_t count, int64_t n, float *result);           \
    void pool_##name(const float *x, int64_t width, const int64_t *from, const int64_t *to, int64_t pairs, int64_t rows,  \
                     float *result);                                                                                      \
    void bag_##name(const float *table, int64_t width, const int64_t *members, const int64_t *starts, int64_t count,      \
                    int64_t bags, float *result);                                                                         \
    void rotate_##name(float *x, const int64_t *lengths, int64_t sequences, int64_t heads, int64_t size, int64_t stride,  \
                       const float *cos, const float *sin);                                                               \
    int run_##name(const int64_t *steps, int64_t count);

KERNELS(portable)
KERNELS(avx2)
KERNELS(vnni)

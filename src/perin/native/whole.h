/* Sums of products of rounded inputs and weights, for each kind of processor.  Included by linear.c for each TARGET.

   Inputs are 1 to 255 in place of -127 to 127; offsets are what the 128 that was added to them adds to each sum.  Weights
   are packed [inputs / 4, PANEL, 4].  Sums of four products, of inputs 0, 1, 4 and 5 of eight or of the others, fit 16 bits
   (inference/layers.py).  All sums are exact, so they are the same on every processor. */

#define whole_products NAME(whole_products)

#undef ROWS
#undef PANELS
#if LEVEL == 2
#define ROWS 8
#define PANELS 3
#else
#define ROWS 4
#define PANELS 1
#endif
/* Rows and panels of outputs of a tile, whose sums fit the registers. */

#if LEVEL == 0
typedef int16_t pairs __attribute__((vector_size(16)));
typedef uint16_t bytes __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));

INLINE i4 four_weights(const int8_t *weights) {
    i4 result;
    memcpy(&result, weights, sizeof result);
    return result;
}

/* Four inputs, the same in each place. */
INLINE words four_inputs(const uint8_t *inputs) {
    uint32_t four;
    memcpy(&four, inputs, sizeof four);
    return four - (words){0};
}

/* The sums, and to each of them the two numbers of a pair. */
INLINE i4 plus_pairs(i4 sum, pairs x) {
#if defined __SSE2__ && !defined PLAIN_C /* for tests */
    return sum + (i4)_mm_madd_epi16((__m128i)x, _mm_set1_epi16(1));
#elif defined __ARM_NEON && !defined PLAIN_C
    return (i4)vpadalq_s16((int32x4_t)sum, (int16x8_t)x);
#else
    return sum + ((i4)((words)x << 16) >> 16) + ((i4)x >> 16);
#endif
}
#endif

/* The sums of ROWS rows of n rounded inputs for the outputs of some panels, without the offsets. */
INLINE void whole_products(const uint8_t *inputs, int64_t n, int panels, const int8_t *packed, const int32_t *offsets,
                           whole_vector sums[ROWS][PANELS * PARTS]) {
    whole_vector sum[ROWS][PANELS * PARTS];
    for (int part = 0; part < panels * PARTS; part++) {
        whole_vector offset;
        memcpy(&offset, offsets + part * LANES, sizeof offset);
        for (int row = 0; row < ROWS; row++) sum[row][part] = -offset;
    }
#if LEVEL == 2
    for (int64_t i = 0; i < n; i += 4, packed += 4 * PANEL) {
        __m512i weights[PANELS];
        for (int panel = 0; panel < panels; panel++) weights[panel] = _mm512_loadu_si512(packed + panel * PANEL * n);
        for (int row = 0; row < ROWS; row++) {
            int32_t four;
            memcpy(&four, inputs + row * n + i, sizeof four);
            const __m512i fours = _mm512_set1_epi32(four);
            for (int panel = 0; panel < panels; panel++) /* compilers copy the registers of the intrinsic */
                __asm__("vpdpbusd %2, %1, %0" : "+v"(sum[row][panel]) : "v"(fours), "v"(weights[panel]));
        }
    }
#elif LEVEL == 1
    const __m256i ones = _mm256_set1_epi16(1);
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
                sum[row][half] += (whole_vector)_mm256_madd_epi16(pair, ones);
            }
        }
    }
#elif defined __ARM_FEATURE_DOTPROD && !defined PLAIN_C
    const words signs = 0x80808080 - (words){0}; /* inputs with a sign are what the offsets are to lead to */
    for (int part = 0; part < PARTS; part++)
        for (int row = 0; row < ROWS; row++) sum[row][part] = (i4){0};
    for (int64_t i = 0; i < n; i += 4, packed += 4 * PANEL) {
        int8x16_t weights[PARTS];
        for (int part = 0; part < PARTS; part++) weights[part] = vld1q_s8(packed + 16 * part);
        for (int row = 0; row < ROWS; row++) {
            const int8x16_t fours = (int8x16_t)(four_inputs(inputs + row * n + i) ^ signs);
            for (int part = 0; part < PARTS; part++)
                sum[row][part] = (i4)vdotq_s32((int32x4_t)sum[row][part], weights[part], fours);
        }
    }
#else
    for (int64_t i = 0; i < n; i += STEP, packed += STEP * PANEL) {
        pairs even[ROWS][2], odd[ROWS][2]; /* inputs 0 and 2 of four, and 1 and 3 */
        for (int row = 0; row < ROWS; row++)
            for (int four = 0; four < 2; four++) {
                const words inputs_here = four_inputs(inputs + row * n + i + 4 * four);
                even[row][four] = (pairs)(inputs_here & 0x00ff00ff);
                odd[row][four] = (pairs)((bytes)inputs_here >> 8);
            }
        for (int part = 0; part < PARTS; part++) {
            const i4 first = four_weights(packed + 16 * part), second = four_weights(packed + 4 * PANEL + 16 * part);
            const pairs even_first = (pairs)((bytes)first << 8) >> 8, odd_first = (pairs)first >> 8;
            const pairs even_second = (pairs)((bytes)second << 8) >> 8, odd_second = (pairs)second >> 8;
            for (int row = 0; row < ROWS; row++) {
                const pairs sums_of_four = even[row][0] * even_first + odd[row][0] * odd_first +
                                           even[row][1] * even_second + odd[row][1] * odd_second;
                sum[row][part] = plus_pairs(sum[row][part], sums_of_four);
            }
        }
    }
#endif
    for (int row = 0; row < ROWS; row++)
        for (int part = 0; part < panels * PARTS; part++) sums[row][part] = sum[row][part];
}

/* LANES numbers at a time.  Included by each file for each TARGET, so without a guard.

   Sums over many numbers are kept in PANEL places, whatever the width of a register: PARTS registers together. */

#undef LANES
#undef PARTS
#undef vector
#undef whole_vector
#undef loose_vector
#if LEVEL == 2
#define LANES 16
#define vector v16
#define whole_vector i16
#define loose_vector loose16
#elif LEVEL == 1
#define LANES 8
#define vector v8
#define whole_vector i8
#define loose_vector loose8
#else
#define LANES 4
#define vector v4
#define whole_vector i4
#define loose_vector loose4
#endif
#define PARTS (PANEL / LANES)

#ifndef PERIN_VECTOR
#define PERIN_VECTOR
typedef float v4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef float loose4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef float loose8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float v16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));
typedef float loose16 __attribute__((vector_size(64), aligned(4), may_alias));
static inline int64_t up_to(int64_t multiple, int64_t n) { return (n + multiple - 1) / multiple * multiple; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
#endif

#undef INLINE
#define INLINE TARGET static inline __attribute__((always_inline))
#define load NAME(load)
#define store NAME(store)
#define all NAME(all)
#define times_plus NAME(times_plus)
#define larger NAME(larger)
#define choose NAME(choose)
#define sum_of NAME(sum_of)
#define load_some NAME(load_some)
#define store_some NAME(store_some)
#define largest_of NAME(largest_of)
#define exponential NAME(exponential)

INLINE vector load(const float *x) { return *(const loose_vector *)x; }
INLINE void store(float *x, vector value) { *(loose_vector *)x = value; }
INLINE vector all(float x) { return x - (vector){0}; }

/* a * b + c, rounded once where the processor can do that. */
INLINE vector times_plus(vector a, vector b, vector c) {
#if LEVEL == 2
    return _mm512_fmadd_ps(a, b, c);
#elif LEVEL == 1
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__FP_FAST_FMAF)
    vector result;
    for (int i = 0; i < LANES; i++) result[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return result;
#else
    return a * b + c;
#endif
}

INLINE vector choose(whole_vector which, vector yes, vector no) {
    return (vector)((which & (whole_vector)yes) | (~which & (whole_vector)no));
}

/* The larger ones, and b where either is no number. */
INLINE vector larger(vector a, vector b) {
#if LEVEL == 2
    return _mm512_max_ps(a, b);
#elif LEVEL == 1
    return _mm256_max_ps(a, b);
#else
    return choose(a > b, a, b);
#endif
}

/* The sum of PANEL numbers, always in the same order: by halves. */
INLINE float sum_of(const vector parts[PARTS]) {
#if LEVEL > 0
#if LEVEL == 2
    const __m256 low = _mm512_castps512_ps256(parts[0]);
    const __m256 eight = _mm256_add_ps(low, _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(parts[0]), 1)));
#else
    const __m256 eight = _mm256_add_ps(parts[0], parts[1]);
#endif
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
#else
    const vector four = (parts[0] + parts[2]) + (parts[1] + parts[3]);
    return (four[0] + four[2]) + (four[1] + four[3]);
#endif
}

/* The first count numbers, however many or few, and a filler in place of the others. */
INLINE vector load_some(const float *x, int64_t count, float filler) {
    if (count >= LANES) return load(x);
#if LEVEL == 2
    return _mm512_mask_loadu_ps(all(filler), (__mmask16)(count > 0 ? (1u << count) - 1 : 0), x);
#else
    float some[LANES];
    for (int64_t i = 0; i < LANES; i++) some[i] = i < count ? x[i] : filler;
    return load(some);
#endif
}

/* Stores the first count numbers, however many or few. */
INLINE void store_some(float *x, vector value, int64_t count) {
    if (count >= LANES) store(x, value);
#if LEVEL == 2
    else _mm512_mask_storeu_ps(x, (__mmask16)(count > 0 ? (1u << count) - 1 : 0), value);
#else
    else
        for (int64_t i = 0; i < count; i++) x[i] = value[i];
#endif
}

INLINE float largest_of(vector x) {
#if LEVEL == 2
    return _mm512_reduce_max_ps(x);
#else
    float result = x[0];
    for (int i = 1; i < LANES; i++) result = x[i] > result ? x[i] : result;
    return result;
#endif
}

/* e^x of numbers that are not positive, to about seven digits. */
INLINE vector exponential(vector x) {
    const vector whole = all(12582912.0f); /* 1.5 * 2^23: adding it rounds to the nearest whole number */
    x = larger(x, all(-87.0f));
    const vector shifted = times_plus(x, all(1.44269504f), whole), power = shifted - whole;
    vector rest = times_plus(power, all(-0.693359375f), x); /* ln 2 in two parts */
    rest = times_plus(power, all(2.12194440e-4f), rest);
    vector result = all(1.0f / 720);
    result = times_plus(result, rest, all(1.0f / 120));
    result = times_plus(result, rest, all(1.0f / 24));
    result = times_plus(result, rest, all(1.0f / 6));
    result = times_plus(result, rest, all(0.5f));
    result = times_plus(result, rest, all(1.0f));
    result = times_plus(result, rest, all(1.0f));
#if LEVEL == 2
    return _mm512_scalef_ps(result, power);
#else
    const whole_vector exponent = ((whole_vector)shifted - (whole_vector)whole + 127) << 23;
    return result * (vector)exponent;
#endif
}

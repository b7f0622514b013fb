/* Eight numbers at a time.  Included by each file for each TARGET, so without a guard. */

#ifndef PERIN_VECTOR
#define PERIN_VECTOR
typedef float v8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef float loose8 __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#undef INLINE
#define INLINE TARGET static inline __attribute__((always_inline))
#define load8 NAME(load8)
#define store8 NAME(store8)
#define all8 NAME(all8)
#define fma8 NAME(fma8)
#define max8 NAME(max8)
#define choose8 NAME(choose8)
#define sum8 NAME(sum8)
#define largest8 NAME(largest8)
#define exponential8 NAME(exponential8)

INLINE v8 load8(const float *x) { return *(const loose8 *)x; }
INLINE void store8(float *x, v8 value) { *(loose8 *)x = value; }
INLINE v8 all8(float x) { return (v8){x, x, x, x, x, x, x, x}; }

/* a * b + c, rounded once where the processor can do that. */
INLINE v8 fma8(v8 a, v8 b, v8 c) {
#if LEVEL > 0
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__FP_FAST_FMAF)
    v8 result;
    for (int i = 0; i < 8; i++) result[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return result;
#else
    return a * b + c;
#endif
}

INLINE v8 choose8(i8 which, v8 yes, v8 no) { return (v8)((which & (i8)yes) | (~which & (i8)no)); }
INLINE v8 max8(v8 a, v8 b) { return choose8(a > b, a, b); }

INLINE float sum8(v8 x) {
    const float a = x[0] + x[4], b = x[1] + x[5], c = x[2] + x[6], d = x[3] + x[7];
    return (a + c) + (b + d);
}

INLINE float largest8(v8 x) {
    float result = x[0];
    for (int i = 1; i < 8; i++) result = x[i] > result ? x[i] : result;
    return result;
}

/* e^x of numbers that are not positive, to about seven digits. */
INLINE v8 exponential8(v8 x) {
    const v8 whole = all8(12582912.0f); /* 1.5 * 2^23: adding it rounds to the nearest whole number */
    x = max8(x, all8(-87.0f));
    const v8 shifted = fma8(x, all8(1.44269504f), whole), power = shifted - whole;
    v8 rest = fma8(power, all8(-0.693359375f), x); /* ln 2 in two parts */
    rest = fma8(power, all8(2.12194440e-4f), rest);
    v8 result = all8(1.0f / 720);
    result = fma8(result, rest, all8(1.0f / 120));
    result = fma8(result, rest, all8(1.0f / 24));
    result = fma8(result, rest, all8(1.0f / 6));
    result = fma8(result, rest, all8(0.5f));
    result = fma8(result, rest, all8(1.0f));
    result = fma8(result, rest, all8(1.0f));
    const i8 exponent = ((i8)shifted - (i8)whole + 127) << 23;
    return result * (v8)exponent;
}

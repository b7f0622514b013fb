/* What functions with AVX2 instructions share.  They are marked, so that the rest runs on any x86 processor. */
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,fma")))

/* e^x of numbers that are not positive, to about seven digits. */
AVX2 static inline __m256 exponential(__m256 x) {
    x = _mm256_max_ps(x, _mm256_set1_ps(-87.0f));
    const __m256 power = _mm256_round_ps(
        _mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 rest = _mm256_fnmadd_ps(power, _mm256_set1_ps(0.693359375f), x); /* ln 2 in two parts */
    rest = _mm256_fnmadd_ps(power, _mm256_set1_ps(-2.12194440e-4f), rest);
    static const float series[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    __m256 result = _mm256_set1_ps(series[0]);
    for (int i = 1; i < 7; i++) result = _mm256_fmadd_ps(result, rest, _mm256_set1_ps(series[i]));
    const __m256i exponent = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(power), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(result, _mm256_castsi256_ps(exponent));
}

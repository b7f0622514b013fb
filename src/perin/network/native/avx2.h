/* What functions with AVX2 instructions are marked with, so that the rest runs on any x86 processor. */
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,fma")))

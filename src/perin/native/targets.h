/* Includes SELF once for each kind of processor.

   Inside, TARGET marks functions that may use the processor's instructions, NAME gives each a name of its own, and LEVEL
   is 0 for any processor, 1 for x86 with AVX2 and FMA, 2 for x86 with AVX-512 VNNI as well.  Whatever the level, the same
   operations are done in the same order, so that results are equal to the last bit wherever the processor has fused
   multiply-add (all at levels 1 and 2, ARM at level 0). */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__ || defined __i386__
#include <immintrin.h>
#elif defined __ARM_NEON
#include <arm_neon.h>
#endif

#include "kernels.h"

#define LEVEL 0
#define TARGET
#define NAME(name) name##_portable
#include SELF
#undef LEVEL
#undef TARGET
#undef NAME

#ifdef __x86_64__
#define LEVEL 1
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(name) name##_avx2
#include SELF
#undef LEVEL
#undef TARGET
#undef NAME

#define LEVEL 2
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni")))
#define NAME(name) name##_vnni
#include SELF
#undef LEVEL
#undef TARGET
#undef NAME
#endif

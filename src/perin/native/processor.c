/* What this processor can do, and the kernels for it. */

#include "kernels.h"

/* As in __init__.py: another one for each change of what run.c expects. */
int version(void) { return 2; }

#ifdef __x86_64__
#include <cpuid.h>

/* Whether the system saves the registers of a kind: bits of XCR0. */
static int saved(unsigned wanted) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & wanted) == wanted;
}

static int found_level(void) {
    enum { FMA = 1 << 12, OSXSAVE = 1 << 27 };                       /* leaf 1, ecx */
    enum { AVX2 = 1 << 5, AVX512F = 1 << 16, AVX512BW = 1 << 30 };   /* leaf 7, ebx */
    enum { VNNI = 1 << 11 };                                         /* leaf 7, ecx */
    const unsigned vl = 1u << 31;                                    /* leaf 7, ebx */
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & FMA) || !(c & OSXSAVE) || !saved(0x6)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2)) return 0;
    return (b & AVX512F) && (b & AVX512BW) && (b & vl) && (c & VNNI) && saved(0xe6) ? 2 : 1;
}

/* The highest level of targets.h that works here.  It is looked up once, for virtual machines take long to answer. */
int level(void) {
    static _Atomic int known = -1;
    if (known < 0) known = found_level();
    return known;
}

int run(int chosen, const int64_t *steps, int64_t count) {
    if (chosen > level()) chosen = level();
    return chosen == 2 ? run_vnni(steps, count) : chosen == 1 ? run_avx2(steps, count) : run_portable(steps, count);
}
#else
int level(void) { return 0; }

int run(int chosen, const int64_t *steps, int64_t count) {
    (void)chosen;
    return run_portable(steps, count);
}
#endif

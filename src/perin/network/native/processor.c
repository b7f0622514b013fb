/* What this processor can do. */

/* Whether this processor has the instructions that are used here. */
int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

/* Whether it has those for neural networks, with which other kernels are faster. */
int has_vnni(void) { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"); }

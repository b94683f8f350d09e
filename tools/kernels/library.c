/* Which level of the machine the processor has: the place in the list in targets.py, which has LEVELS entries; -1 is
   none of them. Written without the compiler's runtime library, which not every target has. */
#if defined(__x86_64__)
#include <cpuid.h>

static int has(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

/* Whether the system keeps the registers of AVX. */
static int keeps_avx(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has(low, 6);
}
#endif

int binlog_kaitai_level(void)
{
#if defined(__x86_64__)
    unsigned a, b, basic, d, extended = 0;
    if (!__get_cpuid(1, &a, &b, &basic, &d) || !has(basic, bit_SSE4_2 | bit_POPCNT))
        return -1;
    __get_cpuid_count(7, 0, &a, &extended, &b, &d);
    return has(basic, bit_OSXSAVE | bit_AVX | bit_FMA) && has(extended, bit_AVX2 | bit_BMI | bit_BMI2)
        && keeps_avx() ? 0 : LEVELS - 1;
#else
    return 0;
#endif
}

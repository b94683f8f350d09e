/* Which level of the machine the processor has: the place in the list in targets.py; -1 is none of them. */
int binlog_kaitai_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("fma"))
        return 0;
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? 1 : -1;
#else
    return 0;
#endif
}

/* Repeats recorded calls of kernels with a library, and compares what they give: player LIBRARY CALLS.

   A call, in numbers of eight bytes: the length of the symbol and the symbol, filled up to eight bytes; the number
   of regions of memory, and for each the size in bytes and what is in it before and after the call, filled up; the
   number of arguments, and for each 0 and a number, or for an array 1 + its dimensions, the region, where in it, and
   the shape; the size of the result, and the result. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static void *library_of(const char *path) { return (void *)LoadLibraryA(path); }
static void *symbol_of(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
#else
#include <dlfcn.h>
static void *library_of(const char *path) { return dlopen(path, RTLD_NOW); }
static void *symbol_of(void *library, const char *name) { return dlsym(library, name); }
#endif

enum { MOST = 256 };

static FILE *calls;

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

static int64_t number(void)
{
    int64_t value;
    if (fread(&value, 8, 1, calls) != 1)
        fail("the file of calls ends early", "calls");
    return value;
}

static void *bytes(int64_t size)
{
    void *data = malloc((size_t)size + 64);
    if (!data || fread(data, 1, (size_t)((size + 7) / 8 * 8), calls) != (size_t)((size + 7) / 8 * 8))
        fail("the file of calls ends early", "calls");
    return data;
}

int main(int count, char **arguments)
{
    void *library = count == 3 ? library_of(arguments[1]) : NULL;
    calls = library ? fopen(arguments[2], "rb") : NULL;
    if (!calls)
        fail("no library, or no calls", "player");
    int (*level_of)(void) = (int (*)(void))symbol_of(library, "binlog_kaitai_level");
    int level = level_of ? level_of() : -1;
    if (level < 0 || !symbol_of(library, "binlog_kaitai_kernels"))
        fail("is no library of kernels", arguments[1]);
    int64_t done = 0, length;
    while (fread(&length, 8, 1, calls) == 1) {
        char name[512], *symbol = bytes(length);
        snprintf(name, sizeof name, "%.*s_%d", (int)length, symbol, level);
        int (*kernel)(const int64_t *, void *) = (int (*)(const int64_t *, void *))symbol_of(library, name);
        if (!kernel)
            fail("is not in the library", name);
        int64_t record[MOST], sizes[MOST], slots = 0, regions = number();
        char *data[MOST], *after[MOST];
        for (int64_t one = 0; one < regions; one++) {
            sizes[one] = number();
            data[one] = bytes(sizes[one]);
            after[one] = bytes(sizes[one]);
        }
        for (int64_t left = number(); left; left--) {
            int64_t kind = number();
            if (kind) {
                char *region = data[number()];
                record[slots++] = (int64_t)(intptr_t)(region + number());
                while (--kind)
                    record[slots++] = number();
            } else
                record[slots++] = number();
        }
        int64_t size = number();
        char result[4096] = {0}, *expected = bytes(size);
        if (kernel(record, result))
            fail("raised an exception", name);
        if (memcmp(result, expected, (size_t)size))
            fail("gave another result", name);
        for (int64_t one = 0; one < regions; one++) {
            if (memcmp(data[one], after[one], (size_t)sizes[one]))
                fail("filled an array differently", name);
            free(data[one]);
            free(after[one]);
        }
        free(expected);
        free(symbol);
        done++;
    }
    printf("%lld calls\n", (long long)done);
    return 0;
}

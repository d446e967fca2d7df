/* SPDX-License-Identifier: MIT */
/* Figures of the caches, from the system. */
#include "perfmodel/machine/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDEXES = 16 };

/* A file of a cache of the first processor; empty if there is none. */
static void read_attribute(const char *root, int index, const char *name, char *text, int size)
{
    char path[512];
    FILE *file;

    sgc_assert(index >= 0 && size > 1);
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cache/index%d/%s", root, index, name);
    file = fopen(path, "re");
    if (file == NULL || fgets(text, size, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
}

static double read_number(const char *root, int index, const char *name)
{
    char text[64], *end;
    double number;

    read_attribute(root, index, name, text, sizeof text);
    number = strtod(text, &end);
    if (*end == 'K')
        number *= 1024;
    else if (*end == 'M')
        number *= 1024 * 1024;
    return number;
}

/* "0-3,8" are five. */
static double count_list(const char *text)
{
    double count = 0;

    sgc_assert(text != NULL);
    while (*text >= '0' && *text <= '9') {
        char *end;
        long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;

        count += (double)(last - first + 1);
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static void read_cache(const char *root, int index, struct sgc_machine_cache *cache)
{
    char shared[512];

    sgc_assert(index >= 0 && index < INDEXES);
    read_attribute(root, index, "shared_cpu_list", shared, sizeof shared);
    cache->bytes = read_number(root, index, "size");
    cache->ways = read_number(root, index, "ways_of_associativity");
    cache->line_bytes = read_number(root, index, "coherency_line_size");
    cache->shared_by = count_list(shared);
}

int sgc_bench_caches(struct sgc_machine_cache *cache, const char *root)
{
    char type[64];
    int levels = 0;

    sgc_assert(cache != NULL && root != NULL);
    for (int index = 0; index < INDEXES; index++) {
        int level = (int)read_number(root, index, "level");

        read_attribute(root, index, "type", type, sizeof type);
        if (level != levels + 1 || level > SGC_MACHINE_CACHES || type[0] == 'I')
            continue;
        read_cache(root, index, &cache[levels]);
        if (cache[levels].ways == 0) /* fully associative, or not said */
            cache[levels].ways = 8;
        if (cache[levels].bytes == 0 || cache[levels].line_bytes == 0 || cache[levels].shared_by == 0)
            break;
        sgc_assert(levels < SGC_MACHINE_CACHES);
        levels++;
    }
    return levels;
}

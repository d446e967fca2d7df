/* SPDX-License-Identifier: MIT */
/*
 * The sizes of caches as the kernel shows them in /sys.  Owns nothing; runs on any thread.
 *
 * Not sysconf: it knows no sizes on some architectures and C libraries, and in virtual machines it
 * has been seen to add up third-level caches of the whole host.
 */
#include "platform/nodes/topology.h"

#include "platform/file_linux.h"
#include "platform/report.h"

enum { SGC_CACHES = 16 };           /* more than any processor has */

static bool read_attribute(const char *root, int index, const char *name, char *line, size_t size)
{
    sgc_assert(root != NULL && index >= 0 && size > 1);
    return sgc_read_line_at(line, size, "%s/devices/system/cpu/cpu0/cache/index%d/%s", root, index, name);
}

/* "Data", "Instruction" or "Unified". */
static bool holds_data(const char *root, int index)
{
    char line[32];
    return read_attribute(root, index, "type", line, sizeof line) && line[0] != 'I';
}

/* "1024K"; 0 for nonsense. */
static size_t parse_size(const char *text)
{
    uint64_t number;

    sgc_assert(text != NULL);
    if (!sgc_parse_number(&text, 10, &number) || number > SIZE_MAX >> 20)
        return 0;
    if (text[0] == 'K' && text[1] == '\0')
        return (size_t)number << 10;
    if (text[0] == 'M' && text[1] == '\0')
        return (size_t)number << 20;
    return text[0] == '\0' ? (size_t)number : 0;
}

static bool is_level(const char *root, int index, int level)
{
    char line[32];
    const char *at = line;
    uint64_t found;
    return read_attribute(root, index, "level", line, sizeof line) && sgc_parse_number(&at, 10, &found)
        && found == (uint64_t)level && holds_data(root, index);
}

static size_t size_of(const char *root, int index)
{
    char line[32];
    return read_attribute(root, index, "size", line, sizeof line) ? parse_size(line) : 0;
}

/* On most machines the first level has two caches and each other level one, so that its number is
 * its index. */
size_t sgc_cache_bytes(const char *root, int level)
{
    char line[32];

    sgc_assert(level >= 1 && level < SGC_CACHES);
    if (is_level(root, level, level))
        return size_of(root, level);
    for (int i = 0; i < SGC_CACHES && read_attribute(root, i, "level", line, sizeof line); i++)
        if (is_level(root, i, level))
            return size_of(root, i);
    return 0;
}

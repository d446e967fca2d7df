/* SPDX-License-Identifier: MIT */
/*
 * Is there a second collector in this process?  A library that calls itself libgc.so or libsgc.so (its DT_SONAME) is
 * one if this code is not in it; but the drop-in next to libsgc is no other: its DT_FILTER leads all look-ups to
 * libsgc (a filter for anything else is not the drop-in).  A collector that is linked statically into something cannot
 * be told from other code.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "platform/other_gc.h"
#include "platform/platform.h"

/* What a module says of itself. */
struct identity {
    const char *soname;         /* "" if it has none */
    bool filter;                /* its symbols are looked up in libsgc */
};

struct search {
    bool beside_libsgc;         /* this code is in libsgc.so */
    bool found;
    char *path;
    size_t bytes;
};

static const ElfW(Phdr) *segment_of(const struct dl_phdr_info *info, uint32_t type)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

/* The loader adds the module's address to such an entry in place, where it may write. */
static uintptr_t relocated(const struct dl_phdr_info *info, uintptr_t value)
{
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static struct identity identify(const struct dl_phdr_info *info)
{
    const ElfW(Phdr) *segment = segment_of(info, PT_DYNAMIC);
    struct identity is = { "", false };
    const char *strings = NULL;
    size_t soname = 0, filter = 0;

    if (segment == NULL)
        return is;
    for (const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + segment->p_vaddr); d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)relocated(info, d->d_un.d_ptr);
        else if (d->d_tag == DT_SONAME)
            soname = d->d_un.d_val;
        else if (d->d_tag == DT_FILTER)
            filter = d->d_un.d_val;
    }
    if (strings != NULL) {
        is.soname = strings + soname;       /* the table begins with an empty string */
        is.filter = starts(strings + filter, "libsgc.so");
    }
    return is;
}

static int look_at_own(struct dl_phdr_info *info, size_t size, void *raw)
{
    struct search *search = raw;

    (void)size;
    if (!contains(info, (uintptr_t)&look_at_own))
        return 0;
    search->beside_libsgc = starts(identify(info).soname, "libsgc.so");
    return 1;
}

static bool is_drop_in(struct identity is)
{
    return is.filter && starts(is.soname, "libgc.so");
}

bool sgc_module_is_idle(const struct dl_phdr_info *info)
{
    struct search search = { .beside_libsgc = false };

    if (!is_drop_in(identify(info)))
        return false;
    dl_iterate_phdr(look_at_own, &search);
    return search.beside_libsgc;
}

static int look_for_other(struct dl_phdr_info *info, size_t size, void *raw)
{
    struct search *search = raw;
    struct identity is = identify(info);

    (void)size;
    if (!starts(is.soname, "libgc.so") && !starts(is.soname, "libsgc.so"))
        return 0;
    if (contains(info, (uintptr_t)&look_for_other) || (is.filter && search->beside_libsgc))
        return 0;
    snprintf(search->path, search->bytes, "%s", info->dlpi_name);
    search->found = true;
    return 1;
}

bool sgc_modules_other_collector(char *path, size_t bytes)
{
    struct search search = { .path = path, .bytes = bytes };

    dl_iterate_phdr(look_at_own, &search);
    dl_iterate_phdr(look_for_other, &search);
    return search.found;
}

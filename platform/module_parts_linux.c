/* SPDX-License-Identifier: MIT */
/*
 * The segments of a loaded module, its build id and its path: for heap snapshots.  The loader
 * is not asked, whose list of modules is locked meanwhile.
 */
#include <fcntl.h>
#include <link.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

static const ElfW(Phdr) *header_of(const struct sgc_module *module, int i)
{
    sgc_assert(i >= 0 && i < module->header_count);
    return (const ElfW(Phdr) *)module->headers + i;
}

static unsigned access_of(const ElfW(Phdr) *header)
{
    return ((header->p_flags & PF_R) != 0 ? 4u : 0) | ((header->p_flags & PF_W) != 0 ? 2u : 0) |
           ((header->p_flags & PF_X) != 0 ? 1u : 0);
}

bool sgc_module_segment(const struct sgc_module *module, int *header, struct sgc_segment *segment)
{
    while (*header < module->header_count) {
        const ElfW(Phdr) *h = header_of(module, (*header)++);
        uintptr_t lo = module->bias + h->p_vaddr;

        if (h->p_type != PT_LOAD || h->p_memsz == 0)
            continue;
        *segment = (struct sgc_segment){ { lo, lo + h->p_memsz }, access_of(h), h->p_offset };
        return true;
    }
    return false;
}

/* ---- the build id ---- */

static bool is_readable(const struct sgc_module *module, uintptr_t lo, uintptr_t hi)
{
    struct sgc_segment segment;
    int header = 0;

    while (sgc_module_segment(module, &header, &segment))
        if ((segment.access & 4) != 0 && segment.range.lo <= lo && lo <= hi && hi <= segment.range.hi)
            return sgc_mem_readable(lo);
    return false;
}

/* In notes a head with a name is followed by what it names, each up to a multiple of `unit`. */
static size_t find_id(uintptr_t at, uintptr_t end, size_t unit, unsigned char id[SGC_BUILD_ID])
{
    while (at <= end && end - at >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = (const char *)(note + 1);
        uintptr_t contents = at + sgc_round_up(sizeof *note + note->n_namesz, unit);
        size_t bytes = note->n_descsz < SGC_BUILD_ID ? note->n_descsz : SGC_BUILD_ID;

        if (contents > end || note->n_descsz > end - contents)
            break;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof "GNU" && memcmp(name, "GNU", sizeof "GNU") == 0) {
            memcpy(id, (const void *)contents, bytes);
            return bytes;
        }
        at = contents + sgc_round_up(note->n_descsz, unit);
    }
    return 0;
}

static size_t find_build_id(const struct sgc_module *module, unsigned char id[SGC_BUILD_ID])
{
    size_t bytes = 0;

    for (int i = 0; i < module->header_count && bytes == 0; i++) {
        const ElfW(Phdr) *h = header_of(module, i);
        uintptr_t lo = module->bias + h->p_vaddr;

        if (h->p_type == PT_NOTE && is_readable(module, lo, lo + h->p_memsz))
            bytes = find_id(lo, lo + h->p_memsz, h->p_align == 8 ? 8 : 4, id);
    }
    sgc_assert(bytes <= SGC_BUILD_ID);
    return bytes;
}

/* ---- the path ---- */

/* The system knows the program's. */
static size_t find_path(const struct sgc_module *module, char path[SGC_MODULE_PATH])
{
    size_t length = strlen(module->name);
    long linked;

    if (length != 0) {
        length = length < SGC_MODULE_PATH ? length : SGC_MODULE_PATH;
        memcpy(path, module->name, length);
        return length;
    }
    linked = sgc_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, SGC_MODULE_PATH);
    sgc_assert(linked <= SGC_MODULE_PATH);
    return linked > 0 ? (size_t)linked : 0;
}

void sgc_module_file(const struct sgc_module *module, struct sgc_module_file *file)
{
    sgc_assert(module->name != NULL && module->headers != NULL);
    file->path_bytes = find_path(module, file->path);
    file->id_bytes = find_build_id(module, file->id);
}

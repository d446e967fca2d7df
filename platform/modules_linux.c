/* SPDX-License-Identifier: MIT */
/*
 * The loaded modules, their static data and thread-local segments, from the loader's own list.
 *
 * Runs on the collecting thread; the caller may stop the world in it.  The loader's list of modules
 * is locked all the while (its lock is recursive):
 *
 *   dl_iterate_phdr, first callback (lock taken)
 *       has the loader changed the list since last time?
 *           dl_iterate_phdr again (lock taken twice): collect into the caller's arrays
 *       at_snapshot: the caller stops the world, looks at what was collected, and lets it go
 *   return (lock freed)
 *
 * Collecting before the world is stopped loses nothing, because nobody can add or unmap a module
 * while we hold the lock (glibc unmaps under it), and the client's filter may so be called, and may
 * call malloc.  Threads that the stop does not concern go on, and wait if they unload one.  A
 * thread that the stop catches waiting for the lock sleeps in the kernel and takes the signal
 * there.
 *
 * Only the namespace that SGC was loaded into is listed: modules from dlmopen are no roots.
 *
 * Is there a second collector in this process?  A library that calls itself libgc.so or libsgc.so
 * (its DT_SONAME) is one if this code is not in it; but the drop-in next to libsgc is no other: its
 * DT_FILTER leads all look-ups to libsgc (a filter for anything else is not the drop-in).  A
 * collector that is linked statically into something cannot be told from other code.
 */
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"

/* ---- SGC's own state ------------------------------------------------------------------------- */

/* The linker defines these two for a section whose name is a C identifier.  Hidden: each module
 * that contains SGC means its own. */
extern char __start_sgc_state[] __attribute__((visibility("hidden")));
extern char __stop_sgc_state[] __attribute__((visibility("hidden")));

/* Aligns the section's start, and makes sure there is one; `used`, since only an assertion names
 * it. */
__attribute__((used)) static SGC_STATE struct { _Alignas(64) char anchor[64]; } own_anchor;

struct sgc_range sgc_own_data(void)
{
    struct sgc_range own = { (uintptr_t)__start_sgc_state, (uintptr_t)__stop_sgc_state };
    sgc_assert(own.lo <= (uintptr_t)&own_anchor && (uintptr_t)&own_anchor < own.hi);
    return own;
}

/* Where the list of large ones begins and ends, and one, so that there is a list. */
extern const struct sgc_own_large __start_sgc_large[] __attribute__((visibility("hidden")));
extern const struct sgc_own_large __stop_sgc_large[] __attribute__((visibility("hidden")));
static char large_anchor;
SGC_STATE_LARGE(large_anchor);

struct sgc_range sgc_own_large(size_t i)
{
    size_t count = ((uintptr_t)__stop_sgc_large - (uintptr_t)__start_sgc_large) / sizeof(struct sgc_own_large);

    sgc_assert(count > 0);          /* the anchor is one */
    uintptr_t start = i < count ? (uintptr_t)__start_sgc_large[i].start : 0;

    return (struct sgc_range){ start, start + (i < count ? __start_sgc_large[i].bytes : 0) };
}

/* ---- which modules are collectors ------------------------------------------------------------ */

/* From a module's own dynamic section. */
struct identity {
    const char *soname;         /* "" if it has none */
    bool filter;                /* its symbols are looked up in libsgc */
};

struct search {
    bool in_libsgc;             /* this code is in libsgc.so */
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

static int identify_own(struct dl_phdr_info *info, size_t size, void *raw)
{
    struct search *search = raw;

    (void)size;
    sgc_assert(!search->found);
    if (!contains(info, (uintptr_t)&identify_own))
        return 0;
    search->in_libsgc = starts(identify(info).soname, "libsgc.so");
    return 1;
}

static bool is_drop_in(struct identity is)
{
    return is.filter && starts(is.soname, "libgc.so");
}

/* Is the module the drop-in while this code is in the libsgc next to it?  Then nobody calls what is
 * in it. */
static bool module_is_idle(const struct dl_phdr_info *info)
{
    struct search search = { .in_libsgc = false };

    if (!is_drop_in(identify(info)))
        return false;
    dl_iterate_phdr(identify_own, &search);
    return search.in_libsgc;
}

/* A sanitizer's runtime has megabytes of static data (of gcc's ThreadSanitizer 50), and no object
 * of the program is kept by them alone: what it keeps for the program, it keeps in mappings of its
 * own. */
static bool belongs_to_sanitizer(const char *soname)
{
    static const char *const runtimes[] = {
        "libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libubsan.so", "libclang_rt.",
    };

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (starts(soname, runtimes[i]))
            return true;
    return false;
}

/* ---- collecting ------------------------------------------------------------------------------ */

struct collection {
    struct sgc_modules *modules;
    sgc_module_filter_t skip;
};

/* The list is well formed, though perhaps not up to date. */
static void check_modules(const struct sgc_modules *modules)
{
    sgc_assert(modules->range != NULL || modules->range_capacity == 0);
    sgc_assert(modules->tls != NULL || modules->tls_capacity == 0);
    sgc_assert(modules->ranges >= 0 && modules->ranges <= modules->range_capacity);
    sgc_assert(modules->tlses >= 0 && modules->tlses <= modules->tls_capacity);
    sgc_assert(modules->modules >= 0 && modules->modules <= modules->module_capacity);
    sgc_assert(modules->overflow >= 0);
    for (int i = 0; i < modules->ranges; i++) {
        sgc_assert(modules->range[i].lo < modules->range[i].hi);
        sgc_assert(modules->range[i].lo % sizeof(void *) == 0 && modules->range[i].hi % sizeof(void *) == 0);
    }
    for (int i = 0; i < modules->tlses; i++)
        sgc_assert(modules->tls[i].module != 0 && modules->tls[i].bytes != 0);
    for (int i = 1; i < modules->modules; i++)
        sgc_assert(modules->module[i - 1].range.lo <= modules->module[i].range.lo);
}

static void add_range(struct sgc_modules *modules, uintptr_t lo, uintptr_t hi)
{
    sgc_assert(modules->ranges <= modules->range_capacity);
    lo = (lo + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    hi &= ~(sizeof(void *) - 1);
    if (lo >= hi)
        return;
    if (modules->ranges < modules->range_capacity)
        modules->range[modules->ranges++] = (struct sgc_range){ lo, hi };
    else
        modules->overflow++;
}

/* The parts left out of a segment: the read-only part, then SGC's own state, then the large parts
 * of that. */
struct holes {
    struct sgc_range relro;
    size_t next;                /* 0: that; 1: sgc_own_data; more: sgc_own_large */
};

static struct sgc_range next_hole(struct holes *holes)
{
    size_t i = holes->next++;

    return i == 0 ? holes->relro : i == 1 ? sgc_own_data() : sgc_own_large(i - 2);
}

/* Adds `whole` without the holes; an empty one behind the first two is the end of them.  As deep as
 * there are holes. */
static void add_without(struct sgc_modules *modules, struct sgc_range whole, struct holes holes)
{
    struct sgc_range hole = next_hole(&holes);

    sgc_assert(whole.lo <= whole.hi);
    if (hole.lo >= hole.hi && holes.next > 2) {
        add_range(modules, whole.lo, whole.hi);
        return;
    }
    if (hole.lo >= hole.hi || hole.hi <= whole.lo || hole.lo >= whole.hi)
        hole = (struct sgc_range){ whole.hi, whole.hi };
    sgc_assert(hole.lo <= hole.hi && hole.lo <= whole.hi);
    if (whole.lo < hole.lo)
        add_without(modules, (struct sgc_range){ whole.lo, hole.lo }, holes);
    if (hole.hi < whole.hi)
        add_without(modules, (struct sgc_range){ hole.hi, whole.hi }, holes);
}

/* The range that the loader makes read-only once it has relocated the module: whole OS pages, so
 * the last part of the segment may stay writable. */
static struct sgc_range relro_of(const struct dl_phdr_info *info)
{
    const ElfW(Phdr) *segment = segment_of(info, PT_GNU_RELRO);
    uintptr_t lo = segment != NULL ? info->dlpi_addr + segment->p_vaddr : 0;
    return (struct sgc_range){ lo, segment != NULL ? (lo + segment->p_memsz) & ~(sgc_os_page_size() - 1) : 0 };
}

static void add_data(const struct collection *collection, const struct dl_phdr_info *info,
                     const ElfW(Phdr) *segment, struct sgc_range relro)
{
    uintptr_t lo = info->dlpi_addr + segment->p_vaddr;

    sgc_assert(segment->p_type == PT_LOAD && lo + segment->p_memsz >= lo);
    if (collection->skip && collection->skip(info->dlpi_name, lo, segment->p_memsz))
        return;
    struct sgc_range whole = { lo, lo + segment->p_memsz };
    add_without(collection->modules, whole, (struct holes){ relro, 0 });
}

/* The loader says where the calling thread's block is, or NULL if that has none or its vector is
 * old. */
static void add_tls(struct sgc_modules *modules, const struct dl_phdr_info *info, size_t size,
                    const ElfW(Phdr) *segment)
{
    struct sgc_module_tls tls = { info->dlpi_tls_modid, segment->p_memsz, info->dlpi_addr, 0, SGC_TLS_ASK };

    sgc_assert(segment->p_type == PT_TLS && modules->tlses <= modules->tls_capacity);
    if (tls.bytes == 0 || tls.module == 0)
        return;
    if (modules->tlses >= modules->tls_capacity) {
        modules->overflow++;
        return;
    }
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data && info->dlpi_tls_data) {
        tls.offset = (uintptr_t)info->dlpi_tls_data - sgc_tls_thread_pointer();
        tls.place = SGC_TLS_GUESSED;
    }
    modules->tls[modules->tlses++] = tls;
}

/* Nothing of it is mapped where its range is empty. */
static struct sgc_module module_of(const struct dl_phdr_info *info)
{
    struct sgc_module module = {
        .name = info->dlpi_name, .headers = info->dlpi_phdr, .header_count = info->dlpi_phnum, .bias = info->dlpi_addr,
    };
    struct sgc_segment segment;

    for (int header = 0; sgc_module_segment(&module, &header, &segment);) {
        if (module.range.hi == 0 || segment.range.lo < module.range.lo)
            module.range.lo = segment.range.lo;
        if (segment.range.hi > module.range.hi)
            module.range.hi = segment.range.hi;
    }
    return module;
}

/* Modules that were loaded one after the other mostly lie below each other, or above. */
static void add_module(struct sgc_modules *modules, struct sgc_module module)
{
    int i = modules->modules;

    sgc_assert(modules->modules <= modules->module_capacity);
    if (module.range.lo >= module.range.hi)
        return;
    if (i == modules->module_capacity) {
        modules->overflow++;
        return;
    }
    for (; i > 0 && modules->module[i - 1].range.lo > module.range.lo; i--)
        modules->module[i] = modules->module[i - 1];
    modules->module[i] = module;
    modules->modules++;
}

static int collect_module(struct dl_phdr_info *info, size_t size, void *raw)
{
    const struct collection *collection = raw;
    struct sgc_range relro = relro_of(info);
    bool has_roots = !belongs_to_sanitizer(identify(info).soname);
    add_module(collection->modules, module_of(info));
    if (module_is_idle(info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_TLS)
            add_tls(collection->modules, info, size, segment);
        else if (has_roots && segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == (PF_R | PF_W))
            add_data(collection, info, segment, relro);
    }
    return 0;
}

/* ---- the snapshot ---------------------------------------------------------------------------- */

struct snapshot {
    struct collection collection;
    void (*at_snapshot)(void *arg);
    void *arg;
    bool done;
};

static bool has_counters(size_t size)
{
    return size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(unsigned long long);
}

/* A list that overflowed is never up to date: its counters are forgotten. */
static bool is_current(const struct sgc_modules *modules, const struct dl_phdr_info *info, size_t size)
{
    return has_counters(size) && modules->adds != 0 && modules->adds == info->dlpi_adds
        && modules->subs == info->dlpi_subs;
}

static void rebuild(struct collection *collection, const struct dl_phdr_info *info, size_t size)
{
    struct sgc_modules *modules = collection->modules;
    modules->ranges = modules->tlses = modules->modules = modules->overflow = 0;
    dl_iterate_phdr(collect_module, collection);
    bool known = modules->overflow == 0 && has_counters(size);
    modules->adds = known ? info->dlpi_adds : 0;
    modules->subs = known ? info->dlpi_subs : 0;
    check_modules(modules);
}

/* Called for the first module only: it does all the work and ends the iteration. */
static int take_snapshot(struct dl_phdr_info *info, size_t size, void *raw)
{
    struct snapshot *snapshot = raw;
    struct sgc_modules *modules = snapshot->collection.modules;

    sgc_assert(!snapshot->done);
    if (!is_current(modules, info, size))
        rebuild(&snapshot->collection, info, size);
    snapshot->done = modules->overflow == 0;
    if (snapshot->done && snapshot->at_snapshot)
        snapshot->at_snapshot(snapshot->arg);
    return 1;
}

bool sgc_modules_snapshot(struct sgc_modules *modules, sgc_module_filter_t skip,
                          void (*at_snapshot)(void *arg), void *arg)
{
    struct snapshot snapshot = { { modules, skip }, at_snapshot, arg, false };

    sgc_assert(modules != NULL && modules->range_capacity >= 0 && modules->tls_capacity >= 0);
    dl_iterate_phdr(take_snapshot, &snapshot);
    return snapshot.done;
}

/* A list without room overflows once for each entry of any kind. */
void sgc_modules_count(int *ranges, int *tlses)
{
    struct sgc_modules counted = { .overflow = 0 };

    sgc_assert(ranges != NULL && tlses != NULL);
    if (sgc_modules_snapshot(&counted, NULL, NULL, NULL))
        counted.overflow = 0;
    sgc_assert(counted.ranges == 0 && counted.tlses == 0);
    *ranges = *tlses = counted.overflow;
}

/* ---- another collector ----------------------------------------------------------------------- */

static int find_other(struct dl_phdr_info *info, size_t size, void *raw)
{
    struct search *search = raw;
    struct identity is = identify(info);

    (void)size;
    sgc_assert(search->path != NULL && !search->found && is.soname != NULL);
    if (!starts(is.soname, "libgc.so") && !starts(is.soname, "libsgc.so"))
        return 0;
    if (contains(info, (uintptr_t)&find_other) || (is.filter && search->in_libsgc))
        return 0;
    snprintf(search->path, search->bytes, "%s", info->dlpi_name);
    search->found = true;
    return 1;
}

bool sgc_modules_other_collector(char *path, size_t bytes)
{
    struct search search = { .path = path, .bytes = bytes };

    sgc_assert(path != NULL && bytes > 0);
    dl_iterate_phdr(identify_own, &search);
    dl_iterate_phdr(find_other, &search);
    return search.found;
}

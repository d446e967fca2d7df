/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/platform.h. */
#include "perfmodel/sim/platform.h"

#include <sys/mman.h>

#include "alloc/small/cache.h"
#include "perfmodel/sim/schedule.h"
#include "platform/compiler.h"
#include "platform/find_pointers.h"
#include "platform/nodes/placement.h"
#include "platform/platform.h"
#include "platform/report.h"

enum { OS_PAGE = 4096 };

static struct {
    char *base;
    size_t bytes, used;
} range;

/* ---- the range ---- */

/* Aligned to arenas, wherever the system puts it. */
bool sgc_sim_platform_begin(size_t bytes)
{
    size_t align = (size_t)4 << 20;
    char *start;

    sgc_assert(bytes != 0 && bytes % OS_PAGE == 0);
    sgc_sim_platform_end();
    start = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    range.base = (char *)sgc_round_up((uintptr_t)start, align);
    if (range.base > start)
        munmap(start, (size_t)(range.base - start));
    if (start + align > range.base)
        munmap(range.base + bytes, (size_t)(start + align - range.base));
    range.bytes = bytes;
    range.used = 0;
    return true;
}

void sgc_sim_platform_end(void)
{
    if (range.base != NULL)
        munmap(range.base, range.bytes);
    range.base = NULL;
    range.bytes = range.used = 0;
}

uintptr_t sgc_sim_platform_base(void)
{
    return (uintptr_t)range.base;
}

size_t sgc_sim_platform_bytes(void)
{
    return range.bytes;
}

size_t sgc_sim_platform_used(void)
{
    return range.used;
}

void sgc_sim_platform_reset(size_t used)
{
    sgc_assert(used <= range.used && used % OS_PAGE == 0);
    if (range.used != used)
        madvise(range.base + used, range.used - used, MADV_DONTNEED);
    range.used = used;
}

/* ---- memory ---- */

size_t sgc_os_page_size(void)
{
    return OS_PAGE;
}

void *sgc_mem_reserve(size_t bytes, size_t align)
{
    size_t start = sgc_round_up(range.used, align > OS_PAGE ? align : OS_PAGE);

    sgc_assert(range.base != NULL && (align & (align - 1)) == 0);
    bytes = sgc_round_up(bytes, OS_PAGE);
    if (start > range.bytes || bytes > range.bytes - start)
        return NULL;
    range.used = start + bytes;
    return range.base + start;
}

void *sgc_mem_obtain(size_t bytes)
{
    return sgc_mem_reserve(bytes, OS_PAGE);
}

bool sgc_stretch_open(struct sgc_stretch *stretch, size_t bytes, size_t align)
{
    char *start = sgc_mem_reserve(bytes, align);

    *stretch = (struct sgc_stretch){ .start = start, .bytes = start != NULL ? sgc_round_up(bytes, OS_PAGE) : 0 };
    return start != NULL;
}

bool sgc_stretch_grow(struct sgc_stretch *stretch, size_t have)
{
    sgc_assert(stretch->start != NULL);
    if (have > stretch->bytes)
        return false;
    if (have > stretch->have)
        stretch->have = have;
    return true;
}

/* All is given back at once, by sgc_sim_platform_reset. */
void sgc_stretch_close(struct sgc_stretch *stretch)
{
    *stretch = (struct sgc_stretch){ .start = NULL };
}

bool sgc_mem_commit(void *start, size_t bytes)
{
    sgc_assert((uintptr_t)start % OS_PAGE == 0 && bytes % OS_PAGE == 0);
    (void)start, (void)bytes;
    return true;
}

void sgc_mem_release(void *start, size_t bytes)
{
    (void)start, (void)bytes;
}

bool sgc_mem_discard(void *start, size_t bytes)
{
    (void)start, (void)bytes;
    return true;
}

size_t sgc_mem_resident(void *start, size_t bytes)
{
    (void)start, (void)bytes;
    return 0;
}

size_t sgc_limit_mapped(void)
{
    return SIZE_MAX;
}

size_t sgc_limit_address_space(void)
{
    return SIZE_MAX;
}

size_t sgc_limit_physical_memory(void)
{
    return range.bytes;
}

/* ---- time, waiting, nodes ---- */

uint64_t sgc_clock_ns(void)
{
    return sgc_sim_now() / 1000;
}

bool sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns)
{
    return sgc_a32_load(word) != expected || sgc_sim_sleep(word, timeout_ns);
}

void sgc_wake(sgc_a32_t *word, int count)
{
    sgc_sim_wake(word, count);
}

void sgc_yield(void)
{
    sgc_sim_yield();
}

void sgc_spin_hint(void)
{
    sgc_sim_pause();
}

int sgc_node_here(void)
{
    return (int)sgc_sim_node_of(sgc_sim_self());
}

/* ---- threads that allocate: there are none, so nobody is in a section ---- */

_Thread_local struct sgc_cache *sgc_self __attribute__((tls_model("initial-exec")));

void sgc_section_enter_again(struct sgc_section *self, uintptr_t sp)
{
    sgc_fatal("a simulated marker is in the section %p at %p; there is none: report this", (void *)self, (void *)sp);
}

void sgc_section_stop_requested(struct sgc_section *self)
{
    sgc_section_enter_again(self, 0);
}

void sgc_section_used_inside(const struct sgc_section *self)
{
    sgc_fatal("a simulated marker is in the section %p; there is none: report this", (const void *)self);
}

/* ---- words of objects: platform/find_pointers.h ---- */

/* Where a machine has longer ones, some are read twice. */
static uintptr_t next_line(uintptr_t address)
{
    return sgc_round_down(address, SGC_CACHE_LINE) + SGC_CACHE_LINE;
}

/* A look at each line, and the words that are in it. */
static size_t scan(uintptr_t *inside, struct sgc_words words, uintptr_t base, uintptr_t limit)
{
    uintptr_t at = words.start, end = at + words.bytes;
    size_t n = 0, lines = 0;

    sgc_assert(at % sizeof at == 0 && words.bytes % sizeof at == 0);
    for (; at < end; lines++) {
        uintptr_t stop = next_line(at) < end ? next_line(at) : end;

        sgc_sim_access((const void *)at, SGC_SIM_WORD);
        for (; at < stop; at += sizeof at) {
            inside[n] = *(const uintptr_t *)at - base;
            n += inside[n] < limit;
        }
    }
    sgc_sim_spend_scan(words.bytes / sizeof at - lines, n);
    return n;
}

static size_t words_inside(uintptr_t *inside, const struct sgc_words *words, size_t ranges, uintptr_t base, uintptr_t limit)
{
    size_t n = 0;

    for (size_t i = 0; i < ranges; i++)
        n += scan(inside + n, words[i], base, limit);
    return n;
}

struct sgc_word_form sgc_word_form = { .mask = UINTPTR_MAX, .shift = 0 };

/* Programs' words are plain. */
sgc_words_form *sgc_words_inside(unsigned i, bool masked)
{
    sgc_assert(!masked);
    return i == 0 ? words_inside : NULL;
}

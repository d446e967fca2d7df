/* SPDX-License-Identifier: MIT */
/* See gc/collect/write_watch.h. */
#include "gc/collect/write_watch.h"

#include <string.h>

#include "alloc/pages/page.h"
#include "gc/collect/torture.h"
#include "gc/config/options.h"
#include "mark/team.h"
#include "mark/written.h"
#include "platform/dirty.h"
#include "platform/faults.h"
#include "platform/platform.h"
#include "platform/report.h"

enum {
    AT_ONCE = 8,                /* arenas watched by one call: to do it stops the program's calls of mmap */
    EVERYTHING = 8,             /* once in so many times all of them count as written, under torture */
};

struct watch {
    sgc_a32_t manual;                   /* the program has promised to report its writes */
    sgc_aw_t source;                    /* struct sgc_dirty_source; 0: none is open */
    uint64_t written[AT_ONCE][SGC_WRITTEN_WORDS];
};

SGC_STATE static struct watch watch;

static const struct sgc_dirty_source *source(void)
{
    return (const struct sgc_dirty_source *)sgc_aw_load_acq(&watch.source);
}

/* ---- choosing ---- */

static const struct sgc_dirty_source *const by_option[] = {
    [SGC_DIRTY_ASYNC] = &sgc_dirty_async, [SGC_DIRTY_SOFT] = &sgc_dirty_soft,
    [SGC_DIRTY_MPROTECT] = &sgc_dirty_mprotect, [SGC_DIRTY_NONE] = &sgc_dirty_none,
    [SGC_DIRTY_SOFTWARE] = &sgc_dirty_software,
};

static bool open_one(const struct sgc_dirty_source *one, struct sgc_dirty_refusal *why)
{
    if (!sgc_dirty_open(one, sgc_heap.base, sgc_heap.base + sgc_heap.reserved, why))
        return false;
    sgc_aw_store_rel(&watch.source, (uintptr_t)one);
    return true;
}

static void say_refused(const char *name, const struct sgc_dirty_refusal *why, const char *then)
{
    sgc_warn("SGC_DIRTY=%s does not work here: %s%s%s; %s", name, why->step, why->error != 0 ? ": " : " reports wrong pages",
             why->error != 0 ? strerror(why->error) : "", then);
}

static bool open_best(void)
{
    struct sgc_dirty_refusal why, ignored;

    if (open_one(&sgc_dirty_async, &why))
        return true;
    if (open_one(&sgc_dirty_soft, &ignored)) {
        say_refused("async", &why, "soft-dirty bits are used, which makes the last pauses longer");
        return true;
    }
    say_refused("async", &why, "collections stop the program for their whole mark. Allow userfaultfd, or say "
                "SGC_DIRTY=mprotect if the program makes no system call write into the heap");
    return false;
}

void sgc_watch_set_manual(bool on)
{
    if (source() == NULL)
        sgc_a32_store(&watch.manual, on);
}

bool sgc_watch_open(void)
{
    struct sgc_dirty_refusal why;
    int wanted = sgc_options.dirty;

    if (source() != NULL)
        return true;
    if (wanted == SGC_DIRTY_AUTO && sgc_a32_load(&watch.manual) != 0)
        wanted = SGC_DIRTY_SOFTWARE;
    if (wanted == SGC_DIRTY_AUTO)
        return open_best();
    if (open_one(by_option[wanted], &why))
        return true;
    say_refused(by_option[wanted]->name, &why, "collections stop the program for their whole mark. SGC_DIRTY=auto takes "
                "what works");
    return false;
}

const char *sgc_watch_name(void)
{
    return source() != NULL ? source()->name : "none";
}

bool sgc_watch_kernel_writes(void)
{
    return source() == NULL || source()->kernel_writes;
}

bool sgc_watch_rearms_running(void)
{
    return source() != NULL && source()->rearms_running;
}

/* ---- all of the heap ---- */

static uint32_t arenas(void)
{
    return (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) / SGC_ARENA);
}

static uintptr_t arena_start(uint32_t arena)
{
    return sgc_heap.base + (uintptr_t)arena * SGC_ARENA;
}

/* What is in use with pointers in it; a page that becomes so afterwards was not watched, so it counts as written. */
static bool is_to_be_watched(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);

    if (state == SGC_PAGE_SMALL)
        return sgc_kind_has_pointers(d->kind);
    return (state == SGC_PAGE_SPAN || state == SGC_PAGE_SPAN_TAIL) && sgc_kind_has_pointers(sgc_span_kind(d));
}

/* Adjacent pages go together. */
static void arm_arena(uint32_t arena)
{
    uint32_t first = arena * SGC_ARENA_PAGES, end = first + SGC_ARENA_PAGES, from = end;

    for (uint32_t page = first; page <= end; page++) {
        bool wanted = page < end && is_to_be_watched(page);

        if (wanted && from == end)
            from = page;
        if (wanted || from == end)
            continue;
        source()->arm(sgc_page_start(from), sgc_page_start(from) + (uintptr_t)(page - from) * SGC_PAGE);
        from = end;
    }
}

void sgc_watch_arm(void)
{
    for (uint32_t arena = 0, count = arenas(); arena < count; arena++)
        arm_arena(arena);
}

/* Collects some arenas' bits by one call. */
static void collect(uint32_t arena, uint32_t count, bool rearm)
{
    sgc_assert(count <= AT_ONCE && SGC_ARENA / sgc_heap.os_page % 64 == 0);
    memset(watch.written, 0, sizeof watch.written);
    source()->collect(arena_start(arena), arena_start(arena + count), rearm, watch.written[0]);
    if (sgc_torture_chance(sgc_mutator_self(), EVERYTHING))
        memset(watch.written, 0xff, sizeof watch.written);
}

static size_t rescan(struct sgc_marker *marker, uint32_t arena, uint32_t count)
{
    size_t words = SGC_ARENA / sgc_heap.os_page / 64, pages = 0;

    for (uint32_t i = 0; i < count; i++)
        pages += sgc_mark_written(marker, arena + i, watch.written[0] + i * words);
    return pages;
}

/* Behind the watching stands a barrier, or nothing would say that a page is read with all that was written before; and only
 * then the marker takes the heap's limit, since among that may be pointers to new arenas. */
static void watch_anew(struct sgc_team *team)
{
    sgc_barrier_all_threads();
    if (!sgc_fault(SGC_FAULT_OLD_LIMIT))
        sgc_team_renew(team);
}

bool sgc_watch_rescan(struct sgc_team *team, bool rearm, bool (*stop)(void *arg), size_t *pages)
{
    uint32_t count = arenas();

    *pages = 0;
    for (uint32_t arena = 0, some; arena < count; arena += some) {
        some = count - arena < AT_ONCE ? count - arena : AT_ONCE;
        if (stop != NULL && stop(NULL))
            return false;
        collect(arena, some, rearm && !sgc_fault(SGC_FAULT_REARMED_LATE));
        if (rearm)
            watch_anew(team);
        *pages += rescan(sgc_team_first(team), arena, some);
        if (rearm && sgc_fault(SGC_FAULT_REARMED_LATE))
            collect(arena, some, true);
    }
    return true;
}

void sgc_watch_after_fork(void)
{
    if (source() == NULL)
        return;
    source()->close();
    sgc_aw_store(&watch.source, 0);
    sgc_watch_open();
}

/* SPDX-License-Identifier: MIT */
/* See gc/collect/write_watch.h. */
#include "gc/collect/write_watch.h"

#include <errno.h>
#include <string.h>

#include "alloc/large/span.h"
#include "alloc/object.h"
#include "gc/collect/torture.h"
#include "gc/config/options.h"
#include "gc/threads/mutator.h"
#include "mark/marker.h"
#include "mark/mark_roots.h"
#include "platform/written/written.h"
#include "platform/faults.h"
#include "platform/platform.h"
#include "platform/report.h"

enum {
    AT_ONCE = 8,                /* arenas watched by one call: to do it stops the program's calls of
                                   mmap */
    EVERYTHING = 8,             /* once in so many times all of them count as written, under
                                   torture */
};

struct watch {
    sgc_a32_t manual;                   /* the program has promised to report its writes */
    sgc_a32_t no_mprotect;              /* it cannot do with pages that are protected */
    sgc_aw_t source;                    /* struct sgc_written_source; 0: none is open */
    sgc_aw_t changing;                  /* the one that is being opened, or closed; 0: none */
    bool lost;                          /* since it was opened something could not be collected */
    int error;                          /* why there was none when one was opened last */
    sgc_aw_t *reported;                 /* what has been said, a bit each: shared with the children
                                           of forks */
    sgc_aw_t reported_here;             /* the same, where nothing can be shared */
    uint64_t written[AT_ONCE][SGC_WRITTEN_WORDS];
};

SGC_STATE static struct watch watch;

static const struct sgc_written_source *source(void)
{
    return (const struct sgc_written_source *)sgc_aw_load_acq(&watch.source);
}

/* ---- choosing ---- */

static const char at_start[] = "here", later[] = "any more";

enum { UNWATCHED = 63 };                /* beside the numbers of errors: some pages cannot be
                                           watched */

static const struct sgc_written_source *const by_option[] = {
    [SGC_DIRTY_ASYNC] = &sgc_written_async, [SGC_DIRTY_SOFT] = &sgc_written_soft,
    [SGC_DIRTY_MPROTECT] = &sgc_written_mprotect, [SGC_DIRTY_NONE] = &sgc_written_none,
    [SGC_DIRTY_SOFTWARE] = &sgc_written_software,
};

/* A source that collects pages and watches them anew beside the program needs the barrier: see
 * watch_anew. */
static const struct sgc_written_refusal no_barrier = { "membarrier", 0 };
static const struct sgc_written_refusal forbidden = { "the program forbids it (GC_set_mprotect_vdb_allowed)", 0 };

static bool is_forbidden(const struct sgc_written_source *one)
{
    return one == &sgc_written_mprotect && !sgc_watch_allows_mprotect();
}

static bool has_barrier(const struct sgc_written_source *one)
{
    return !one->rearms_running || sgc_barrier_all_threads();
}

/* A fork may come in the middle: its child has to know what is half open. */
static bool open_one(const struct sgc_written_source *one, struct sgc_written_refusal *why)
{
    bool opened;

    sgc_assert(source() == NULL);
    *why = is_forbidden(one) ? forbidden : no_barrier;
    if (is_forbidden(one) || !has_barrier(one))
        return false;
    sgc_aw_store_rel(&watch.changing, (uintptr_t)one);
    opened = sgc_written_open(one, sgc_heap.base, sgc_heap.base + sgc_heap.reserved, why);
    if (opened)
        sgc_aw_store_rel(&watch.source, (uintptr_t)one);
    sgc_aw_store_rel(&watch.changing, 0);
    return opened;
}

static void close_source(void)
{
    const struct sgc_written_source *old = source();

    sgc_aw_store_rel(&watch.changing, (uintptr_t)old);
    sgc_aw_store_rel(&watch.source, 0);
    if (old != NULL)
        old->close();
    watch.lost = false;
    sgc_aw_store_rel(&watch.changing, 0);
}

/* The errors of a server come in each of its children, too, which need not report them again. */
static void share_reported(void)
{
    if (watch.reported == NULL)
        watch.reported = sgc_mem_obtain_shared(sizeof *watch.reported);
    if (watch.reported == NULL)
        watch.reported = &watch.reported_here;
}

static bool was_reported(uint32_t what)
{
    uintptr_t bit = (uintptr_t)1 << what % 64;

    sgc_assert(watch.reported != NULL);
    return (sgc_aw_or(watch.reported, bit) & bit) != 0;
}

/* At the start it is said each time: somebody has asked. */
static void say_refused(const char *name, const struct sgc_written_refusal *why, const char *when, const char *then)
{
    if (was_reported((uint32_t)why->error) && when != at_start)
        return;
    sgc_warn("SGC_DIRTY=%s does not work %s: %s%s%s; %s", name, when, why->step, why->error != 0 ? ": " : "",
             why->error != 0 ? strerror(why->error) : "", then);
}

/* If no source can be had. */
static const char *remedy(int error)
{
    if (error == EMFILE || error == ENFILE)
        return "collections stop the program for their whole mark until it has descriptors again. Let it have more (ulimit -n, "
               "or fs.file-max for the whole system)";
    if (error == EACCES)
        return "collections stop the program for their whole mark. Let a process that becomes another user's call "
               "prctl(PR_SET_DUMPABLE, 1) afterwards";
    return "collections stop the program for their whole mark. Allow userfaultfd, or say SGC_DIRTY=mprotect if the program "
           "makes no system call write into the heap";
}

static bool open_best(const char *when)
{
    struct sgc_written_refusal why, ignored;

    if (open_one(&sgc_written_async, &why))
        return true;
    if (open_one(&sgc_written_soft, &ignored)) {
        say_refused("async", &why, when, "soft-dirty bits are used, which makes the last pauses longer");
        return true;
    }
    watch.error = why.error;
    say_refused("async", &why, when, remedy(why.error));
    return false;
}

void sgc_watch_set_manual(bool on)
{
    if (source() == NULL)
        sgc_a32_store(&watch.manual, on);
}

void sgc_watch_allow_mprotect(bool on)
{
    if (source() == NULL)
        sgc_a32_store(&watch.no_mprotect, !on);
}

bool sgc_watch_allows_mprotect(void)
{
    return sgc_a32_load(&watch.no_mprotect) == 0;
}

static bool open_wanted(const char *when)
{
    struct sgc_written_refusal why;
    int wanted = sgc_options.dirty;

    sgc_assert(source() == NULL && wanted >= SGC_DIRTY_AUTO && wanted <= SGC_DIRTY_SOFTWARE);
    if (wanted == SGC_DIRTY_AUTO && sgc_a32_load(&watch.manual) != 0)
        wanted = SGC_DIRTY_SOFTWARE;
    if (wanted == SGC_DIRTY_AUTO)
        return open_best(when);
    if (open_one(by_option[wanted], &why))
        return true;
    watch.error = why.error;
    say_refused(by_option[wanted]->name, &why, when, "collections stop the program for their whole mark. SGC_DIRTY=auto "
                "takes what works");
    return false;
}

/* For a reason that goes by, as when a process has no descriptors left. */
static bool may_open_later(void)
{
    return watch.error == EMFILE || watch.error == ENFILE || watch.error == ENOMEM || watch.error == EAGAIN;
}

enum sgc_watch_opened sgc_watch_open(bool again)
{
    if (!again)
        share_reported();
    if (source() != NULL || open_wanted(again ? later : at_start))
        return SGC_WATCH_OPEN;
    return may_open_later() ? SGC_WATCH_LATER : SGC_WATCH_REFUSED;
}

const char *sgc_watch_name(void)
{
    const struct sgc_written_source *now = source();

    return now != NULL ? now->name : "none";
}

int sgc_watch_source(void)
{
    const struct sgc_written_source *now = source();

    for (int dirty = SGC_DIRTY_ASYNC; now != NULL && dirty <= SGC_DIRTY_SOFTWARE; dirty++)
        if (by_option[dirty] == now)
            return dirty;
    sgc_assert(now == NULL);
    return SGC_DIRTY_AUTO;
}

bool sgc_watch_kernel_writes(void)
{
    const struct sgc_written_source *now = source();     /* the lead may close it */

    return now == NULL || now->kernel_writes;
}

bool sgc_watch_rearms_running(void)
{
    return source() != NULL && source()->rearms_running && !watch.lost;
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

/* Is the page in use, with pointers in it?  The page may become another one meanwhile: if it is not
 * watched, it counts as written, and if it needs no watch, that does no harm. */
static bool is_to_be_watched(uint32_t page)
{
    bool small = sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL;
    uint32_t first = small ? page : sgc_span_first_page(page);

    return first != SGC_NO_PAGE && sgc_kind_has_pointers(sgc_page_kind_now(&sgc_heap.pages[first]));
}

/* Calls fn for each run of adjacent pages of the arena that are to be watched. */
static void each_run(uint32_t arena, void (*fn)(uint32_t from, uint32_t end, void *arg), void *arg)
{
    uint32_t first = arena * SGC_ARENA_PAGES, end = first + SGC_ARENA_PAGES, from = end;

    for (uint32_t page = first; page <= end; page++) {
        bool wanted = page < end && is_to_be_watched(page);

        if (wanted && from == end)
            from = page;
        if (wanted || from == end)
            continue;
        fn(from, page, arg);
        from = end;
    }
}

/* Numbers of ranges that were to be watched, and of those that the source refused. */
struct armed {
    size_t wanted, refused;
};

static void arm_pages(uint32_t from, uint32_t end, void *arg)
{
    struct armed *armed = arg;

    sgc_assert(from < end);
    armed->wanted++;
    armed->refused += !source()->arm(sgc_page_start(from), sgc_page_start(from) + (uintptr_t)(end - from) * SGC_PAGE);
}

/* For a source to which each range is as dear as all of the process. */
static bool arm_at_once(void)
{
    uint32_t count = arenas();

    return count == 0 || source()->arm(arena_start(0), arena_start(count));
}

/* False: none of it. */
static bool arm_all(void)
{
    struct armed armed = { 0, 0 };

    if (source()->arms_all)
        return arm_at_once();
    for (uint32_t arena = 0, count = arenas(); arena < count; arena++)
        each_run(arena, arm_pages, &armed);
    if (armed.wanted != 0 && armed.refused == armed.wanted)
        return false;
    if (armed.refused != 0 && !was_reported(UNWATCHED))
        sgc_warn("SGC_DIRTY=%s: %zu of %zu ranges of the heap cannot be watched and count as written, which makes pauses "
                 "longer. Let the process have more mappings (vm.max_map_count) or memory", source()->name, armed.refused,
                 armed.wanted);
    return true;
}

static bool open_anew(void)
{
    close_source();
    return open_wanted(later);
}

static void keep_stacks_open(void);

bool sgc_watch_arm(void)
{
    static const struct sgc_written_refusal why = { "the heap's pages cannot be watched", 0 };

    watch.lost = watch.lost || (source() != NULL && !has_barrier(source()));
    for (int tries = 0; tries < 2; tries++) {
        if ((source() == NULL || watch.lost || tries > 0) && !open_anew())
            return false;
        keep_stacks_open();
        if (arm_all())
            return true;
    }
    say_refused(source()->name, &why, later, "collections stop the program for their whole mark");
    close_source();
    return false;
}

void sgc_watch_rest(void)
{
    if (source() != NULL && source()->rest != NULL)
        source()->rest();
}

/* ---- stacks in the heap ---- */

/* All of the object: how far down the stack reaches is not known. */
void sgc_watch_keep_open(uintptr_t stack)
{
    const struct sgc_written_source *watching = source();
    struct sgc_object object;

    if (watching != NULL && watching->keep_open != NULL && sgc_heap_contains(stack) && sgc_object_slot(stack, &object))
        watching->keep_open(object.start, object.start + object.bytes);
}

/* A thread that says on which stack it goes on still stands on another one for a moment. */
static void keep_stacks_open(void)
{
    struct sgc_registry_scope scope;

    if (source()->keep_open == NULL)
        return;
    sgc_registry_enter(&scope);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        sgc_watch_keep_open(m->stack.high - 1);
        sgc_watch_keep_open(sgc_aw_load_acq(&m->reported_bottom[0]) - 1);
        sgc_watch_keep_open(sgc_aw_load_acq(&m->reported_bottom[1]) - 1);
    }
    sgc_registry_leave(&scope);
}

/* ---- what was written ---- */

static void collect_range(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    if (!source()->collect(low, high, rearm, written))
        watch.lost = true;
}

/* Puts a page's bits in place of those that are there; all of them lie in one word. */
static void put_bits(uint64_t *written, uint32_t page, const uint64_t *bits, uint32_t from)
{
    uint32_t each = (uint32_t)(SGC_PAGE / sgc_heap.os_page), have = (page - from) * each, put = page % SGC_ARENA_PAGES * each;
    uint64_t mask = (UINT64_C(1) << each) - 1;

    sgc_assert(each > 0 && 64 % each == 0);
    written[put / 64] &= ~(mask << put % 64);
    written[put / 64] |= (bits[have / 64] >> have % 64 & mask) << put % 64;
}

static void collect_pages(uint32_t from, uint32_t end, void *written)
{
    uint64_t bits[SGC_WRITTEN_WORDS] = { 0 };

    sgc_assert(from < end && end - from <= SGC_ARENA_PAGES);
    collect_range(sgc_page_start(from), sgc_page_start(end - 1) + SGC_PAGE, true, bits);
    for (uint32_t page = from; page < end; page++)
        put_bits(written, page, bits, from);
}

/* Collects an arena's bits, and has only those pages watched anew that are in use and have
 * pointers: system calls could not write into the others.  Those count as written, in case they
 * come into use. */
static void collect_in_use(uint32_t arena, uint64_t *written)
{
    memset(written, 0xff, SGC_ARENA / sgc_heap.os_page / 8);
    each_run(arena, collect_pages, written);
}

/* Collects some arenas' bits, by one call if that may be. */
static void collect(struct sgc_mutator *self, uint32_t arena, uint32_t count, bool rearm)
{
    size_t words = SGC_ARENA / sgc_heap.os_page / 64;

    sgc_assert(count <= AT_ONCE && SGC_ARENA / sgc_heap.os_page % 64 == 0);
    memset(watch.written, 0, sizeof watch.written);
    if (rearm && !source()->kernel_writes)
        for (uint32_t i = 0; i < count; i++)
            collect_in_use(arena + i, watch.written[0] + i * words);
    else
        collect_range(arena_start(arena), arena_start(arena + count), rearm, watch.written[0]);
    if (watch.lost || sgc_torture_chance(self, EVERYTHING))
        memset(watch.written, 0xff, sizeof watch.written);
}

static size_t rescan(struct sgc_marker *marker, uint32_t arena, uint32_t count)
{
    size_t words = SGC_ARENA / sgc_heap.os_page / 64, pages = 0;

    for (uint32_t i = 0; i < count; i++)
        pages += sgc_mark_written(marker, arena + i, watch.written[0] + i * words);
    return pages;
}

/* Behind the watching stands a barrier, or nothing would say that a page is read with all that was
 * written before; and only then the marker takes the heap's limit, since among that may be pointers
 * to new arenas.  A filter may refuse the barrier from some time on: then what was watched anew
 * without it says nothing, and all counts as written. */
static void watch_anew(struct sgc_marker *marker)
{
    if (!sgc_barrier_all_threads())
        watch.lost = true;
    if (!sgc_fault(SGC_FAULT_OLD_LIMIT))
        sgc_marker_renew(marker);
}

bool sgc_watch_rescan(struct sgc_mutator *self, struct sgc_marker *marker, bool rearm, bool (*stop)(void *arg),
                      size_t *pages)
{
    uint32_t count = arenas();

    sgc_assert(sgc_mutator_mine(self) && sgc_marker_marks(marker));
    sgc_assert(!rearm || !source()->arms_all);      /* which would clear bits that are not read
                                                       yet */
    *pages = 0;
    for (uint32_t arena = 0, some; arena < count; arena += some) {
        some = count - arena < AT_ONCE ? count - arena : AT_ONCE;
        if (stop != NULL && stop(NULL))
            return false;
        collect(self, arena, some, rearm && !sgc_fault(SGC_FAULT_REARMED_LATE));
        if (rearm)
            watch_anew(marker);
        *pages += rescan(marker, arena, some);
        if (rearm && sgc_fault(SGC_FAULT_REARMED_LATE))
            collect(self, arena, some, true);
    }
    return true;
}

void sgc_watch_after_fork(void)
{
    if (source() == NULL)
        sgc_aw_store_rel(&watch.source, sgc_aw_load_acq(&watch.changing));
    close_source();
}

/* SPDX-License-Identifier: MIT */
/* Objects that have expired and are still there: shortterm/expired.h. */
#include "shortterm/expired.h"

#include <string.h>

#include "alloc/whole_heap.h"
#include "gc/threads/gc_lock.h"
#include "platform/platform.h"
#include "shortterm/counts.h"
#include "shortterm/findings.h"

/* How an object can be reached, the surer the larger. */
enum level { LEVEL_NONE, LEVEL_NEEDED, LEVEL_POSSIBLE, LEVEL_LIKELY, LEVEL_CERTAIN };

struct expired {
    uintptr_t object, caller;
    sgc_tid_t thread;
    uint8_t reported;           /* the surest that was */
    uint8_t found;              /* in this collection */
};

SGC_STATE static struct {
    struct expired *of;
    size_t count, room;
} list;

static size_t bytes_of(size_t room)
{
    return sgc_round_up(room * sizeof(struct expired), sgc_os_page_size());
}

bool sgc_expired_reserve(size_t more)
{
    size_t room = 2 * (list.count + more);
    struct expired *of;

    sgc_assert(sgc_stopped_by_self() && list.count <= list.room);
    if (list.count + more <= list.room)
        return true;
    of = sgc_mem_obtain(bytes_of(room));
    if (of == NULL)
        return false;
    if (list.room != 0) {
        memcpy(of, list.of, list.count * sizeof *of);
        sgc_mem_release(list.of, bytes_of(list.room));
    }
    list.of = of;
    list.room = room;
    return true;
}

void sgc_expired_add(uintptr_t object, uintptr_t caller, sgc_tid_t thread)
{
    sgc_assert(list.count < list.room && sgc_heap_contains(object));
    sgc_counts_note_expired(sgc_granule_number(object), true);
    list.of[list.count++] = (struct expired){ object, caller, thread, LEVEL_NONE, LEVEL_NONE };
}

void sgc_expired_forget(uintptr_t object)
{
    if (sgc_counts_expired(sgc_granule_number(object)))
        sgc_counts_note_expired(sgc_granule_number(object), false);
}

static bool stays(const struct expired *e)
{
    return sgc_counts_expired(sgc_granule_number(e->object));
}

static bool is_marked(const struct expired *e)
{
    struct sgc_object o;

    return sgc_object_find(e->object, &o) && o.start == e->object && sgc_walk_marked(&o);
}

static void keep_those(bool (*keep)(const struct expired *e))
{
    size_t kept = 0;

    for (size_t i = 0; i < list.count; i++)
        if (keep(&list.of[i]))
            list.of[kept++] = list.of[i];
        else
            sgc_counts_note_expired(sgc_granule_number(list.of[i].object), false);
    list.count = kept;
}

void sgc_expired_tidy(void)
{
    sgc_assert(sgc_stopped_by_self());
    keep_those(stays);
}

/* ---- findings ---- */

static void describe(struct sgc_finding *f, const struct expired *e, struct sgc_ways *w)
{
    struct sgc_object o;

    sgc_object_find(e->object, &o);
    f->of.object = (const void *)o.start;
    f->of.bytes = o.bytes;
    f->of.thread = e->thread;
    f->of.certainty = e->found >= LEVEL_LIKELY ? LEVEL_CERTAIN - e->found : SGC_FINDING_POSSIBLE;
    if (e->found == LEVEL_NEEDED)
        f->of.certainty = SGC_FINDING_LIKELY;
    sgc_findings_set_way(f, w);
}

_Static_assert(SGC_FINDING_CERTAIN == 0 && SGC_FINDING_LIKELY == 1, "in one order with the levels, the other way round");

/* One for each place where dates are given: reported is the surest of its objects, and how many there are. */
static void note(struct expired *e, struct sgc_ways *w)
{
    int kind = e->found == LEVEL_NEEDED ? SGC_FINDING_NEEDED : SGC_FINDING_PREMATURE;
    struct sgc_finding *f = sgc_findings_at(kind, (const void *)e->caller);

    if (f == NULL)
        return;                         /* no memory: in the next collection */
    if (f->of.objects == 0 || f->level < e->found) {
        f->level = e->found;
        describe(f, e, w);
    }
    f->of.objects += f->of.objects == 0 || e->reported == LEVEL_NONE;
    e->reported = e->found;
}

static void judge(struct sgc_ways *w, uint8_t level)
{
    for (size_t i = 0; i < list.count; i++) {
        struct expired *e = &list.of[i];

        if (e->found != LEVEL_NONE || !sgc_ways_came_to(w, sgc_granule_number(e->object)))
            continue;
        e->found = level;
        if (level > e->reported)
            note(e, w);
    }
}

/* Is there any of which something surer may be found? */
static bool are_open(void)
{
    bool open = false;

    for (size_t i = 0; i < list.count; i++) {
        list.of[i].found = LEVEL_NONE;
        open |= list.of[i].reported < LEVEL_CERTAIN;
    }
    return open;
}

/* Free would have freed an uncollectable one: what it leads to nobody needs. */
static bool is_dead(uintptr_t object)
{
    return sgc_counts_expired(sgc_granule_number(object));
}

void sgc_expired_judge(void)
{
    static const struct { enum sgc_ways_by by; uint8_t level; } turns[] = {
        { SGC_WAYS_CERTAIN, LEVEL_CERTAIN }, { SGC_WAYS_LIKELY, LEVEL_LIKELY }, { SGC_WAYS_OWN_STACK, LEVEL_POSSIBLE },
        { SGC_WAYS_DATES, LEVEL_NEEDED }
    };
    struct sgc_ways w = { .self = sgc_mutator_self(), .dead = is_dead };

    sgc_assert(sgc_stopped_by_self());
    keep_those(is_marked);
    if (are_open() && sgc_ways_begin(&w))
        for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
            sgc_ways_search(&w, turns[i].by);
            judge(&w, turns[i].level);
        }
    sgc_ways_end(&w);
}

/* SPDX-License-Identifier: MIT */
/* Collections in each way, and what must be true after them.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/compiler.h"
#include "tests/lib/scrub.h"

enum { ROUNDS_MAX = 2 * HANDLES + 4, SEEN = 4000, TRIES = 4 };

static size_t live_at_first;
static int strays;                      /* objects that a word of a stack kept to the end of their input */

/* ---- collecting ---- */

static int asked, until;

static int GC_CALLBACK stop(void)
{
    return asked++ >= until;
}

static void collect_a_little(unsigned times)
{
    for (unsigned i = 0; i < times && GC_collect_a_little(); i++)
        continue;
}

static void collect(unsigned how, unsigned number)
{
    asked = 0;
    until = how == 3 ? (int)number : 1 << 30;
    switch (how) {
    case 0: GC_gcollect(); break;
    case 1: GC_gcollect_and_unmap(); break;
    case 2: case 3: {
        int done = GC_try_to_collect(stop);
        fuzz_expect(done == (disabled == 0) || how == 3, "GC_try_to_collect: %d", done);
        break;
    }
    case 4: collect_a_little(number); break;
    case 5: GC_start_incremental_collection(); break;
    case 6: SGC_mark_some(number * 1000); break;
    default: GC_expand_hp((size_t)number << 12); break;
    }
}

void op_collect(struct fuzz_input *in)
{
    unsigned how = fuzz_below(in, 8), number = fuzz_byte(in);
    GC_word before = GC_get_gc_no();

    collect(how, number);
    if (disabled != 0)
        fuzz_expect(GC_get_gc_no() == before, "a collection, and they are disabled");
}

void op_disable(struct fuzz_input *in)
{
    if (fuzz_byte(in) % 2 != 0 && disabled < 10) {
        GC_disable();
        disabled++;
    } else if (disabled > 0) {
        GC_enable();
        disabled--;
    }
    fuzz_expect((GC_is_disabled() != 0) == (disabled != 0), "GC_is_disabled: %d after %d", GC_is_disabled(), disabled);
}

void op_limit(struct fuzz_input *in)
{
    unsigned code = fuzz_byte(in);

    limited = code % 2 != 0;
    GC_set_max_heap_size(limited ? GC_get_heap_size() + ((GC_word)code << 12) : 0);
}

/* ---- what is gone, and what is not ---- */

static bool on_a_stack(SGC_held_t held)
{
    return held == SGC_HELD_BY_STACK || held == SGC_HELD_BY_OWN_STACK || held == SGC_HELD_BY_THREAD_LOCAL;
}

static const char *name_of(SGC_held_t held)
{
    static const char *const names[] = {
        "not in the heap", "no object", "held by nothing", "held by static data", "held by an added root", "on a stack",
        "thread-local", "held by an uncollectable object", "held by finalization", "on this stack", "unknown", "held by a date",
    };

    return names[held];
}

/* What the caller's registers hold lies on its stack meanwhile. */
TEST_NOINLINE static SGC_held_t way_of(uintptr_t hidden)
{
    __builtin_unwind_init();
    return SGC_find_way((void *)~hidden, NULL, NULL);
}

enum found { ALL_DEAD, BLAMED, AGAIN };

/* Why does an object live that the model takes for dead?  A word of a stack leads there; or none does any more, but a register
 * did: then the next collection takes it. */
TEST_NOINLINE static enum found blame(int h, bool last, const char *what)
{
    SGC_held_t held = way_of(handle[h].hidden);

    handle[h].blamed = on_a_stack(held);
    if (handle[h].blamed)
        return BLAMED;
    if (held == SGC_HELD_BY_NOTHING && !last)
        return AGAIN;
    if (!is_itself(h)) {                /* something of the library's has come to its place */
        forget(h);
        return BLAMED;
    }
    SGC_why_live(address_of(h));
    fuzz_found("object %d, kind %d, of %zu bytes %s: %s", h, (int)handle[h].how, handle[h].size, what, name_of(held));
}

TEST_NOINLINE static bool is_gone(int h)
{
    return GC_base(address_of(h)) != base_of(h);
}

static bool any_blamed(void)
{
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].blamed)
            return true;
    return false;
}

/* Unless all are dead that should be, it has to be looked at again. */
TEST_NOINLINE static enum found look_for_dead(bool last)
{
    model_reach();
    for (int h = 0; h < HANDLES; h++) {
        if (handle[h].hidden == 0 || reached[h] || handle[h].blamed)
            continue;
        if ((handle[h].order != UNREGISTERED || handle[h].how == FINALIZED) && !any_blamed() && !waits_for_others(h))
            return blame(h, last, "waits for its finalizer, for no reason");
        if (kept[h])
            continue;
        if (!is_gone(h))
            return blame(h, last, "lives, and nothing should keep it");
        forget(h);
    }
    return ALL_DEAD;
}

static void forget_blame(void)
{
    for (int h = 0; h < HANDLES; h++)
        handle[h].blamed = false;
}

/* Until no finalizer is called any more, and twice more. */
TEST_NOINLINE static void collect_all(void)
{
    unsigned before, more = 2;

    for (int i = 0; more > 0; i++) {
        fuzz_expect(i < ROUNDS_MAX, "finalizers are called for ever");
        before = finalizers_called();
        scrub_stack();
        GC_gcollect();
        GC_invoke_finalizers();
        more = finalizers_called() != before ? 2 : more - 1;
    }
    for (int h = 0; h < HANDLES; h++)
        handle[h].queued = false;
    scrub_stack();
}

static void enable_all(int wanted)
{
    for (; disabled > wanted; disabled--)
        GC_enable();
    for (; disabled < wanted; disabled++)
        GC_disable();
}

void check_all(void)
{
    int before = disabled;

    enable_all(0);
    collect_all();
    check_reached();
    for (int tries = 0; tries < TRIES;) {
        enum found found = look_for_dead(tries == TRIES - 1);

        if (found == ALL_DEAD)
            break;
        if (found == AGAIN) {
            collect_all();
            tries++;
        }
    }
    check_links();
    forget_blame();
    fuzz_expect(SGC_check() == 0, "SGC_check has found something");
    enable_all(before);
}

void op_check(struct fuzz_input *in)
{
    (void)in;
    check_all();
}

/* ---- fork ---- */

static void in_the_child(void)
{
    no_helpers_here();
    after_fork();
    check_all();
    void *p = GC_malloc(100);
    fuzz_expect(p != NULL || limited, "no object in the child of a fork");
    check_all();
}

void op_fork(struct fuzz_input *in)
{
    int status = 0;
    pid_t child;

    (void)in;
    if (SGC_TSAN)
        return;                         /* it bears no new threads in a child */
    fflush(NULL);
    child = fork();
    if (child == 0) {
        in_the_child();
        _exit(0);
    }
    if (child < 0)
        return;                         /* the system has none */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    fuzz_expect(status == 0, "the child of a fork ends with %#x", status);
}

void op_snapshot(struct fuzz_input *in)
{
    int error = SGC_write_heap_snapshot("/dev/null");

    (void)in;
    fuzz_expect(error == (disabled != 0 ? EPERM : 0), "SGC_write_heap_snapshot: %d", error);
}

/* ---- the beginning and the end of an input ---- */

static size_t live_bytes(void)
{
    struct SGC_stats stats;

    SGC_get_stats(&stats, sizeof stats);
    return stats.live_bytes;
}

/* All objects, and those that a word of a stack keeps: garbage that the model does not know, too. */
static struct { uintptr_t hidden; size_t bytes; } seen[SEEN];
static unsigned seen_count;

static void GC_CALLBACK see(void *object, size_t bytes, void *data)
{
    (void)data;
    if (seen_count < SEEN) {
        seen[seen_count].hidden = ~(uintptr_t)object;
        seen[seen_count++].bytes = bytes;
    }
}

static void *GC_CALLBACK see_all(void *data)
{
    (void)data;
    seen_count = 0;
    GC_enumerate_reachable_objects_inner(see, NULL);
    return NULL;
}

static size_t bytes_by_stacks(bool last)
{
    size_t bytes = 0;

    GC_call_with_alloc_lock(see_all, NULL);
    for (unsigned i = 0; i < seen_count; i++) {
        SGC_held_t held = way_of(seen[i].hidden);

        if (on_a_stack(held))
            bytes += seen[i].bytes;
        else if (last)
            fprintf(stderr, "%zu bytes at %p: %s\n", seen[i].bytes, (void *)~seen[i].hidden, name_of(held));
    }
    return bytes;
}

void note_beginning(void)
{
    collect_all();
    live_at_first = live_bytes();
}

/* No object is a finalizer's data any more, or leads to another; those that cannot be reached have waited for that. */
static void clear_all(void)
{
    for (int h = 0; h < HANDLES; h++) {
        model_reach();                  /* anew: each call may collect */
        if (reached[h])
            forget_data(h);
    }
    model_reach();
    for (int h = 0; h < HANDLES; h++)
        for (int e = 0; kept[h] && has_edges(h) && e < EDGES; e++)
            set_edge(h, e, NONE);
}

TEST_NOINLINE static void let_go(void)
{
    clear_all();
    for (int h = 0; h < HANDLES; h++) {
        handle[h].toggled = false;
        clear_places(h);
        if (is_uncollectable(handle[h].how) && !is_data(h))
            release_object(h);
    }
}

/* Objects that stacks keep, and then, since those are no finalizer's any more, uncollectable ones that were data. */
static void leave_strays(void)
{
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden != 0 && !is_uncollectable(handle[h].how)) {
            strays++;
            leave_alone(h);
        }
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden != 0)
            release_object(h);
}

void end_input(void)
{
    size_t live;

    limited = false;
    GC_set_max_heap_size(0);
    enable_all(0);
    set_hook(false);
    check_all();                        /* what is queued has been finalized then */
    unlink_all();
    let_go();
    check_all();
    let_go();                           /* what was a finalizer's data */
    check_all();
    collect_all();
    leave_strays();
    live = live_bytes();
    for (int tries = 0; live > live_at_first && tries < TRIES; tries++) {
        collect_all();
        live = live_bytes();
        if (live > live_at_first)
            live -= bytes_by_stacks(tries == TRIES - 1);
    }
    fuzz_expect(live <= live_at_first, "%zu bytes live when all is over, %zu at the beginning", live, live_at_first);
}

bool has_strays(void)
{
    return strays != 0;
}

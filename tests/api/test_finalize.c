/* SPDX-License-Identifier: MIT */
/*
 * Finalizers through the public interface: when they are ready, in which order, what they may do, who runs them.
 *
 * Each case makes its objects in a thread that is gone before the collection (tests/api/api.h).  Finalizers run only when a
 * case asks for it, but where it says otherwise.
 */
#include "api.h"

#include <setjmp.h>

#define FINALIZER_ARGUMENTS void *object, void *data
typedef void register_fn(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

enum { COUNT = 20, EVENTS = 100 };

struct node {
    struct node *ref[2];
    long id;
    long rest[5];
};

static long event[EVENTS];
static int events;
static void *volatile kept[COUNT];

static void note(FINALIZER_ARGUMENTS)
{
    const struct node *n = object;

    (void)data;
    if (events < EVENTS)
        event[events++] = n->id;
}

static struct node *new_node(long id)
{
    struct node *n = GC_malloc(sizeof *n);

    n->id = id;
    return n;
}

/* What one collection makes ready; the number that ran. */
static int collect_and_run(void)
{
    events = 0;
    scrub_stack();
    GC_gcollect();
    api_in_thread(api_invoke_finalizers, NULL);
    return events;
}

static bool ran(int first, int count)
{
    bool seen[EVENTS] = { false };

    for (int i = 0; i < events; i++)
        if (event[i] >= first && event[i] < first + count)
            seen[event[i] - first] = true;
    for (int i = 0; i < count; i++)
        if (!seen[i])
            return false;
    return events == count;
}

/* ---- once, with its data ---- */

static char data_word;
static int wrong_data;

static void note_data(FINALIZER_ARGUMENTS)
{
    wrong_data += data != &data_word;
    note(object, data);
}

static register_fn *way;
static GC_finalization_proc finalizer = note_data;

static void make_simple(void)
{
    for (int i = 0; i < COUNT; i++)
        way(new_node(i), finalizer, &data_word, NULL, NULL);
}

static void make_with(GC_finalization_proc fn)
{
    way = GC_register_finalizer;
    finalizer = fn;
    api_run(make_simple);
    finalizer = note_data;
}

static void check_once(register_fn *fn, const char *name)
{
    way = fn;
    wrong_data = 0;
    api_run(make_simple);
    collect_and_run();
    tap_ok(ran(0, COUNT) && wrong_data == 0, "%s: each dead object is finalized, with its data", name);
    tap_ok(collect_and_run() == 0, "%s: and only once", name);
}

static void make_kept(void)
{
    for (int i = 0; i < COUNT; i++) {
        kept[i] = new_node(i);
        way(kept[i], note_data, &data_word, NULL, NULL);
    }
}

static void check_reachable(void)
{
    way = GC_register_finalizer;
    api_run(make_kept);
    tap_ok(collect_and_run() == 0, "objects that are reachable are not finalized");
    for (int i = 0; i < COUNT; i++)
        kept[i] = NULL;
    collect_and_run();
    tap_ok(ran(0, COUNT), "until they are not");
}

/* ---- what was registered before ---- */

static void check_old(void)
{
    struct node *n = new_node(0);
    GC_finalization_proc fn = api_ignore;
    void *data = n;

    GC_register_finalizer(n, api_ignore, &data_word, &fn, &data);
    tap_ok(fn == NULL && data == NULL, "nothing was registered before the first time");
    GC_register_finalizer_no_order(n, note, NULL, &fn, &data);
    tap_ok(fn == api_ignore && data == &data_word, "the old function and data are told");
    GC_register_finalizer(n, NULL, NULL, &fn, NULL);
    tap_ok(fn == note, "a removed one, too");
    GC_register_finalizer(n, NULL, NULL, &fn, &data);
    tap_ok(fn == NULL && data == NULL, "and then nothing is there");
    fn = api_ignore, data = n;
    GC_register_finalizer(NULL, note, NULL, &fn, &data);
    tap_ok(fn == NULL && data == NULL, "NULL is ignored");
    fn = api_ignore, data = n;
    GC_register_finalizer(&data_word, note, NULL, &fn, &data);
    tap_ok(fn == NULL && data == NULL, "addresses outside the heap are ignored");
}

/* ---- order ---- */

/* Each points at the next. */
static void make_chain(void)
{
    struct node *next = NULL;

    for (int i = COUNT - 1; i >= 0; i--) {
        struct node *n = new_node(i);

        n->ref[0] = next;
        way(n, note, NULL, NULL, NULL);
        next = n;
    }
}

static void check_chain(register_fn *fn, const char *name)
{
    int in_order = 0;

    way = fn;
    api_run(make_chain);
    for (int i = 0; i < COUNT; i++)
        in_order += collect_and_run() == 1 && event[0] == i;
    tap_ok(in_order == COUNT, "%s: one after the other, each in a collection of its own (%d)", name, in_order);
}

static void make_cycle(void)
{
    struct node *a = new_node(1), *b = new_node(2), *self = new_node(3);

    a->ref[0] = b;
    b->ref[0] = a;
    self->ref[1] = self;
    way(a, note, NULL, NULL, NULL);
    way(b, note, NULL, NULL, NULL);
    way(self, note, NULL, NULL, NULL);
}

static void check_cycles(void)
{
    way = GC_register_finalizer;
    api_run(make_cycle);
    tap_ok(collect_and_run() == 0, "objects on a cycle are not finalized");
    api_run(GC_finalize_all);
    way = GC_register_finalizer_ignore_self;
    api_run(make_cycle);
    tap_ok(collect_and_run() == 1 && event[0] == 3, "but pointers to themselves may be ignored");
    api_run(GC_finalize_all);
    way = GC_register_finalizer_no_order;
    api_run(make_cycle);
    collect_and_run();
    tap_ok(ran(1, 3), "without order all on a cycle are finalized at once");
    api_run(make_chain);
    collect_and_run();
    tap_ok(ran(0, COUNT), "and all of a chain");
}

static void make_unreachable(void)
{
    struct node *a = new_node(1), *b = new_node(2);

    a->ref[0] = b;
    GC_register_finalizer_no_order(a, note, NULL, NULL, NULL);
    GC_register_finalizer_unreachable(b, note, NULL, NULL, NULL);
}

static void check_unreachable(void)
{
    api_run(make_unreachable);
    tap_ok(collect_and_run() == 1 && event[0] == 1, "unreachable: not while a finalizer could bring it back");
    tap_ok(collect_and_run() == 1 && event[0] == 2, "but then");
    GC_set_java_finalization(0);
    api_run(make_unreachable);
    tap_ok(collect_and_run() == 2, "without GC_java_finalization it is ordered only");
    GC_set_java_finalization(1);
    check_chain(GC_register_finalizer_unreachable, "GC_register_finalizer_unreachable");
}

/* ---- data is a root ---- */

static GC_hidden_pointer hidden;

static void make_data(void)
{
    struct node *data = GC_malloc(API_LARGE), *n = new_node(1);

    hidden = GC_HIDE_POINTER(data);
    GC_register_finalizer(n, note, data, NULL, NULL);
    n = new_node(2);
    GC_register_finalizer_no_order(n, note, n, NULL, NULL);
}

static void check_data(void)
{
    api_run(make_data);
    events = 0;
    GC_gcollect();
    tap_ok(api_alive(&hidden, 1) == 1, "what the data points at lives until the finalizer has run");
    collect_and_run();
    tap_ok(events == 1 && event[0] == 1, "an object that its own data points at is not finalized");
    tap_ok(api_survive(&hidden, 1) == 0, "and the data dies afterwards");
    api_run(GC_finalize_all);
}

/* ---- what finalizers may do ---- */

static void *volatile saved;
static char saved_is_whole_yes;

static void save(FINALIZER_ARGUMENTS)
{
    saved = object;
    note(object, data);
}

static void make_saved(void)
{
    struct node *n = GC_malloc(API_LARGE);

    n->ref[0] = new_node(5);
    n->id = 4;
    hidden = GC_HIDE_POINTER(n);
    GC_register_finalizer(n, save, NULL, NULL, NULL);
}

static void *saved_is_whole(TEST_UNUSED void *unused)
{
    struct node *n = saved;

    for (int i = 0; i < 1000; i++)      /* would be handed out again */
        new_node(99);
    return n != NULL && n->id == 4 && n->ref[0]->id == 5 ? &saved_is_whole_yes : NULL;
}

static void check_resurrection(void)
{
    saved = NULL;
    api_run(make_saved);
    collect_and_run();
    collect_and_run();
    tap_ok(api_in_thread(saved_is_whole, NULL) != NULL, "a finalizer may keep its object, and what that points at");
    saved = NULL;
    tap_ok(collect_and_run() == 0, "it is not finalized again");
    tap_ok(api_survive(&hidden, 1) == 0, "but dies");
}

static jmp_buf out;

static void jump(FINALIZER_ARGUMENTS)
{
    note(object, data);
    longjmp(out, 1);
}

static void check_jumps(void)
{
    volatile int jumps = 0;

    make_with(jump);
    events = 0;
    GC_gcollect();
    if (setjmp(out) != 0)
        jumps++;
    GC_invoke_finalizers();
    tap_ok(jumps == COUNT && ran(0, COUNT), "a finalizer may leave by longjmp; the others run later (%d)", jumps);
}

static int unasked;

/* The first asks for others, the second of all jumps back to it. */
static void nest(FINALIZER_ARGUMENTS)
{
    note(object, data);
    if (events == 2)
        longjmp(out, 1);
    if (events != 1)
        return;
    if (setjmp(out) == 0)
        GC_invoke_finalizers();
    GC_set_finalize_on_demand(0);
    GC_gcollect();
    unasked = events - 2;
    GC_set_finalize_on_demand(1);
}

static void check_nested(void)
{
    make_with(nest);
    collect_and_run();
    tap_ok(unasked == 0 && ran(0, COUNT), "in one that another has jumped back to none runs unasked (%d)", unasked);
}

static int inner;

static void busy(FINALIZER_ARGUMENTS)
{
    note(object, data);
    for (int i = 0; i < 100; i++)
        GC_register_finalizer(new_node(1000 + i), api_ignore, NULL, NULL, NULL);
    GC_gcollect();
    inner++;
}

static void check_busy(void)
{
    make_with(busy);
    collect_and_run();
    tap_ok(ran(0, COUNT) && inner == COUNT, "a finalizer may allocate, register and collect");
    collect_and_run();
}

/* ---- who runs them ---- */

static int notified;

static void notifier(void)
{
    notified++;
}

static void check_on_demand(void)
{
    notified = 0;
    GC_set_finalizer_notifier(notifier);
    way = GC_register_finalizer;
    api_run(make_simple);
    events = 0;
    scrub_stack();
    GC_gcollect();
    GC_free(GC_malloc(100));
    tap_ok(events == 0 && notified == 1, "on demand: nothing runs, and the notifier is called once (%d)", notified);
    GC_gcollect();
    tap_ok(notified == 2, "and again by each collection while something waits (%d)", notified);
    tap_ok(GC_should_invoke_finalizers() != 0 && GC_invoke_finalizers() == COUNT && events == COUNT,
           "until they are invoked, which says how many ran");
    GC_gcollect();
    tap_ok(GC_should_invoke_finalizers() == 0 && GC_invoke_finalizers() == 0 && notified == 2, "then nothing waits");
    GC_set_finalizer_notifier(NULL);
    GC_set_finalize_on_demand(0);
    api_run(make_simple);
    events = 0;
    scrub_stack();
    GC_gcollect();
    tap_ok(ran(0, COUNT), "otherwise who collects runs them");
    GC_set_finalize_on_demand(1);
}

static void allocate_much(void)
{
    for (int i = 0; i < 2000000 && events == 0; i++)
        GC_malloc(100);
}

static void check_implicit(void)
{
    GC_set_finalize_on_demand(0);
    api_run(make_simple);
    events = 0;
    scrub_stack();
    api_run(allocate_much);
    tap_ok(events > 0, "who allocates runs them");
    collect_and_run();
    GC_set_finalize_on_demand(1);
    collect_and_run();
}

static void *awaited[EVENTS];
static int awaits;

static void await(void *object)
{
    if (awaits < EVENTS)
        awaited[awaits++] = object;
}

static void check_await(void)
{
    long sum = 0;

    GC_set_await_finalize_proc(await);
    tap_ok(GC_get_await_finalize_proc() == await, "the await function is answered");
    api_run(make_simple);
    events = 0;
    scrub_stack();
    GC_gcollect();
    for (int i = 0; i < awaits; i++)
        sum += ((struct node *)awaited[i])->id;
    tap_ok(awaits == COUNT && sum == COUNT * (COUNT - 1) / 2, "it is called for each object that is queued");
    GC_set_await_finalize_proc(NULL);
    GC_invoke_finalizers();
    tap_ok(ran(0, COUNT), "and their finalizers run");
}

static void check_all(void)
{
    way = GC_register_finalizer;
    api_run(make_kept);
    api_run(make_cycle);
    events = 0;
    GC_finalize_all();
    tap_ok(events == COUNT + 3, "GC_finalize_all runs what is registered, reachable or not (%d)", events);
    tap_ok(((struct node *)kept[3])->id == 3, "and reachable objects stay");
    for (int i = 0; i < COUNT; i++)
        kept[i] = NULL;
}

/* ---- freeing ---- */

static void free_registered(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct node *n = new_node(i), *large = GC_malloc(1 << 20);

        GC_register_finalizer(n, note, NULL, NULL, NULL);
        GC_register_finalizer(large, note, NULL, NULL, NULL);
        GC_free(n);
        GC_free(large);
    }
    for (int i = 0; i < COUNT; i++) {
        GC_finalization_proc fn = api_ignore;
        struct node *n = i % 2 ? (struct node *)GC_malloc(1 << 20) : new_node(i);

        GC_register_finalizer(n, NULL, NULL, &fn, NULL);
        wrong_data += fn != NULL;
    }
}

static void check_free(void)
{
    wrong_data = 0;
    api_run(free_registered);
    tap_ok(collect_and_run() == 0 && wrong_data == 0,
           "a freed object has no finalizer, nor has the next at its address");
}

static void make_pointer_free(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct node *n = GC_malloc_atomic(i % 2 ? 200000 : sizeof *n);

        n->id = i;
        GC_register_finalizer(n, note, NULL, NULL, NULL);
    }
}

/* ---- mistakes ---- */

static void bad_freed(void)
{
    void *p = GC_malloc(64);

    GC_free(p);
    GC_register_finalizer(p, note, NULL, NULL, NULL);
}

static void bad_invoke(void)
{
    events = 0;
    way = GC_register_finalizer;
    api_run(make_simple);
    GC_gcollect();
    GC_call_with_alloc_lock(api_invoke_finalizers, NULL);
    API_CHILD(events == 0);
}

static void good_child(void)
{
    way = GC_register_finalizer;
    api_run(make_simple);
    collect_and_run();
    API_CHILD(ran(0, COUNT));
}

static void check_mistakes(void)
{
    api_check_child_of(GC_register_finalizer((char *)GC_malloc(64) + 16, note, NULL, NULL, NULL),
                       "16 bytes inside", "an address inside an object is reported");
    api_check_child(bad_freed, "no object", "a freed object is reported");
    api_check_child(bad_invoke, "allocation lock", "invoking with the allocation lock held is reported");
    api_check_child(good_child, NULL, "finalizers work in the child of a fork");
}

int main(void)
{
    GC_INIT();
    tap_ok(GC_get_finalize_on_demand() == 0 && GC_get_java_finalization() == 1 &&
           GC_get_allocd_bytes_per_finalizer() == 10000, "the settings' first values");
    GC_set_finalize_on_demand(1);
    check_once(GC_register_finalizer, "GC_register_finalizer");
    check_once(GC_register_finalizer_ignore_self, "GC_register_finalizer_ignore_self");
    check_once(GC_register_finalizer_no_order, "GC_register_finalizer_no_order");
    check_once(GC_register_finalizer_unreachable, "GC_register_finalizer_unreachable");
    check_reachable();
    check_old();
    check_chain(GC_register_finalizer, "GC_register_finalizer");
    check_chain(GC_register_finalizer_ignore_self, "GC_register_finalizer_ignore_self");
    tap_each(check_cycles, check_unreachable, check_data, check_resurrection, check_jumps, check_nested,
             check_busy, check_on_demand, check_implicit, check_await, check_all, check_free);
    api_run(make_pointer_free);
    collect_and_run();
    tap_ok(ran(0, COUNT), "pointer-free and large objects");
    check_mistakes();
    return tap_done();
}

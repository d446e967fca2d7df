/* SPDX-License-Identifier: MIT */
/*
 * Objects that only a stopped world lets scan: while the program runs no procedure is called, and no descriptor outside the
 * object read; their pages stay flagged through every stop but the last; what they lead to is marked in each.  Nothing on the
 * stack names memory outside the heap when the program goes on.
 *
 * Also: mark/descriptor.c, mark/descriptor_find.c.
 */
#include <sys/mman.h>

#include "mark/descriptor.h"
#include "mark/layouts.h"
#include "mark/mark_procs.h"
#include "tests/lib/heap.h"

enum { WORDS = 6, ELEMENTS = 40, ENTRIES = 64 };

static struct sgc_team *team;
static uint32_t procedure;
static int calls, calls_while_running, calls_for_watched;
static uintptr_t *watched;

/* Marks what the object's second word leads to; with an environment, pushes so many bytes of memory that the third leads to, in
 * some pieces. */
static struct GC_ms_entry *proc(unsigned long *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, unsigned long env)
{
    struct sgc_client_entry *entry = (struct sgc_client_entry *)(void *)top;

    (void)limit;
    calls++;
    calls_for_watched += object == (unsigned long *)watched;
    calls_while_running += heap_marker()->mode.program == SGC_MARK_CONCURRENT;
    sgc_mark_for_procedure(object[1]);
    for (unsigned long i = 0; env != 0 && i < ENTRIES; i++)
        *++entry = (struct sgc_client_entry){ object[2] + i * (env / ENTRIES), env / ENTRIES };
    return (struct GC_ms_entry *)(void *)entry;
}

static uintptr_t of_procedure(uintptr_t environment)
{
    return sgc_ds_proc(procedure, environment);
}

static uintptr_t *new(size_t words, uint32_t kind)
{
    return heap_alloc(sgc_self, words * sizeof(uintptr_t), kind);
}

static bool flagged(const void *p)
{
    uint32_t page = heap_page(p);

    return (sgc_aw_load(&sgc_arena_of_page(page)->rescan) & sgc_arena_bit(page)) != 0;
}

static bool always(TEST_UNUSED void *unused)
{
    return true;
}

static void begin(const uintptr_t *root)
{
    heap_retire();
    sgc_clear_finish();
    calls = calls_while_running = calls_for_watched = 0;
    sgc_team_begin_concurrent(team);
    sgc_mark_roots(heap_marker(), root, root + 1);
    sgc_team_program_runs(team);
}

static void end(void)
{
    sgc_team_finish_begin(team, 1);
    if (!sgc_team_mark(team, NULL) || !sgc_team_rescan(team, NULL))
        tap_bail("a mark gave up though nobody asked it to");
    sgc_team_check(team);
}

/* `lead` writes into the object which other one it leads to. */
static void test_put_off(const char *name, uintptr_t *object, void (*lead)(uintptr_t *object, uintptr_t *to), bool calls_it)
{
    uintptr_t *first = new(WORDS, SGC_KIND_CONSERVATIVE), *second = new(WORDS, SGC_KIND_CONSERVATIVE);
    uintptr_t root = (uintptr_t)object;
    bool beside, paused, again, last;
    int once, twice;

    lead(object, first);
    begin(&root);
    sgc_team_go_on(team, NULL, NULL);
    beside = heap_marked(object) && !heap_marked(first) && flagged(object) && calls == 0;
    sgc_team_program_stopped(team);
    sgc_team_go_on_flagged(team, NULL, NULL);
    once = calls;
    paused = heap_marked(first) && flagged(object);
    sgc_team_program_runs(team);
    lead(object, second);
    sgc_team_go_on(team, NULL, NULL);
    again = !heap_marked(second) && flagged(object);
    sgc_team_program_stopped(team);
    sgc_team_go_on_flagged(team, NULL, NULL);
    twice = calls;
    again = again && heap_marked(second) && flagged(object);
    end();
    last = !sgc_pages_flagged() && heap_marker()->objects == 3;
    tap_ok(beside, "%s: marked, but not scanned while the program runs", name);
    tap_ok(paused && once >= (calls_it ? 1 : 0), "it is in a stop (%d calls)", once);
    tap_ok(again && (!calls_it || twice > once), "and in the next, when it leads elsewhere (%d calls)", twice);
    tap_ok(last && calls_while_running == 0, "nothing is flagged in the end (%d calls while the program ran)",
           calls_while_running);
    heap_unmark();
}

/* ---- objects ---- */

static void lead_second(uintptr_t *object, uintptr_t *to)
{
    object[1] = (uintptr_t)to;
}

static uintptr_t *last_element;

static void lead_element(TEST_UNUSED uintptr_t *object, uintptr_t *to)
{
    last_element[1] = (uintptr_t)to;
}

static void test_procedure(void)
{
    test_put_off("a kind with a procedure", new(WORDS, heap_kind(of_procedure(0), false)), lead_second, true);
}

static void test_procedure_inside(void)
{
    uintptr_t *object = new(WORDS, heap_kind((WORDS - 1) * sizeof *object | SGC_DS_PER_OBJECT, false));

    object[WORDS - 1] = of_procedure(0);
    test_put_off("a procedure named in the object", object, lead_second, true);
}

/* An array whose elements say by their last words what they are, the last one that it has a procedure; small, and a span, whose
 * flag its first page has. */
static void test_elements(size_t elements)
{
    size_t words = elements * WORDS + 3;
    uintptr_t *object;
    struct sgc_object o;
    struct sgc_array_end *array_end;

    object = new(words, heap_kind((uintptr_t)-8 | SGC_DS_PER_OBJECT, true));
    if (!sgc_object_slot((uintptr_t)object, &o))
        tap_bail("no object");
    array_end = (struct sgc_array_end *)(o.start + o.bytes) - 1;
    *array_end = (struct sgc_array_end){ WORDS * sizeof *object, (WORDS - 1) * sizeof *object | SGC_DS_PER_OBJECT,
                                         sgc_ds_proc(SGC_PROC_ARRAY, 0) };
    last_element = object + (elements - 1) * WORDS;
    last_element[WORDS - 1] = of_procedure(0);
    test_put_off(o.span ? "elements of a large array" : "elements of an array", object, lead_element, true);
}

/* Its first word leads to a description of its type, which has the descriptor; while the program runs that may be gone. */
static uintptr_t *type;

static void lead_typed(uintptr_t *object, uintptr_t *to)
{
    object[0] = (uintptr_t)type;
    object[1] = (uintptr_t)to;
}

static uint32_t kind_by_type(void)
{
    static uint32_t kind;

    if (kind == 0)
        kind = heap_kind((uintptr_t)-(8 + SGC_DS_BIAS) | SGC_DS_PER_OBJECT, false);
    return kind;
}

static void test_type(void)
{
    type = heap_map(sgc_os_page_size());
    type[1] = (uintptr_t)1 << 62 | SGC_DS_BITMAP;
    test_put_off("a descriptor outside the object", new(WORDS, kind_by_type()), lead_typed, false);
}

static void test_type_gone(void)
{
    uintptr_t *object = new(WORDS, kind_by_type()), root = (uintptr_t)object;
    uintptr_t *below = new(WORDS, SGC_KIND_CONSERVATIVE);

    lead_typed(object, below);
    begin(&root);
    mprotect(type, sgc_os_page_size(), PROT_NONE);
    sgc_team_go_on(team, NULL, NULL);
    mprotect(type, sgc_os_page_size(), PROT_READ | PROT_WRITE);
    sgc_team_program_stopped(team);
    end();
    tap_ok(heap_marked(object) && heap_marked(below), "nothing outside is read while the program runs");
    heap_unmark();
}

/* ---- what is freed ---- */

/* While its page was flagged; or while it lay on the stack. */
static void test_freed(bool waiting, uint32_t kind)
{
    uintptr_t *object[2] = { new(WORDS, kind), new(WORDS, kind) }, *holder = new(WORDS, SGC_KIND_CONSERVATIVE);
    uintptr_t root = (uintptr_t)(waiting ? object[0] : holder);
    int before;

    holder[0] = (uintptr_t)object[0];
    holder[1] = (uintptr_t)object[1];
    begin(&root);
    sgc_mark_address(heap_marker(), (uintptr_t)object[1]);
    if (!waiting)
        sgc_team_go_on(team, NULL, NULL);
    watched = object[0];
    sgc_object_free(sgc_self, object[0]);
    heap_retire();
    sgc_team_program_stopped(team);
    sgc_team_go_on_flagged(team, NULL, NULL);
    before = calls;
    end();
    tap_ok(before >= 1 && calls_for_watched == 0, "a procedure does not see what was freed %s (%d calls, then %d)",
           waiting ? "while it waited" : "while its page was flagged", before, calls);
    heap_unmark();
}

static void test_given_up(void)
{
    uintptr_t *object = new(WORDS, kind_by_type()), root = (uintptr_t)object;
    bool before;

    lead_typed(object, object);
    begin(&root);
    sgc_team_go_on(team, NULL, NULL);
    before = sgc_pages_flagged();
    sgc_team_abandon(team);
    sgc_team_check(team);
    tap_ok(before && !sgc_pages_flagged(), "a mark that is given up leaves no page flagged");
    heap_unmark();
}

/* ---- what procedures push ---- */

static bool names_foreign_memory(void)
{
    const struct sgc_deque *d = &heap_marker()->stack;

    for (size_t i = 0; i < d->top; i++)
        if (!sgc_heap_contains(sgc_aw_load(&sgc_deque_own(d, i)->start)))
            return true;
    return false;
}

/* Memory of the program's, much of it. */
static void test_foreign(void)
{
    size_t words = (size_t)1 << 20;
    uintptr_t *foreign = heap_map(words * sizeof *foreign), *object, *last;
    uintptr_t root;
    int rounds = 0, wrong = 0;
    bool done;

    object = new(WORDS, heap_kind(of_procedure(words * sizeof *foreign), false));
    last = new(WORDS, SGC_KIND_CONSERVATIVE);
    for (size_t i = 0; i < words; i += 512)
        foreign[i] = (uintptr_t)new(WORDS, SGC_KIND_CONSERVATIVE);
    foreign[words - 1] = (uintptr_t)last;
    object[2] = (uintptr_t)foreign;
    root = (uintptr_t)object;
    begin(&root);
    do {
        sgc_team_go_on(team, always, NULL);
        sgc_team_program_stopped(team);
        heap_marker()->until_pause = 1;
        done = sgc_team_go_on_flagged(team, always, NULL);
        wrong += names_foreign_memory();
        sgc_team_program_runs(team);
    } while (!done && ++rounds < 1000);
    sgc_team_program_stopped(team);
    tap_ok(wrong == 0 && calls > 0 && heap_marked(last),
           "what a procedure pushes is scanned before the program goes on (%d calls)", calls);
    end();
    tap_ok(heap_marked(last) && !sgc_pages_flagged(), "and once more in the last stop (%d calls)", calls);
    heap_unmark();
}

int main(void)
{
    uint32_t kind;

    heap_start((size_t)1 << 30, 0, false);
    team = heap_alone(&HEAP_MARK);
    procedure = sgc_mark_proc_add(proc);
    test_procedure();
    test_procedure_inside();
    test_elements(ELEMENTS);
    test_elements(4000);
    test_type();
    test_type_gone();
    kind = heap_kind(of_procedure(0), false);
    test_freed(false, kind);
    test_freed(true, kind);
    test_given_up();
    test_foreign();
    sgc_heap_check();
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Memory pushed with a descriptor, by the hook that pushes roots and by mark procedures, which may push more than there is room
 * for: what the descriptor names lives, the rest dies.  And the caller's stack for a marker of the client's own.  In children,
 * with several numbers of markers, in concurrent mode, under torture, with a mark stack that is too small.
 *
 * Also: mark/descriptor.c.
 */
#include "api.h"
#include "entries.h"

#include <gc/gc_inline.h>
#include <sgc.h>

#include "../lib/sanitized.h"

enum { ROWS = TEST_SANITIZED ? 300 : 1500, WORDS = 8, READY = 77, COLLECTIONS = 3 };

/* A row has a word for each form of descriptor, and others that none names. */
enum { BY_LENGTH, BY_BITMAP = 2, BY_PROC = 4, BY_ALL = 6 };

typedef void *row[WORDS];

static row *rows;                                   /* outside the heap, or large words of an atomic object: no root */
static GC_hidden_pointer *kept, *lost;
static unsigned row_proc, fan_proc;
static int fan_kind;
static int wrong_environment, calls;              /* counted on several markers */

/* Called for the third form. */
static stack mark_row(GC_word *address, stack top, stack limit, GC_word env)
{
    void **words = (void **)address;

    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (env != 5)
        __atomic_fetch_add(&wrong_environment, 1, __ATOMIC_RELAXED);
    return GC_MARK_AND_PUSH(words[BY_PROC], top, limit, &words[BY_PROC]);
}

#define BITMAP_OF(word) ((GC_word)1 << (63 - (word)) | GC_DS_BITMAP)

static void push_row(row *r)
{
    GC_push_obj_descr(*r, sizeof(void *));
    GC_push_obj_descr(*r, BITMAP_OF(BY_BITMAP));
    GC_push_obj_descr(*r, GC_MAKE_PROC(row_proc, 5));
    GC_push_obj_descr((char *)(*r + BY_ALL) - 4, sizeof(void *) + 4);       /* from between two words */
}

static void push_rows(void)
{
    for (int i = 0; i < ROWS; i++)
        push_row(&rows[i]);
}

/* ---- by a procedure: its object says where the rows are, in words that it does not look at ---- */

struct fan {
    GC_word ready, rows;
};

static stack mark_fan(GC_word *address, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct fan *f = (struct fan *)address;
    row *them = (row *)GC_REVEAL_POINTER(f->rows);

    for (int i = 0; f->ready == READY && i < ROWS; i++) {
        top = GC_ms_push_obj_descr(them[i], sizeof(void *), top, limit);
        top = GC_ms_push_obj_descr(them[i], sizeof(void *), top, limit);
        top = GC_ms_push_obj_descr(them[i], BITMAP_OF(BY_BITMAP), top, limit);
        top = GC_ms_push_all((char *)(them[i] + BY_ALL) - 5, (char *)(them[i] + BY_ALL + 1) + 5, top, limit);
        if (i % 100 == 0)
            top = GC_ms_push_obj_descr(them[i], GC_MAKE_PROC(row_proc, 5), top, limit);
    }
    API_CHILD(top <= limit);
    return top;
}

/* ---- in both ways ---- */

static void *fill(void *by_procedure)
{
    for (int i = 0; i < ROWS; i++) {
        for (int w = 0; w < WORDS; w++) {
            rows[i][w] = GC_malloc_atomic(2000);
            (w % 2 == 0 ? kept : lost)[i * WORDS + w] = GC_HIDE_POINTER(rows[i][w]);
        }
        if (by_procedure != NULL && i % 100 != 0)               /* nobody leads there */
            kept[i * WORDS + BY_PROC] = 0;
    }
    return NULL;
}

static int count_kept(void)
{
    int count = 0;

    for (int i = 0; i < ROWS * WORDS; i++)
        count += kept[i] != 0;
    return count;
}

static void prepare(void)
{
    GC_INIT();
    row_proc = GC_new_proc(mark_row);
    fan_proc = GC_new_proc(mark_fan);
    fan_kind = (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(fan_proc, 0), 0, 1);
    kept = api_outside(ROWS * sizeof(row));
    lost = api_outside(ROWS * sizeof(row));
}

/* Of small objects a few words may be found on stacks.  Where there is no room for what a procedure is to look at, each word
 * counts. */
static void check_kept(void)
{
    int expected = count_kept(), stray = getenv("SGC_MARK_STACK_LIMIT") != NULL ? ROWS * WORDS : 20;

    for (int i = 0; i < COLLECTIONS; i++)
        API_CHILD(api_survive(kept, ROWS * WORDS) == expected);
    API_CHILD(api_alive(lost, ROWS * WORDS) <= stray && wrong_environment == 0 && calls > 0 && SGC_check() == 0);
}

static void by_hook(void)
{
    GC_push_other_roots_proc before;

    prepare();
    rows = api_outside(ROWS * sizeof(row));
    before = GC_get_push_other_roots();
    GC_set_push_other_roots(push_rows);
    api_make_in_thread(fill, NULL);
    check_kept();
    GC_set_push_other_roots(before);
    API_CHILD(api_survive(kept, ROWS * WORDS) <= 20);
}

static void by_hook_in_heap(void)
{
    prepare();
    rows = GC_malloc_atomic_uncollectable(ROWS * sizeof(row));
    GC_set_push_other_roots(push_rows);
    api_make_in_thread(fill, NULL);
    check_kept();
}

static struct fan *volatile fan;

static void let_procedure_push(void)
{
    prepare();
    rows = GC_malloc_atomic_uncollectable(ROWS * sizeof(row));
    fan = GC_generic_malloc(sizeof *fan, fan_kind);
    fan->rows = GC_HIDE_POINTER(rows);
    fan->ready = READY;
    api_make_in_thread(fill, &rows);
    check_kept();
}

static void by_procedure(void)
{
    let_procedure_push();
    fan = NULL;
    API_CHILD(api_survive(kept, ROWS * WORDS) <= 20);
}

/* Collections that come by themselves, which are concurrent, while the rows' words change.  Under torture some stops are given
 * up, and what is pushed is scanned at once. */
static void change_rows(void)
{
    GC_word before = GC_get_gc_no();

    for (int n = 0; n < 10 * ROWS && GC_get_gc_no() < before + 10; n++) {
        int i = n * 7 % ROWS;
        void *other = GC_malloc_atomic(2000);

        rows[i][BY_BITMAP] = other;
        memset(other, 1, 2000);
    }
    for (int i = 0; i < ROWS; i++)
        API_CHILD(GC_base(rows[i][BY_BITMAP]) == rows[i][BY_BITMAP]);
    API_CHILD(GC_get_gc_no() > before);
}

static void by_hook_beside(void)
{
    by_hook_in_heap();
    change_rows();
}

static void by_procedure_beside(void)
{
    let_procedure_push();
    change_rows();
}

/* ---- out of place ---- */

static void outside_hook(void)
{
    GC_push_obj_descr(&rows, 8);
}

static void outside_procedure(void)
{
    API_CHILD(GC_ms_push_obj_descr(&rows, 8, NULL, NULL) == NULL);
}

static void all_outside_procedure(void)
{
    API_CHILD(GC_ms_push_all(&rows, &rows + 1, NULL, NULL) == NULL);
}

/* ---- the caller's stack ---- */

static int pushes;
static bool found;
static void *volatile wanted;

/* It reads what is between variables, too. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void note_stack(void **bottom, void **top, void *data, unsigned hint)
{
    pushes++;
    API_CHILD((uintptr_t)bottom % 8 == 0 && (uintptr_t)top % 8 == 0 && bottom < top && data == &pushes &&
              hint == GC_CUSTOM_PUSH_HINT_EAGER);
    for (void **p = bottom; p < top && !found; p++)
        found = *p == wanted;
}

static void *push_own(struct GC_stack_base *base, void *arg)
{
    void *volatile local = wanted;

    pushes = 0;
    found = false;
    GC_custom_push_regs_and_stack(note_stack, &pushes, base, NULL);
    API_CHILD(found && pushes == 1 && local == wanted);
    return arg;
}

static void *push_in_thread(void *arg)
{
    return GC_call_with_stack_base(push_own, arg);
}

static void of_stack(void)
{
    wanted = &found;
    GC_call_with_stack_base(push_own, NULL);
    API_CHILD(!GC_is_init_called());
    api_in_plain_thread(push_in_thread, NULL);
    GC_INIT();
    push_in_thread(NULL);
    api_in_thread(push_in_thread, NULL);
}

static void of_wrong_base(void)
{
    struct GC_stack_base base = { (void *)8 };

    pushes = 0;
    GC_custom_push_regs_and_stack(note_stack, &pushes, &base, NULL);
    API_CHILD(pushes == 0);
}

#define CONCURRENT "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0"

int main(void)
{
    static const char *const settings[] = {
        "GC_MARKERS=1", "GC_MARKERS=8", CONCURRENT " GC_MARKERS=4", "SGC_TORTURE=97 GC_MARKERS=4",
        "SGC_MARK_STACK_LIMIT=64K GC_MARKERS=2", "GC_ALL_INTERIOR_POINTERS=0 GC_MARKERS=2",
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        api_check_child_with(settings[i], by_hook, "the hook pushes memory outside the heap");
        api_check_child_with(settings[i], by_hook_in_heap, "and objects");
        api_check_child_with(settings[i], by_procedure, "a procedure pushes more than there is room for");
    }
    api_check_child_with(CONCURRENT " GC_MARKERS=4", by_hook_beside, "objects that change beside a mark");
    api_check_child_with(CONCURRENT " SGC_TORTURE=97 GC_MARKERS=4", by_procedure_beside, "also by a procedure");
    api_check_child(of_stack, NULL, "the caller's stack and registers, before the start, too");
    api_check_started(of_wrong_base, "lies below the calling frame", "a base that is none");
    api_check_started(outside_hook, "GC_push_obj_descr: called outside the hook", "outside the hook");
    api_check_started(outside_procedure, "In the hook of GC_set_push_other_roots use GC_push_obj_descr", "outside a procedure");
    api_check_started(all_outside_procedure, "use GC_push_all", "and so for words");
    return tap_done();
}

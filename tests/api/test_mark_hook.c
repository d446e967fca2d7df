/* SPDX-License-Identifier: MIT */
/*
 * The hook that is asked when nothing is left to mark, with a table of ephemerons: the value of an entry lives while its key
 * does, and a key that only values of the table lead to goes.  In children, with the program stopped and beside it, with
 * several markers, under torture, after a fork.
 */
#include "api.h"
#include "entries.h"

#include "../lib/sanitized.h"

#define BESIDE "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0"

enum { CHAINS = 100, FEW = 1000, ENTRIES = TEST_SANITIZED ? FEW : 10000, CYCLES_MAX = 50 };

struct object {
    struct object *other;
    GC_word number;
};

struct entry_of_table {
    struct object *key, *value;
};

static struct entry_of_table *table;    /* no root */
static void **weak;                     /* disappearing ones to the keys; no roots */
static int entries;
static struct object *volatile root[CHAINS];
static int asked;

static struct object *make(GC_word number, struct object *other)
{
    struct object *o = GC_malloc(sizeof *o);

    API_CHILD(o != NULL);
    *o = (struct object){ other, number };
    return o;
}

static stack mark_values(stack top, stack limit)
{
    asked++;
    for (int i = 0; i < entries; i++)
        if (table[i].key != NULL && GC_is_marked(table[i].key))
            top = GC_mark_and_push(table[i].value, top, limit, NULL);
    return top;
}

static void make_table(int count)
{
    GC_INIT();
    entries = count;
    table = api_outside((size_t)count * sizeof *table);
    weak = api_outside((size_t)count * sizeof *weak);
    asked = 0;
    GC_set_on_mark_stack_empty(mark_values);
    API_CHILD(GC_get_on_mark_stack_empty() == mark_values);
}

/* Entry i's value leads to the key of entry i + CHAINS; roots hold the keys of the first ones.  The last value of a chain
 * leads to its own key, which keeps neither. */
static void fill(void)
{
    for (int i = entries - 1; i >= 0; i--) {
        struct object *key = make((GC_word)i, NULL);

        table[i].value = make((GC_word)(i + entries), i + CHAINS < entries ? table[i + CHAINS].key : key);
        table[i].key = weak[i] = key;
        API_CHILD(GC_general_register_disappearing_link(&weak[i], key) == GC_SUCCESS);
        if (i < CHAINS)
            root[i] = key;
    }
}

/* How many entries lost their keys.  Those whose chains begin at a root are whole. */
static int gone(void)
{
    int count = 0;

    for (int i = 0; i < entries; i++) {
        API_CHILD(root[i % CHAINS] == NULL || weak[i] != NULL);
        if (weak[i] != NULL)
            API_CHILD(table[i].key->number == (GC_word)i && table[i].value->number == (GC_word)(i + entries));
        else
            table[i].key = table[i].value = NULL;
        count += weak[i] == NULL;
    }
    return count;
}

/* A stale word may hold a chain or two. */
static bool half_gone(void)
{
    return gone() >= entries / 2 - 3 * (entries / CHAINS);
}

static void let_odd_ones_go(void)
{
    for (int i = 1; i < CHAINS; i += 2)
        root[i] = NULL;
}

static void whole_then_half(int count)
{
    make_table(count);
    api_make(fill);
    api_collect();
    API_CHILD(gone() == 0 && asked >= entries / CHAINS);
    let_odd_ones_go();
    api_collect();
    API_CHILD(half_gone());
}

static void many(void)
{
    whole_then_half(ENTRIES);
}

static void few(void)
{
    whole_then_half(FEW);
}

/* Collections of their own accord, during which values get other keys to lead to. */
static void churn(void)
{
    for (int i = 0; i < 200000; i++) {
        struct object *volatile garbage = make(0, NULL);

        garbage->other = garbage;
        if (i % 100 == 0)
            root[i / 100 % CHAINS / 2 * 2]->other = make(0, garbage);
    }
}

static void beside(void)
{
    GC_word before = GC_get_gc_no();
    int cycles = 0;

    make_table(FEW);
    api_make(fill);
    for (; cycles < CYCLES_MAX && GC_get_gc_no() < before + 4; cycles++)
        churn();
    API_CHILD(gone() == 0 && asked >= entries / CHAINS);
    let_odd_ones_go();
    for (; cycles < 2 * CYCLES_MAX && !half_gone(); cycles++)
        churn();
    API_CHILD(half_gone());
}

static void in_child(void)
{
    int status = -1;
    pid_t child;

    make_table(FEW);
    api_make(fill);
    child = fork();
    if (child == 0) {
        let_odd_ones_go();
        api_collect();
        _exit(half_gone() ? 0 : 3);
    }
    API_CHILD(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    api_collect();
    API_CHILD(gone() == 0);
}

/* ---- what lives on for a finalizer ---- */

static GC_hidden_pointer value;
static int finalized, value_finalized;

static void see_value(void *object, TEST_UNUSED void *data)
{
    const struct object *value_now = GC_REVEAL_POINTER(value);

    finalized++;
    API_CHILD(table[0].key == ((struct object *)object)->other && GC_base((void *)(GC_word)value_now) == value_now);
    API_CHILD(value_now->number == 2);
}

static void count_value(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    API_CHILD(finalized == 1);
    value_finalized++;
}

static void make_finalizable(void)
{
    struct object *key = make(1, NULL), *holder = make(0, key);

    table[0] = (struct entry_of_table){ key, make(2, NULL) };
    value = GC_HIDE_POINTER(table[0].value);
    GC_register_finalizer(holder, see_value, NULL, NULL, NULL);
    GC_register_finalizer(table[0].value, count_value, NULL, NULL, NULL);
}

/* A key that a dead object with a finalizer leads to: its value is there when that runs, and waits for its own one. */
static void revived(void)
{
    make_table(1);
    api_make(make_finalizable);
    GC_gcollect();
    GC_invoke_finalizers();
    API_CHILD(finalized == 1 && value_finalized == 0);
    table[0] = (struct entry_of_table){ NULL, NULL };
    api_collect();
    GC_invoke_finalizers();
    API_CHILD(value_finalized == 1);
}

/* ---- entries pushed by hand, and mistakes ---- */

static GC_hidden_pointer kept[1000];
static void *words[1000];
static int next;

/* So many in a call, by hand, most of which are marked. */
static stack push_some(stack top, stack limit)
{
    for (int n = 0; n < 10 && next < 1000; n++, next++)
        top = push(top, limit, &words[next], sizeof words[next]);
    return top;
}

static void *keep_last(void *unused)
{
    GC_hidden_pointer *last = &kept[999];

    for (int i = 0; i < 999; i++)
        words[i] = (void *)root[0];
    words[999] = api_large(last);
    return unused;
}

static void in_parts(void)
{
    GC_INIT();
    GC_exclude_static_roots(words, words + 1000);
    root[0] = make(0, NULL);
    GC_set_on_mark_stack_empty(push_some);
    api_make_in_thread(keep_last, NULL);
    next = 0;
    GC_gcollect();
    API_CHILD(next == 1000 && GC_base(words[999]) == words[999]);
}

static stack push_for_ever(stack top, stack limit)
{
    asked++;
    return push(top, limit, (void *)(GC_word)&root[0], sizeof root[0]);
}

static void for_ever(void)
{
    GC_INIT();
    root[0] = make(0, NULL);
    GC_set_on_mark_stack_empty(push_for_ever);
    GC_gcollect();
    API_CHILD(asked >= 1000);
    asked = 0;
    GC_gcollect();                      /* goes on, and says it once */
    API_CHILD(asked >= 1000 && root[0]->number == 0);
}

static stack lose(TEST_UNUSED stack top, TEST_UNUSED stack limit)
{
    return NULL;
}

static void strayed(void)
{
    GC_INIT();
    GC_set_on_mark_stack_empty(lose);
    GC_gcollect();
    GC_set_on_mark_stack_empty(NULL);
    GC_gcollect();
}

int main(void)
{
    api_check_child_with("SGC_MODE=stop GC_MARKERS=1", many, "one marker");
    api_check_child_with("SGC_MODE=stop GC_MARKERS=4", many, "four markers");
    api_check_child_with(BESIDE " SGC_VERIFY=marks", few, "exact collections, concurrent mode");
    api_check_child_with(BESIDE " SGC_VERIFY=marks", beside, "beside the program");
    api_check_child_with(BESIDE " GC_MARKERS=4", beside, "beside the program, four markers");
    api_check_child_with("SGC_TORTURE=500 GC_MARKERS=4", few, "under torture");
    api_check_child_with(BESIDE " SGC_TORTURE=500", few, "under torture, concurrent mode");
    api_check_child_with("SGC_MARK_STACK_LIMIT=64K GC_MARKERS=2", many, "a mark stack that is too small");
    api_check_child_with("GC_MARKERS=2", in_child, "the child of a fork");
    api_check_child_with("GC_MARKERS=1", revived, "a key that lives on for a finalizer has its value");
    api_check_child_with("SGC_TORTURE=1 GC_MARKERS=4", revived, "the same under torture");
    api_check_child(in_parts, NULL, "a hook that pushes a part of its table each time");
    api_check_child(for_ever, "pushed 100000 times in a row what was marked already", "a hook that always pushes");
    api_check_child(strayed, "no place on the mark stack", "a result that is no place on the stack");
    return tap_done();
}

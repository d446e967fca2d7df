/* SPDX-License-Identifier: MIT */
/*
 * shortterm/verify.c, with a check in each tick, as a user runs it: whatever leads to an object that has expired is named in
 * the very tick at which it expires, with the certainty that it has, and with what the way begins with.
 *
 * Also: shortterm/findings.c, gc/inspect/way.c.
 */
#include "shortterm/verify.h"

#include "tests/lib/findings.h"

#define EXPIRED "at the tick that is due\n"

static bool ticked;

/* The object's date is over at the second of them. */
TEST_NOINLINE static void ticks(void)
{
    ticked = true;
    scrub_stack();
    SGC_tick();
    if (write(STDERR_FILENO, EXPIRED, sizeof EXPIRED - 1) < 0)
        _exit(9);
    scrub_stack();
    SGC_tick();
}

TEST_NOINLINE static void date(struct node *const *place)
{
    SGC_refresh(*place, 1);
}

static void make_dated(void)
{
    elsewhere(make_one, &root);
    date(&root);
}

/* ---- what certainly leads there ---- */

static void make_list(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 10; i++)
        link_one(NULL);
}

static void in_list(void)
{
    elsewhere(make_list, NULL);
    date(&root->left->left);
}

static struct node *make_levels(int levels)
{
    return levels == 0 ? NULL : make_node(make_levels(levels - 1), make_levels(levels - 1));
}

static void make_tree(TEST_UNUSED void *unused)
{
    root = make_levels(6);
}

static void in_tree(void)
{
    elsewhere(make_tree, NULL);
    date(&root->right->left->right->right);
}

static _Thread_local struct node *volatile of_thread;

static void in_thread_local(void)
{
    make_dated();
    of_thread = root;
    root = NULL;
}

static void in_added_range(void)
{
    struct node **range = malloc(4096);

    GC_add_roots(range, (char *)range + 4096);
    make_dated();
    range[10] = root;
    root = NULL;
    ticks();
    free(range);
}

static volatile uintptr_t uncollectable;        /* inverted */

static void make_uncollectable(TEST_UNUSED void *unused)
{
    struct node **object = GC_MALLOC_UNCOLLECTABLE(64);

    object[2] = root;
    root = NULL;
    uncollectable = white_hidden(object);
}

static void in_uncollectable(void)
{
    make_dated();
    elsewhere(make_uncollectable, NULL);
}

static void finalize(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
}

static void *volatile finalized;

static void make_finalized(TEST_UNUSED void *unused)
{
    finalized = GC_MALLOC(32);
    GC_register_finalizer_no_order(finalized, finalize, root, NULL, NULL);
    root = NULL;
}

static void in_finalizers_data(void)
{
    make_dated();
    elsewhere(make_finalized, NULL);
}

/* ---- another thread has it ---- */

static sgc_a32_t ready, done;

static void wait_there(void)
{
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
}

/* Each takes it out of `root`. */
static void in_its_variable(TEST_UNUSED void *unused)
{
    of_thread = root;
    root = NULL;
    wait_there();
    of_thread = NULL;
}

static void on_its_stack(TEST_UNUSED void *unused)
{
    struct node *volatile mine = root;

    root = NULL;
    wait_there();
    GC_reachable_here(mine);
}

static void in_its_register(TEST_UNUSED void *unused)
{
    register struct node *held = root;

    root = NULL;
    sgc_a32_store_rel(&ready, 1);
    while (sgc_a32_load_acq(&done) == 0)
        __asm__ volatile("" : "+r"(held));
}

static void list_on_its_stack(TEST_UNUSED void *unused)
{
    struct node *volatile mine = make_node(root, NULL);

    root = NULL;
    wait_there();
    GC_reachable_here(mine);
}

static void of_another(void (*hold)(void *unused))
{
    pthread_t other;

    make_dated();
    other = white_start(hold, NULL);
    white_reached(&ready, 1);
    ticks();
    sgc_a32_store_rel(&done, 1);
    white_join(other);
}

static void in_anothers_variable(void) { of_another(in_its_variable); }
static void on_anothers_stack(void) { of_another(on_its_stack); }
static void in_anothers_register(void) { of_another(in_its_register); }
static void list_on_anothers_stack(void) { of_another(list_on_its_stack); }

/* ---- words that are no addresses of objects, and our own stack ---- */

static char *volatile inside;

static void by_interior_word(void)
{
    make_dated();
    inside = root->text;
    root = NULL;
}

static void make_interior(TEST_UNUSED void *unused)
{
    root = make_node((struct node *)(void *)root->text, NULL);
}

static void by_interior_word_in_heap(void)
{
    make_dated();
    elsewhere(make_interior, NULL);
}

static void integer_on_own_stack(void)
{
    volatile uintptr_t decoy;

    make_dated();
    decoy = (uintptr_t)root;
    root = NULL;
    ticks();
    decoy = decoy + 1;
}

static void interior_on_own_stack(void)
{
    char *volatile mine;

    make_dated();
    mine = root->text;
    root = NULL;
    ticks();
    GC_reachable_here(mine);
}

static void in_own_register(void)
{
    register struct node *held;

    make_dated();
    held = root;
    __asm__ volatile("" : "+r"(held));
    root = NULL;
    ticks();
    __asm__ volatile("" : "+r"(held));
}

static void list_on_own_stack(void)
{
    struct node *volatile mine;

    make_dated();
    elsewhere(link_one, NULL);
    mine = root;
    root = NULL;
    ticks();
    GC_reachable_here(mine);
}

/* ---- several ways: the surest is told ---- */

static void on_stacks_and_static(void)
{
    struct node *volatile mine;

    make_dated();
    mine = root;
    inside = root->text;
    ticks();
    GC_reachable_here(mine);
}

static void stack_and_interior(void)
{
    struct node *volatile mine;

    make_dated();
    mine = root;
    inside = root->text;
    root = NULL;
    ticks();
    GC_reachable_here(mine);
}

/* ---- an object leads there that has a date ---- */

TEST_NOINLINE static void hide_root(void)
{
    hidden = white_hidden(root);
    root = NULL;
}

static void of_a_dated_object(void)
{
    elsewhere(make_pair, NULL);
    date(&root->left);
    SGC_refresh(root, 5);
    hide_root();
}

static void of_a_held_object(void)
{
    elsewhere(make_pair, NULL);
    date(&root->left);
    SGC_hold(root);
    hide_root();
}

static void nothing_leads_there(void)
{
    make_dated();
    hide_root();
}

/* ---- the table ---- */

#define STATIC "static data of "
#define VARIABLE "a thread-local variable of thread "
#define STACK "the stack or a register of thread "
#define OWN_STACK "only the calling thread's own stack, at "

static const struct place {
    void (*put)(void);                  /* ticks itself if a stack or register leads there */
    const char *certainty;              /* or "needed"; NULL: nothing that is certain or likely is said */
    const char *root;
    int steps;
    const char *name;
} places[] = {
    { make_dated, "certainly", STATIC, 1, "a static variable" },
    { in_list, "certainly", STATIC, 3, "a list" },
    { in_tree, "certainly", STATIC, 5, "a tree" },
    { in_thread_local, "certainly", VARIABLE, 1, "a thread-local variable" },
    { in_anothers_variable, "certainly", VARIABLE, 1, "another thread's thread-local variable" },
    { in_added_range, "certainly", "a range of GC_add_roots, at ", 1, "a range that the program has added" },
    { in_uncollectable, "certainly", "an uncollectable object", 2, "an uncollectable object" },
    { in_finalizers_data, "certainly", "finalization: ", 1, "a finalizer's data" },
    { on_anothers_stack, "likely", STACK, 1, "another thread's stack" },
    { in_anothers_register, "likely", STACK, 1, "another thread's register" },
    { list_on_anothers_stack, "likely", STACK, 2, "a list that another thread's stack leads to" },
    { by_interior_word, "likely", STATIC, 1, "a static word that points into it" },
    { by_interior_word_in_heap, "likely", STATIC, 2, "a word of an object that points into it" },
    { integer_on_own_stack, "possibly", OWN_STACK, 1, "an integer on the stack of who checks" },
    { interior_on_own_stack, "possibly", OWN_STACK, 1, "a pointer into it there" },
    { in_own_register, "possibly", OWN_STACK, 1, "a register of who checks" },
    { list_on_own_stack, "possibly", OWN_STACK, 2, "a list that its stack leads to" },
    { on_stacks_and_static, "certainly", STATIC, 1, "stack, interior word and static variable" },
    { stack_and_interior, "likely", STATIC, 1, "stack and interior word" },
    { of_a_dated_object, "needed", "a date that is not over, of thread ", 2, "an object with a date" },
    { of_a_held_object, "needed", "a date that is not over, of no thread", 2, "an object that is held" },
    { nothing_leads_there, NULL, NULL, 0, "nothing" },
};
static const struct place *place;

static int put(void)
{
    setenv("SGC_SHORTTERM_CHECK", "1", 1);
    findings_begin();
    place->put();
    if (!ticked)
        ticks();
    return 0;
}

static bool said_well(const char *text)
{
    const char *due = strstr(text, EXPIRED);
    char wanted[100];

    if (place->certainty == NULL)
        return strstr(text, "certainly") == NULL && strstr(text, "likely") == NULL;
    if (strcmp(place->certainty, "needed") == 0)
        snprintf(wanted, sizeof wanted, "expired before an object that leads to it and has a date");
    else
        snprintf(wanted, sizeof wanted, ": %s expired too early", place->certainty);
    return due != NULL && capture_count(text, "SGC_SHORTTERM=verify") == 1 && strstr(due, wanted) != NULL &&
           strstr(due, place->root) != NULL && capture_count(due, "-> ") == place->steps;
}

static void check_place(void)
{
    const char *text;
    int status;

    if (TEST_SANITIZED && (place->certainty == NULL || strcmp(place->certainty, "certainly") != 0)) {
        tap_skip("%s: sanitizers keep old words on stacks", place->name);
        return;
    }
    capture_begin();
    status = run_in_child(put);
    text = capture_end();
    if (!tap_ok(status == 0 && said_well(text), "%s: %s, in the tick that is due", place->name,
                place->certainty != NULL ? place->certainty : "nothing is said"))
        tap_diag("status %d, said: %.900s", status, text);
}

int main(void)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        place = &places[i];
        check_place();
    }
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Where roots are: static data, added memory, what a hook pushes, the stack of a thread.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <sys/mman.h>

static void *volatile in_static[HANDLES];     /* volatile, since nobody reads it */
static void **in_added, **pushing;      /* mapped; the second is no root by itself */
static uintptr_t pushed[HANDLES];       /* inverted */

static bool hook_allocates;
static void **from_hook;                /* a list of what the hook has allocated */

/* As Crystal's run-time system does. */
static void allocate_in_hook(void)
{
    void **p = GC_malloc(40);

    if (p == NULL)
        return;
    fuzz_expect(p[0] == NULL && p[1] == NULL, "an object of the hook is not zero");
    forget_before(p);
    p[0] = from_hook;
    from_hook = p;
}

void set_hook(bool allocates)
{
    hook_allocates = allocates;
    for (void **p = from_hook; p != NULL; p = *p)
        fuzz_expect(GC_base(p) == p, "an object of the hook is gone");
    from_hook = NULL;
}

void op_hook(struct fuzz_input *in)
{
    set_hook(fuzz_byte(in) % 2 != 0);
}

static void GC_CALLBACK push_roots(void)
{
    if (hook_allocates)
        allocate_in_hook();
    for (int h = 0; h < HANDLES; h++)
        pushing[h] = pushed[h] == 0 ? NULL : (void *)~pushed[h];
    GC_push_all_eager(pushing, pushing + HANDLES);
}

static void **map_words(void)
{
    void **words = mmap(NULL, HANDLES * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    fuzz_expect(words != MAP_FAILED, "no memory for roots");
    return words;
}

void prepare_roots(void)
{
    in_added = map_words();
    pushing = map_words();
    GC_add_roots(in_added, in_added + HANDLES);
    GC_set_push_other_roots(push_roots);
}

void set_place(int h, enum place place, size_t offset)
{
    char *p = (char *)address_of(h) + offset;

    switch (place) {
    case IN_STATIC: in_static[h] = p; break;
    case IN_ADDED: in_added[h] = p; break;
    case PUSHED: pushed[h] = ~(uintptr_t)p; break;
    case ON_STACK: helper_roots()[h] = p; break;
    }
    handle[h].places |= place;
}

void clear_place(int h, enum place place)
{
    switch (place) {
    case IN_STATIC: in_static[h] = NULL; break;
    case IN_ADDED: in_added[h] = NULL; break;
    case PUSHED: pushed[h] = 0; break;
    case ON_STACK: helper_roots()[h] = NULL; break;
    }
    handle[h].places &= ~(unsigned)place;
}

void clear_places(int h)
{
    for (unsigned place = 1; place <= ON_STACK; place <<= 1)
        if ((handle[h].places & place) != 0)
            clear_place(h, (enum place)place);
}

/* A pointer to somewhere in the object; of a large one whose program promises that, near its beginning. */
void op_root(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in), offset = fuzz_below(in, 256);

    if (h == NONE)
        return;
    if (!GC_get_all_interior_pointers() || offset >= handle[h].size)
        offset = 0;
    set_place(h, (enum place)(1 << code % 4), offset);
}

void op_unroot(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in);

    if (h == NONE)
        return;
    if (code >= 128)
        clear_places(h);
    else
        clear_place(h, (enum place)(1 << code % 4));
}

/* Nothing leads from there while it is not a root. */
void op_added(struct fuzz_input *in)
{
    unsigned middle = fuzz_below(in, HANDLES);

    for (int h = 0; h < HANDLES; h++)
        if ((handle[h].places & IN_ADDED) != 0)
            clear_place(h, IN_ADDED);
    GC_remove_roots(in_added, in_added + HANDLES);
    if (middle != 0 && middle % 2 != 0)
        GC_add_roots(in_added, in_added + middle);
    GC_add_roots(in_added + (middle % 2 != 0 ? middle : 0), in_added + HANDLES);
}

/* In the child only the thread is left that called fork. */
void after_fork(void)
{
    for (int h = 0; h < HANDLES; h++)
        handle[h].places &= ~(unsigned)ON_STACK;
}

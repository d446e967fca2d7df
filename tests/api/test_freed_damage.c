/* SPDX-License-Identifier: MIT */
/*
 * A program writes to objects that it has freed, and past the end of others: what is allocated next is right all the same.
 * Sixteen kinds of damage, each in the first word, the second, and all; small and large objects; freed by the thread that
 * has allocated them and by another one.  What is handed out is the first address of an object of the right size, is nobody
 * else's, and is zero where that is promised; nothing else is written to.
 *
 * Also: alloc/small/freed.c (with more freed slots than may wait).
 */
#include "tests/api/api.h"

#include <dlfcn.h>
#include <gc/gc_inline.h>
#include <sgc.h>

#include "tests/lib/child.h"
#include "tests/lib/random.h"

enum { PAIRS = 24, MORE = 3 * PAIRS, CANARY = 0x5a, MANY = 300000, GRANULE = 16 };

/* ---- damage ---- */

static uintptr_t decoy[64];
static uint64_t random_state = 88172645463325252u;

struct scene {
    size_t size;
    uintptr_t freed[PAIRS], live[PAIRS];        /* they lie between each other; hidden from nobody: all is disabled */
    uintptr_t other_size, stack;
};

/* What is written into word w of the i-th freed object. */
#define KINDS(KIND) \
    KIND(zero, 0) \
    KIND(minus_one, UINTPTR_MAX) \
    KIND(own_address, s->freed[i]) \
    KIND(other_freed, s->freed[(i + 7) % PAIRS]) \
    KIND(live_object, s->live[i]) \
    KIND(other_page, s->freed[i] + 65536) \
    KIND(other_size, s->other_size) \
    KIND(unmapped, 0x10000) \
    KIND(stack, s->stack) \
    KIND(static_data, (uintptr_t)&decoy[32]) \
    KIND(library_code, (uintptr_t)dlsym(RTLD_DEFAULT, "qsort")) \
    KIND(misaligned, s->freed[(i + 3) % PAIRS] + 4) \
    KIND(one_granule_off, s->freed[(i + 3) % PAIRS] + GRANULE) \
    KIND(random_bits, random_word(&random_state)) \
    KIND(bit_flipped, *word ^ (uintptr_t)1 << random_word(&random_state) % 48) \
    KIND(swapped, ((uintptr_t *)s->freed[(i + 1) % PAIRS])[w])

#define KIND(name, value) \
    static uintptr_t name(const struct scene *s, int i, const uintptr_t *word, size_t w) \
    { (void)s, (void)i, (void)word, (void)w; return value; }
KINDS(KIND)
#undef KIND

static uintptr_t (*damage)(const struct scene *s, int i, const uintptr_t *word, size_t w);

/* which: 0 the first word, 1 the second, 2 all. */
static void damage_freed(const struct scene *s, int which)
{
    size_t from = which == 1, to = which == 2 ? s->size / sizeof(uintptr_t) : from + 1;

    for (int i = 0; i < PAIRS; i++)
        for (size_t w = from; w < to; w++)
            ((volatile uintptr_t *)s->freed[i])[w] = damage(s, i, (uintptr_t *)s->freed[i] + w, w);
}

/* ---- what must hold ---- */

enum { MALLOC, ATOMIC, BATCH, WAYS };

static void fail(const char *what, const struct scene *s, const void *object)
{
    dprintf(2, "# %zu bytes: %p %s\n", s->size, object, what);
    _exit(3);
}

static void *take(const struct scene *s, int way, void **batch)
{
    void *object;

    if (way != BATCH)
        return way == ATOMIC ? GC_malloc_atomic(s->size) : GC_malloc(s->size);
    if (*batch == NULL)
        GC_generic_malloc_many((s->size + GRANULE) / GRANULE * GRANULE, GC_I_NORMAL, batch);
    object = *batch;
    *batch = *(void **)object;
    *(void **)object = NULL;
    return object;
}

static void check_object(const struct scene *s, const unsigned char *object, int way)
{
    if (object == NULL || (uintptr_t)object % GRANULE != 0 || GC_base((void *)object) != object)
        fail("is no object's first address", s, object);
    if (GC_size(object) < s->size || GC_size(object) > 2 * s->size + 4096)
        fail("has another size", s, object);
    for (size_t i = 0; way != ATOMIC && i < s->size; i++)
        if (object[i] != 0)
            fail("is not zero", s, object);
}

/* Each gets a number of its own, which must be there in the end: nobody else has it. */
static void check_taken(const struct scene *s, int way)
{
    void *batch = NULL;
    uintptr_t *object[MORE];

    for (uintptr_t i = 0; i < MORE; i++) {
        object[i] = take(s, way, &batch);
        check_object(s, (unsigned char *)object[i], way);
        memset(object[i], 0x33, s->size);
        object[i][0] = object[i][s->size / sizeof(uintptr_t) - 1] = i;
    }
    for (uintptr_t i = 0; i < MORE; i++)
        if (object[i][0] != i || object[i][s->size / sizeof(uintptr_t) - 1] != i)
            fail("was handed out twice", s, object[i]);
    for (int i = 0; i < PAIRS; i++)
        for (size_t b = 0; b < s->size; b++)
            if (((unsigned char *)s->live[i])[b] != CANARY)
                fail("was written to", s, (void *)s->live[i]);
    for (size_t i = 0; i < sizeof decoy / sizeof *decoy; i++)
        if (decoy[i] != i + 1)
            fail("is static data and was written to", s, &decoy[i]);
}

/* ---- the scene ---- */

static void *free_all(void *scene)
{
    const struct scene *s = scene;

    for (int i = 0; i < PAIRS; i++)
        GC_free((void *)s->freed[i]);
    return NULL;
}

static void run_scene(size_t size, int which, int way, bool by_other)
{
    uintptr_t on_stack[64] = { 0 };
    struct scene s = { .size = size, .stack = (uintptr_t)&on_stack[32] };

    for (int i = 0; i < PAIRS; i++) {
        s.freed[i] = (uintptr_t)(way == ATOMIC ? GC_malloc_atomic(size) : GC_malloc(size));
        s.live[i] = (uintptr_t)(way == ATOMIC ? GC_malloc_atomic(size) : GC_malloc(size));
        memset((void *)s.live[i], CANARY, size);
    }
    s.other_size = (uintptr_t)GC_malloc(size * 2);
    GC_free((void *)s.other_size);
    if (by_other)
        api_in_thread(free_all, &s);
    else
        free_all(&s);
    damage_freed(&s, which);
    check_taken(&s, way);
    for (size_t i = 0; i < 64; i++)
        if (((volatile uintptr_t *)on_stack)[i] != 0)
            fail("is on the stack and was written to", &s, &on_stack[i]);
}

static int run_kind(void)
{
    static const size_t sizes[] = { 16, 64, 240, 1000, 3000, 30000 };
    void *twice;

    alarm(60);
    GC_INIT();
    GC_set_warn_proc(api_count_warning);
    for (size_t i = 0; i < sizeof decoy / sizeof *decoy; i++)
        decoy[i] = i + 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int each = 0; each < 3 * WAYS * 2; each++)
            if (sizes[i] < 10000 || each % WAYS != BATCH)
                run_scene(sizes[i], each / WAYS % 3, each % WAYS, each / (3 * WAYS) != 0);
    GC_gcollect();
    if (api_warnings != 0 || SGC_check() != 0)
        return 5;
    twice = GC_malloc(64);
    GC_free(twice);
    memset(twice, 0xff, 64);
    GC_free(twice);
    return api_warnings == 1 ? 0 : 6;
}

/* More than may wait in a bin, freed in and out of order, each time damaged. */
static int run_many(void)
{
    static uintptr_t *object[MANY];

    GC_INIT();
    for (int round = 0; round < 4; round++) {
        for (uintptr_t i = 0; i < MANY; i++) {
            object[i] = GC_malloc(64);
            if (object[i][0] != 0 || object[i][7] != 0)
                return 3;
            object[i][0] = object[i][7] = i;
        }
        for (uintptr_t i = 0; i < MANY; i++)
            if (object[i][0] != i || object[i][7] != i)
                return 4;
        for (uintptr_t i = 0; i < MANY; i++) {
            uintptr_t *freed = object[round % 2 == 0 ? i : i * 48271 % MANY];

            GC_free(freed);
            memset(freed, 0x41, 64);
        }
    }
    return SGC_check();
}

static const struct {
    const char *name;
    uintptr_t (*damage)(const struct scene *s, int i, const uintptr_t *word, size_t w);
} kinds[] = {
#define KIND(name, value) { #name, name },
    KINDS(KIND)
#undef KIND
};

static void try_all(const char *mode)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        damage = kinds[i].damage;
        child_ok(run_kind, "%s: %s", mode, kinds[i].name);
    }
    child_ok(run_many, "%s: more than may wait", mode);
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    try_all("stop");
    setenv("SGC_MODE", "concurrent", 1);
    try_all("concurrent");
    setenv("SGC_TORTURE", "50", 1);
    damage = live_object;
    child_ok(run_kind, "torture: live_object");
    return tap_done();
}

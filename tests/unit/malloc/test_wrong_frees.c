/* SPDX-License-Identifier: MIT */
/*
 * malloc/harden.c, malloc/slow.c, malloc/family.c, in the build that does not mark: a storm of wrong frees at random among
 * right ones, in four threads.  Each is told, and nothing else changes: neither contents of blocks, nor what may be freed.
 *
 *     test_wrong_frees [FREES]
 *
 * A block that is free may be another's at any moment, and then to free it again is right.  So a
 * thread frees for a second time only what nobody can get meanwhile: what it has allocated itself,
 * so that the slot lies in a page of its own, from which nobody else allocates; while it has another
 * block in that page, which so stays its own; and before it allocates again itself.
 */
#include <sys/mman.h>

#include "alloc/large/span.h"
#include "alloc/small/cache.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "malloc/options.h"
#include "tests/lib/random.h"
#include "tests/unit/malloc/filled.h"
#include "tests/unit/malloc/told.h"

enum { THREADS = 4, HELD = 256, SHARED = 64, FREES = 20000, SPAN_LEAST = 70000, KINDS = 9, BATCH = 16 };

enum request { NONE, CLAIMED, FREE_AGAIN, FREE_TWICE, FREE_AT_ONCE, DONE };

/*
 * One thread asks another to free a block.
 *
 *   what             written by                             read by        ordering
 *   request          NONE to CLAIMED by who asks, then to   both           compare-and-swap; release, acquire
 *                    what it asks, and back from DONE;
 *                    to DONE by who is asked
 *   asker, asked,    who asks, before request               who is asked   that of request
 *   batch, batched
 *   arrived          who is asked; 0 by who asks, before    who is asked   that of request; then its own additions
 */
struct storm {
    uint64_t state;
    size_t left;                /* wrong frees to be made */
    struct block held[HELD];
    struct tally made;
    size_t damaged, of_kind[KINDS];
    sgc_a32_t request, arrived;
    struct storm *asker;
    void *asked, *batch[BATCH];
    uint32_t batched;
};

static struct storm storms[THREADS];
static sgc_aw_t shared[SHARED];         /* blocks that whoever takes them frees */
static sgc_a32_t finished;              /* threads that have made all of theirs */
static char in_data[4096];
static char *mapped;                    /* a page that may not even be read */

/* ---- blocks ---- */

static struct block make(struct storm *s)
{
    static const uint32_t sizes[] = { 16, 48, 48, 112, 320, 320, 1000, 1024, 4000, 21000 };
    uint32_t size = sizes[random_below(&s->state, sizeof sizes / sizeof *sizes)];
    struct block b = { .bytes = random_below(&s->state, 40) == 0 ? SPAN_LEAST + size * 4 : size, .own = true };

    b.words = sgc_malloc(b.bytes);
    if (b.words == NULL)
        tap_bail("no memory for %zu bytes", b.bytes);
    block_fill(&b);
    return b;
}

static void free_right(struct storm *s, const struct block *b)
{
    s->damaged += !block_is_whole(b);
    sgc_free(b->words);
}

/* ---- wrong frees ---- */

static void *hidden(const void *p)
{
    void *volatile h = (void *)(uintptr_t)p;

    return h;
}

static void count_wrong(struct storm *s, const void *address)
{
    tally_add(&s->made, (uintptr_t)address);
    s->left -= s->left != 0;
}

/* By one function or another. */
static void free_wrong(struct storm *s, const void *address)
{
    count_wrong(s, address);
    switch (random_below(&s->state, 8)) {
    case 0:
        s->damaged += sgc_realloc(hidden(address), 100) != NULL;
        break;
    case 1:
        s->damaged += sgc_malloc_usable_size(hidden(address)) != 0;
        break;
    case 2:
        sgc_free_sized(hidden(address), 16);
        break;
    default:
        sgc_free(hidden(address));
    }
}

static uint32_t page_of(const struct block *b)
{
    return sgc_page_number((uintptr_t)b->words);
}

/* Has the thread another block in that page? */
static bool holds_page(const struct storm *s, const struct block *b)
{
    for (int i = 0; i < HELD; i++)
        if (&s->held[i] != b && s->held[i].own && page_of(&s->held[i]) == page_of(b))
            return true;
    return false;
}

static bool may_be_freed_twice(const struct storm *s, const struct block *b)
{
    return b->words != NULL && b->own && b->bytes < SPAN_LEAST && holds_page(s, b);
}

static bool free_twice(struct storm *s, struct block *b)
{
    if (!may_be_freed_twice(s, b))
        return false;
    free_right(s, b);
    free_wrong(s, b->words);
    *b = (struct block){ .words = NULL };
    return true;
}

/* A spare one of this thread's: nobody else gets that. */
static bool free_span_twice(struct storm *s, struct block *b)
{
    uint32_t kept = sgc_cached_span_pages(sgc_self->id);
    bool is_spare;

    if (b->words == NULL || b->bytes < SPAN_LEAST)
        return false;
    free_right(s, b);
    is_spare = sgc_cached_span_pages(sgc_self->id) == kept + sgc_span_pages_for(b->bytes);
    if (is_spare)
        free_wrong(s, b->words);
    *b = (struct block){ .words = NULL };
    return is_spare;
}

static bool free_middle(struct storm *s, struct block *b)
{
    uint32_t granules = (uint32_t)(b->bytes / SGC_GRANULE);

    if (b->words == NULL || granules < 2)
        return false;
    free_wrong(s, (char *)b->words + (1 + random_below(&s->state, granules - 1)) * SGC_GRANULE);
    return true;
}

static bool free_unaligned(struct storm *s, struct block *b)
{
    if (b->words == NULL)
        return false;
    free_wrong(s, (char *)b->words + 1 + random_below(&s->state, 15));
    return true;
}

/* Free ones of a page of its own, most of which were never handed out. */
static bool free_slot(struct storm *s, struct block *b)
{
    uint32_t page = page_of(b), granules;
    size_t slot;

    if (b->words == NULL || !b->own || b->bytes >= SPAN_LEAST)
        return false;
    granules = sgc_heap.pages[page].granules;
    slot = sgc_page_first_granule(page) + (size_t)random_below(&s->state, SGC_PAGE_GRANULES / granules) * granules;
    if (sgc_alloc_bit(slot))
        return false;
    free_wrong(s, sgc_granule_address(slot));
    return true;
}

static bool free_outside(struct storm *s, struct block *b)
{
    char on_stack[64];
    char *const foreign[] = { on_stack, in_data, mapped, (char *)sgc_heap.bits };

    (void)b;
    free_wrong(s, foreign[random_below(&s->state, 4)] + random_below(&s->state, 64));
    return true;
}

/* ---- wrong frees with other threads' help ---- */

/* Two threads do this, and free each block at the same instant. */
static void free_batch(struct storm *asker)
{
    for (uint32_t i = 0; i < asker->batched; i++) {
        sgc_a32_add(&asker->arrived, 1);
        for (uint32_t spins = 0; sgc_a32_load(&asker->arrived) < 2 * i + 2; spins++)
            if (spins % 4096 == 4095)
                sgc_yield();
        sgc_free(asker->batch[i]);
    }
}

/* What others ask of this one.  Of two who free at once it cannot be said which is wrong: who has
 * asked them counts one. */
static void serve(struct storm *s)
{
    uint32_t request = sgc_a32_load_acq(&s->request);

    if (request < FREE_AGAIN || request == DONE)
        return;
    if (request == FREE_AT_ONCE)
        free_batch(s->asker);
    if (request == FREE_TWICE)
        sgc_free(s->asked);
    if (request != FREE_AT_ONCE)
        free_wrong(s, s->asked);
    sgc_a32_store_rel(&s->request, DONE);
}

/* False: it has something to do already. */
static bool claim(struct storm *s, struct storm *other)
{
    return other != s && sgc_a32_cas(&other->request, NONE, CLAIMED);
}

static void ask(struct storm *s, struct storm *other, enum request request, void *block)
{
    other->asker = s;
    other->asked = block;
    sgc_a32_store_rel(&other->request, request);
}

static void await(struct storm *s, struct storm *other)
{
    while (sgc_a32_load_acq(&other->request) != DONE) {
        serve(s);
        sgc_yield();
    }
    sgc_a32_store_rel(&other->request, NONE);
}

static struct storm *any(struct storm *s)
{
    return &storms[random_below(&s->state, THREADS)];
}

static bool free_again_elsewhere(struct storm *s, struct block *b)
{
    struct storm *other = any(s);
    void *freed = b->words;

    if (!may_be_freed_twice(s, b) || !claim(s, other))
        return false;
    free_right(s, b);
    *b = (struct block){ .words = NULL };
    ask(s, other, FREE_AGAIN, freed);
    await(s, other);
    return true;
}

/* Then by its owner, too. */
static bool free_twice_elsewhere(struct storm *s, struct block *b)
{
    struct storm *other = any(s);

    if (!may_be_freed_twice(s, b) || !claim(s, other))
        return false;
    s->damaged += !block_is_whole(b);
    ask(s, other, FREE_TWICE, b->words);
    await(s, other);
    free_wrong(s, b->words);
    *b = (struct block){ .words = NULL };
    return true;
}

/* The blocks that the thread has besides that one in its page are no longer the thread's. */
static void make_batch(struct storm *s, const struct block *stays)
{
    s->batched = 0;
    for (int i = 0; i < HELD && s->batched < BATCH; i++) {
        struct block *b = &s->held[i];

        if (b == stays || !b->own || page_of(b) != page_of(stays))
            continue;
        s->damaged += !block_is_whole(b);
        s->batch[s->batched++] = b->words;
        *b = (struct block){ .words = NULL };
    }
}

static bool free_at_once_elsewhere(struct storm *s, struct block *b)
{
    size_t me = (size_t)(s - storms), first = 1 + random_below(&s->state, 3);
    struct storm *one = &storms[(me + first) % THREADS], *two = &storms[(me + first % 3 + 1) % THREADS];

    if (!may_be_freed_twice(s, b) || !claim(s, one))
        return false;
    if (!claim(s, two)) {
        sgc_a32_store_rel(&one->request, NONE);
        return false;
    }
    make_batch(s, b);
    sgc_a32_store(&s->arrived, 0);
    ask(s, one, FREE_AT_ONCE, NULL);
    ask(s, two, FREE_AT_ONCE, NULL);
    await(s, one);
    await(s, two);
    for (uint32_t i = 0; i < s->batched; i++)
        count_wrong(s, s->batch[i]);
    return true;
}

/* ---- the storm ---- */

/* What a wrong free may be; each returns false if it cannot be made with that block. */
static const struct kind {
    const char *name;
    bool (*try)(struct storm *s, struct block *b);
} kinds[KINDS] = {
    { "twice", free_twice },
    { "a large block twice", free_span_twice },
    { "the middle", free_middle },
    { "no multiple of 16", free_unaligned },
    { "a slot that is free", free_slot },
    { "foreign memory", free_outside },
    { "again by another thread", free_again_elsewhere },
    { "twice by another thread", free_twice_elsewhere },
    { "by two others at once", free_at_once_elsewhere },
};

/* Another block in place of that one, or of one that any thread has left. */
static void replace(struct storm *s, struct block *b)
{
    sgc_aw_t *place = &shared[random_below(&s->state, SHARED)];

    if (random_below(&s->state, 4) == 0 && b->words != NULL) {
        *b = block_at((uintptr_t *)sgc_aw_swap(place, (uintptr_t)b->words));
        return;
    }
    if (b->words != NULL)
        free_right(s, b);
    *b = make(s);
}

static void *rage(void *number)
{
    struct storm *s = &storms[(intptr_t)number];

    s->state = (uint64_t)(intptr_t)number * 2 + 3;
    while (s->left != 0) {
        uint32_t kind = random_below(&s->state, KINDS);

        replace(s, &s->held[random_below(&s->state, HELD)]);
        s->of_kind[kind] += kinds[kind].try(s, &s->held[random_below(&s->state, HELD)]);
        serve(s);
    }
    sgc_a32_add(&finished, 1);
    while (sgc_a32_load(&finished) != THREADS) {
        serve(s);
        sgc_yield();
    }
    for (int i = 0; i < HELD; i++)
        if (s->held[i].words != NULL)
            free_right(s, &s->held[i]);
    return NULL;
}

/* ---- the whole ---- */

static struct tally run(size_t frees)
{
    pthread_t thread[THREADS];

    told_begin();
    for (int i = 0; i < THREADS; i++)
        storms[i].left = frees / THREADS;
    threads_start(thread, THREADS, rage);
    threads_join(thread, THREADS);
    for (int i = 0; i < SHARED; i++)
        sgc_free((void *)sgc_aw_load(&shared[i]));
    return told_end();
}

static void test_storm(size_t frees)
{
    size_t damaged = 0, of_kind[KINDS] = { 0 };
    struct tally heard = run(frees), made = { 0, 0 };

    for (int i = 0; i < THREADS; i++) {
        made.count += storms[i].made.count;
        made.addresses += storms[i].made.addresses;
        damaged += storms[i].damaged;
        for (int k = 0; k < KINDS; k++)
            of_kind[k] += storms[i].of_kind[k];
    }
    tap_ok(made.count >= frees && heard.count == made.count, "each of %zu wrong frees is told once (%zu messages)", made.count,
           heard.count);
    tap_ok(heard.addresses == made.addresses, "with its address");
    tap_ok(damaged == 0, "all blocks keep their contents, and wrong calls return nothing (%zu times not so)", damaged);
    for (int k = 0; k < KINDS; k++)
        tap_ok(of_kind[k] > frees / 10000, "%zu of them: %s", of_kind[k], kinds[k].name);
    sgc_heap_check();
}

int main(int argc, char **argv)
{
    sgc_free(sgc_malloc(1));            /* options are read by then */
    sgc_malloc_options.action = SGC_HARDEN_REPORT;
    mapped = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        tap_bail("no memory");
    test_storm(argc > 1 ? strtoul(argv[1], NULL, 10) : FREES);
    return tap_done();
}

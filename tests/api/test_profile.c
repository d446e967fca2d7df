/* SPDX-License-Identifier: MIT */
/*
 * The allocation profile, gc/profile/profile.c, gc/profile/sites.c, gc/api/profile.c, alloc/small/sampling.c: what the samples
 * say of twelve sites against exact counts; in a fragmented heap, with objects that are freed explicitly, in batches, by
 * several threads, while the rate changes.  With a rate of 1 all of it is exact, and agrees with a heap snapshot of the same
 * cycle.
 */
#include "tests/api/api.h"

#include "alloc/small/sampling.h"
#include "gc/profile/sites.h"
#include "gc/threads/mutator.h"
#include "sgc.h"
#include "snapshot/graph.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"
#include "tests/lib/random.h"

enum { SITES = 12, SEEDS_USUAL = 20, RATE = 16 << 10, PER_SEED = 512 << 10, THREADS = 2, KEPT = 4096 };
enum { UNCOLLECTABLE = 4, BATCHES = 7, BATCH = 8 << 10 };       /* sites; bytes of a batch, about */

/* The first five are called in turn, two of one size and kind. */
/* TEST_SEEDS of them: with a thousand a bias of half a percent shows. */
static uint64_t seeds = SEEDS_USUAL;

static const size_t size_of[SITES] = { 16, 16, 48, 96, 200, 1000, 4000, BATCH, 40000, 70000, 200000, 1 << 20 };

/* ---- sites: their code lies together ---- */

#define SITE __attribute__((noinline, section("sites"))) static void *
#define SITE_OF(number, call) \
    SITE site_##number(void) \
    { \
        void *volatile object = call; \
        return object; \
    }

SITE_OF(0, GC_malloc(15))
SITE_OF(1, GC_malloc(15))
SITE_OF(2, GC_malloc_atomic(47))
SITE_OF(3, GC_malloc(90))
SITE_OF(4, GC_malloc_uncollectable(199))
SITE_OF(5, GC_malloc_ignore_off_page(999))
SITE_OF(6, GC_memalign(64, 3999))
SITE_OF(7, GC_malloc_many(24))
SITE_OF(8, GC_malloc_atomic(39999))
SITE_OF(9, GC_realloc(NULL, 69999))
SITE_OF(10, GC_malloc(199999))
SITE_OF(11, GC_malloc_atomic((1 << 20) - 1))

static void *(*const site[SITES])(void) = {
    site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7, site_8, site_9, site_10, site_11,
};

/* The site whose code the address lies in; -1: none.  That with the nearest beginning before it. */
static int site_at(uintptr_t place)
{
    extern const char __start_sites[], __stop_sites[];
    int found = -1;

    if (place < (uintptr_t)__start_sites || place >= (uintptr_t)__stop_sites)
        return -1;
    for (int i = 0; i < SITES; i++)
        if ((uintptr_t)site[i] <= place && (found < 0 || (uintptr_t)site[i] > (uintptr_t)site[found]))
            found = i;
    return found;
}

/* ---- what was allocated, and what the samples say ---- */

struct counts {
    double objects[SITES], bytes[SITES];
};

static struct counts estimated(bool live)
{
    struct sgc_sites_copy copy;
    struct counts c = { .objects = { 0 } };

    if (!sgc_sites_copy(sgc_section_of(sgc_mutator_self()), &copy))
        tap_bail("no memory for a copy of the sites");
    for (uint32_t i = 0; i < copy.sites; i++) {
        const struct sgc_site *s = &copy.site[i];
        int at = -1;

        for (uint32_t f = 0; f < s->frames && at < 0; f++)
            at = site_at(copy.place[copy.frame[s->frame + f]]);
        if (at >= 0) {
            c.objects[at] += live ? s->live.objects : s->allocated.objects;
            c.bytes[at] += live ? s->live.bytes : s->allocated.bytes;
        }
    }
    sgc_sites_drop_copy(&copy);
    return c;
}

static struct counts difference(struct counts a, const struct counts *b)
{
    for (int i = 0; i < SITES; i++) {
        a.objects[i] -= b->objects[i];
        a.bytes[i] -= b->bytes[i];
    }
    return a;
}

static void add(struct counts *sum, const struct counts *c)
{
    for (int i = 0; i < SITES; i++) {
        sum->objects[i] += c->objects[i];
        sum->bytes[i] += c->bytes[i];
    }
}

/* ---- a program ---- */

struct worker {
    uint64_t seed;
    struct counts made;
    void **kept;
};

static void count(struct worker *w, int number, void *object)
{
    w->made.objects[number]++;
    w->made.bytes[number] += (double)GC_size(object);
}

/* Some live on at random places, so that later runs are short; of the others half are freed at once. */
static void finish_with(struct worker *w, void *object, bool uncollectable)
{
    void **place = &w->kept[random_below(&w->seed, KEPT)], *old = *place;

    if (random_below(&w->seed, 8) < 3) {
        *place = object;
        if (old != NULL)
            GC_free(old);
    } else if (uncollectable || random_below(&w->seed, 2) == 0) {
        GC_free(object);
    }
}

static void allocate(struct worker *w, int number)
{
    void *object = site[number]();

    if (object == NULL)
        tap_bail("no memory for site %d", number);
    if (number != BATCHES) {
        count(w, number, object);
        finish_with(w, object, number == UNCOLLECTABLE);
        return;
    }
    for (; object != NULL; object = *(void **)object)
        count(w, number, object);
}

/* All sites in turn, each as often as gives about as many bytes. */
static void *work(void *arg)
{
    struct worker *w = arg;
    size_t turns = PER_SEED / size_of[0];

    for (size_t turn = 0; turn < turns; turn++)
        for (int i = 0; i < SITES; i++) {
            size_t calls = PER_SEED / size_of[i] + 1;

            if (turn * calls / turns != (turn + 1) * calls / turns)
                allocate(w, i);
        }
    return NULL;
}

/* By so many threads at once; they have gone when it returns.  What was made. */
static struct counts work_together(int threads, uint64_t seed)
{
    static void *kept[THREADS][KEPT];
    static struct worker worker[THREADS];
    pthread_t thread[THREADS];
    struct counts sum = { .objects = { 0 } };

    for (int i = 0; i < threads; i++) {
        worker[i] = (struct worker){ .seed = seed * THREADS + (unsigned)i + 1, .kept = kept[i] };
        if (GC_pthread_create(&thread[i], NULL, work, &worker[i]) != 0)
            tap_bail("no thread");
    }
    for (int i = 0; i < threads; i++) {
        GC_pthread_join(thread[i], NULL);
        add(&sum, &worker[i].made);
    }
    return sum;
}

/* ---- without bias ---- */

/* Is the sum of the estimates within three standard errors?  An object is a sample with probability p, and stands for 1/p
 * then: the variance of its estimate is (1 - p) / p. */
static bool site_agrees(int i, const struct counts *made, const struct counts *found)
{
    double p = sgc_countdown_share(made->bytes[i] / made->objects[i] / RATE), off = found->objects[i] - made->objects[i];
    double variance = made->objects[i] * (1 - p) / p, exact = made->bytes[i] / made->objects[i];
    double bytes = found->bytes[i] / found->objects[i] / exact;

    tap_diag("%7zu bytes: %.0f made, %.0f estimated, off by %.2f variances", size_of[i], made->objects[i], found->objects[i],
             off * off / (variance + 0.25));
    return off * off <= 9 * variance + 0.25 && bytes > 0.999 && bytes < 1.001;
}

static uint32_t sites_off(int threads, uint64_t first_seed)
{
    struct counts made = { .objects = { 0 } }, found = { .objects = { 0 } };
    uint32_t off = 0;

    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        struct counts before = estimated(false), now;

        sgc_sampling.seed = seed * 1000003;
        if (SGC_set_profile_rate(RATE) != 0)
            tap_bail("the rate cannot be set");
        now = work_together(threads, seed);
        add(&made, &now);
        now = difference(estimated(false), &before);
        add(&found, &now);
    }
    for (int i = 0; i < SITES; i++)
        off |= (uint32_t)!site_agrees(i, &made, &found) << i;
    return off;
}

/* Of twelve sites one is off by three standard errors once in thirty times: then it must not be when all is done again. */
static void check_bias(int threads)
{
    uint32_t off = sites_off(threads, 1);

    if (off != 0)
        off &= sites_off(threads, 1 + seeds);
    tap_ok(off == 0, "%d threads, %d seeds: each of %d sites is estimated within 3 standard errors (off: %x)", threads,
           (int)seeds, SITES, off);
}

static void check_one_thread(void)
{
    check_bias(1);
}

static void check_threads(void)
{
    check_bias(THREADS);
}

/* ---- exact at a rate of 1 ---- */

/* What is in use according to a snapshot, and to the samples. */
static bool agrees_with_snapshot(void)
{
    struct sgc_graph g = { .objects = 0 };
    struct sgc_graph_reach reach = { .seen = NULL };
    struct sgc_sites_copy copy;
    double objects = 0, bytes = 0;
    bool agrees;

    if (SGC_write_heap_snapshot(folder_path("exact")) != 0 || !sgc_sites_copy(sgc_section_of(sgc_mutator_self()), &copy))
        return false;
    for (uint32_t i = 0; i < copy.sites; i++) {
        objects += copy.site[i].live.objects;
        bytes += copy.site[i].live.bytes;
    }
    sgc_sites_drop_copy(&copy);
    agrees = sgc_graph_load(&g, folder_path("exact"), 0) && sgc_graph_reach(&g, SGC_GRAPH_ALL_ROOTS, &reach) &&
             (double)reach.objects == objects && (double)reach.bytes == bytes;
    fprintf(stderr, "# %lu objects of %lu bytes in the snapshot, %.0f of %.0f in the profile\n", (unsigned long)reach.objects,
            (unsigned long)reach.bytes, objects, bytes);
    sgc_graph_reach_release(&reach);
    sgc_graph_release(&g);
    return agrees;
}

static int exact(void)
{
    struct counts made, found;
    int wrong = 0;

    made = work_together(THREADS, 7);
    found = estimated(false);
    for (int i = 0; i < SITES; i++)
        if (made.objects[i] != found.objects[i] || made.bytes[i] != found.bytes[i]) {
            fprintf(stderr, "# %zu bytes: %.0f of %.0f made, %.0f of %.0f in the profile\n", size_of[i], made.objects[i],
                    made.bytes[i], found.objects[i], found.bytes[i]);
            wrong |= 1;
        }
    wrong |= !agrees_with_snapshot() << 1;
    work_together(1, 9);
    wrong |= !agrees_with_snapshot() << 2;
    return wrong;
}

/* ---- when it is off, and errors ---- */

static void check_errors(void)
{
    unsigned wrong = 0;

    wrong |= (unsigned)(SGC_write_profile(folder_path("none")) != ENODATA || access(folder_path("none"), F_OK) == 0) << 0;
    wrong |= (unsigned)(SGC_write_profile(NULL) != EINVAL || SGC_write_profile("") != EINVAL) << 1;
    wrong |= (unsigned)(SGC_set_profile_rate(SIZE_MAX) != EINVAL) << 2;
    wrong |= (unsigned)(SGC_set_profile_rate(4096) != 0 || SGC_write_profile(folder_path("some")) != 0) << 3;
    wrong |= (unsigned)(SGC_write_profile("/dev/full") != ENOSPC || SGC_write_profile(folder_path("no/where")) != ENOENT) << 4;
    wrong |= (unsigned)(SGC_set_profile_rate(0) != 0 || SGC_write_profile(folder_path("off")) != 0) << 5;
    tap_ok(wrong == 0, "errors are told, and a profile can be written when samples are over (%x)", wrong);
}

/* Also of samples that the program has asked for, without the option. */
static void check_in_use(void)
{
    struct counts made, live;
    double all = 0, in_use = 0;

    SGC_set_profile_rate(1);
    made = work_together(1, 5);
    GC_gcollect();
    live = estimated(true);
    for (int i = 0; i < SITES; i++) {
        all += made.objects[i];
        in_use += live.objects[i];
    }
    tap_ok(in_use > 0 && in_use < all / 10, "a collection takes the dead out of what is in use: %.0f of %.0f are", in_use, all);
}

/* ---- threads that come and go ---- */

enum { SHORT_THREADS = 600, SHORT_BYTES = 64 << 10, SHORT_SIZE = 240, STORM = 6, STORM_ROUNDS = 20000 };

/* A thread allocates four times as much as there is to a sample. */
static void *allocate_little(TEST_UNUSED void *arg)
{
    for (int i = 0; i < SHORT_BYTES / SHORT_SIZE; i++)
        site_4();
    return NULL;
}

static double objects_of(int number)
{
    struct counts c = estimated(false);

    return c.objects[number];
}

/* Each of them has samples of its own: if they had the same, the sum would be off by as much as one of them. */
static void check_short_threads(void)
{
    double made = (double)SHORT_THREADS * (SHORT_BYTES / SHORT_SIZE), p = sgc_countdown_share(208.0 / RATE), before, off;

    SGC_set_profile_rate(RATE);
    before = objects_of(UNCOLLECTABLE);
    for (int i = 0; i < SHORT_THREADS; i++)
        api_in_thread(allocate_little, NULL);
    off = objects_of(UNCOLLECTABLE) - before - made;
    tap_ok(off * off < 25 * made * (1 - p) / p, "of %d short threads %.0f objects are estimated to be %.0f", SHORT_THREADS,
           made, made + off);
}

/* All sizes, in pages that threads share. */
static void *allocate_sizes(void *arg)
{
    struct worker *w = arg;

    for (int i = 0; i < STORM_ROUNDS; i++)
        if (GC_malloc(16 + 8 * random_below(&w->seed, 20)) == NULL)
            return NULL;
    return arg;
}

static void check_storm(void)
{
    static struct worker worker[STORM];
    pthread_t thread[STORM];
    int ended = 0;
    void *result;

    SGC_set_profile_rate(1);
    for (int i = 0; i < STORM; i++) {
        worker[i].seed = (uint64_t)i + 1;
        if (GC_pthread_create(&thread[i], NULL, allocate_sizes, &worker[i]) != 0)
            tap_bail("no thread");
    }
    for (int i = 0; i < STORM; i++) {
        GC_pthread_join(thread[i], &result);
        ended += result != NULL;
    }
    tap_ok(ended == STORM, "threads that share pages go on when each object is a sample");
}

/* Draws the same as its siblings only by chance. */
static int draw(void)
{
    uint64_t samples = 0;

    for (int i = 0; i < 200; i++) {
        double before = objects_of(4);

        site_4();
        samples = samples * 3 + (objects_of(4) != before);
    }
    return (int)(samples >> 40 & 63);
}

static void check_children(void)
{
    int seen = -1, others = 0;

    SGC_set_profile_rate(1000);
    for (int i = 0; i < 8; i++) {
        int found = run_in_child(draw);

        others += seen >= 0 && found != seen;
        seen = found;
    }
    tap_ok(others >= 4, "children of a fork have samples of their own");
}

static void *write_within(void *result)
{
    *(int *)result = SGC_write_profile(folder_path("within")) == EDEADLK && SGC_set_profile_rate(1) == EDEADLK;
    return NULL;
}

static void check_within(void)
{
    int refused = 0;

    GC_call_with_alloc_lock(write_within, &refused);
    tap_ok(refused, "with the allocation lock neither is possible, and says so");
}

/* The exact part is another program, so that samples are taken from its start. */
int main(int argc, char **argv)
{
    pid_t child;

    folder_make();
    if (argc > 1) {
        GC_INIT();
        return exact();
    }
    child = child_begin();
    if (child == 0) {
        environment("SGC_PROFILE=/dev/null,rate=1");
        execl(argv[0], argv[0], "exact", (char *)NULL);
        _exit(99);
    }
    child_ends_well(child, "with a rate of 1 the profile is exact, and agrees with snapshots of the same cycles");
    if (getenv("TEST_SEEDS") != NULL)
        seeds = strtoul(getenv("TEST_SEEDS"), NULL, 10);
    GC_INIT();
    tap_all(check_errors, check_in_use, check_within, check_short_threads, check_storm, check_children, check_one_thread,
            check_threads);
}

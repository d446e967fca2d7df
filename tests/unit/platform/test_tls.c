/* SPDX-License-Identifier: MIT */
/*
 * platform/tls_linux.c: thread-local blocks of other threads, found through their thread pointers, and
 * vectors that are old, half changed or nonsense.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "platform/platform.h"
#include "platform/registers.h"
#include "tests/lib/module.h"

enum { CAPACITY = 512 };
static struct sgc_range range[CAPACITY];
static struct sgc_module_tls tls[CAPACITY];
static struct sgc_module listed[CAPACITY];
static struct sgc_modules modules = {
    .range = range, .range_capacity = CAPACITY, .tls = tls, .tls_capacity = CAPACITY,
    .module = listed, .module_capacity = CAPACITY,
};

/* The module that has a thread-local block of `bytes`; 0 and 0 if there is none. */
static struct sgc_module_tls module_with(size_t bytes)
{
    if (!sgc_modules_snapshot(&modules, NULL, NULL, NULL))
        tap_bail("more modules than this test has room for");
    for (int i = 0; i < modules.tlses; i++)
        if (tls[i].bytes == bytes)
            return tls[i];
    return (struct sgc_module_tls){ .module = 0 };
}

/* How many blocks of the thread contain the address. */
static int blocks_around(uintptr_t thread_pointer, const void *address)
{
    int blocks = 0;
    for (int i = 0; i < modules.tlses; i++) {
        struct sgc_range block;
        if (sgc_tls_block(thread_pointer, tls[i], &block))
            blocks += (uintptr_t)address >= block.lo && (uintptr_t)address < block.hi;
    }
    return blocks;
}

/* ---- a thread that does what it is told ------------------------------------------------------------------ */

static struct {
    sgc_a32_t order, answer;            /* numbers of orders given and done */
    void *(*function)(void);            /* NULL: end */
    void *result;
    uintptr_t thread_pointer;
    int *local;
} worker;

static _Thread_local int local_variable;

static void *work(TEST_UNUSED void *unused)
{
    worker.thread_pointer = sgc_tls_thread_pointer();
    local_variable = 1;
    worker.local = &local_variable;
    for (uint32_t number = 1;; number++) {
        while (sgc_a32_load_acq(&worker.order) != number)
            sgc_wait(&worker.order, number - 1, -1);
        void *(*function)(void) = worker.function;      /* the answer gives it back */
        if (function)
            worker.result = function();
        sgc_a32_store_rel(&worker.answer, number);
        sgc_wake(&worker.answer, 1);
        if (!function)
            return NULL;
    }
}

static void *order(void *(*function)(void))
{
    worker.function = function;
    uint32_t number = sgc_a32_add(&worker.order, 1) + 1;
    sgc_wake(&worker.order, 1);
    for (uint32_t done; (done = sgc_a32_load_acq(&worker.answer)) != number;)
        sgc_wait(&worker.answer, done, -1);
    return worker.result;
}

static void *nothing(void)
{
    return NULL;
}

/* ---- static blocks ------------------------------------------------------------------------------------------- */

static void test_static(void)
{
    uintptr_t mine = sgc_tls_thread_pointer();
    (void)module_with(0);
    order(nothing);
    local_variable = 2;
    tap_ok(mine != worker.thread_pointer, "each thread has its thread pointer");
    tap_ok(blocks_around(mine, &local_variable) == 1, "this thread's variable is in one of its blocks");
    tap_ok(blocks_around(worker.thread_pointer, worker.local) == 1, "the other thread's in one of the other's");
    tap_ok(blocks_around(worker.thread_pointer, &local_variable) == 0, "and not the other way round");
    tap_ok(blocks_around(mine, &errno) == 1, "libc's errno is found");
}

/* ---- dynamic blocks -------------------------------------------------------------------------------------------- */

static bool block_of_worker(struct sgc_module_tls module, struct sgc_range *block)
{
    return sgc_tls_block(worker.thread_pointer, module, block);
}

/* Every byte can be read: one that cannot would end this program. */
__attribute__((no_sanitize("address"), no_sanitize("thread")))
static size_t read_all(struct sgc_range block)
{
    volatile char kept;
    const char *at = (char *)block.lo;
    while (at < (char *)block.hi)
        kept = *(const volatile char *)at++;
    (void)kept;
    return (uintptr_t)at - block.lo;
}

static void test_dynamic(void)
{
    struct sgc_range block;
    void *module = module_load("module_small");
    struct sgc_module_tls small = module_with(MODULE_SMALL_TLS);
    tap_ok(small.module != 0, "a module with thread-local data is loaded (number %zu)", small.module);
    tap_ok(!block_of_worker(small, &block), "a thread that has not used it has no block");
    void *address = order((void *(*)(void))module_symbol(module, "module_tls_address"));
    tap_ok(block_of_worker(small, &block) && block.lo == (uintptr_t)address
           && block.hi == block.lo + MODULE_SMALL_TLS, "one that has used it has the whole block");
    struct sgc_range mine;
    tap_ok(!sgc_tls_block(sgc_tls_thread_pointer(), small, &mine), "this thread still has none");
    dlclose(module);
}

/* The worker still has the block of a module that was unloaded; its number now belongs to a larger one. */
static void test_stale(void)
{
    struct sgc_range block = { 0, 0 };
    void *module = module_load("module_small");
    struct sgc_module_tls small = module_with(MODULE_SMALL_TLS);
    char *old = order((void *(*)(void))module_symbol(module, "module_tls_address"));
    dlclose(module);
    module = module_load("module_large");
    struct sgc_module_tls large = module_with(MODULE_LARGE_TLS);
    tap_ok(large.module == small.module, "the loader uses a module number again (%zu)", large.module);
    bool stale = block_of_worker(large, &block);
    tap_diag("old entry: %s", stale ? "seen" : "not seen");
    tap_ok(!stale || (block.lo == (uintptr_t)old && read_all(block) == block.hi - block.lo),
           "an old entry leads to memory that can be read throughout (%zu of %d bytes)",
           (size_t)(block.hi - block.lo), MODULE_LARGE_TLS);
    void *address = order((void *(*)(void))module_symbol(module, "module_tls_address"));
    tap_ok(block_of_worker(large, &block) && block.lo == (uintptr_t)address
           && block.hi == block.lo + MODULE_LARGE_TLS, "once the thread uses the new module, its block is found");
    dlclose(module);
}

/* ---- made-up vectors --------------------------------------------------------------------------------------------- */

struct entry { uintptr_t value, to_free; };

static struct entry vector[8];          /* [0] is the room, [1] the generation, [1 + m] module m */
static uintptr_t control_block[8];

static bool made_up(size_t module, size_t bytes, struct sgc_range *block)
{
    uintptr_t thread_pointer = (uintptr_t)control_block;
    errno = EDOM;
    bool found = sgc_tls_block(thread_pointer, (struct sgc_module_tls){ .module = module, .bytes = bytes }, block);
    return errno == EDOM ? found : (tap_ok(false, "errno changed"), found);
}

static void point_at(uintptr_t address)
{
    *sgc_arch_dtv((uintptr_t)control_block) = address;
}

static void test_entries(char *last_page)
{
    struct sgc_range block;
    size_t page = sgc_os_page_size();
    vector[0].value = 4;
    point_at((uintptr_t)&vector[1]);
    tap_ok(!made_up(1, 16, &block), "an empty entry is no block");
    vector[2].value = UINTPTR_MAX;
    tap_ok(!made_up(1, 16, &block), "nor is one not allocated yet");
    vector[2].value = (uintptr_t)last_page;
    tap_ok(made_up(1, page, &block) && block.lo == (uintptr_t)last_page && block.hi == block.lo + page,
           "a block up to the end of its mapping");
    vector[2].value = (uintptr_t)last_page + page - 32;
    tap_ok(made_up(1, 1 << 20, &block) && block.hi == (uintptr_t)last_page + page,
           "a block longer than its mapping is cut there");
    vector[2].value = (uintptr_t)last_page + page;
    tap_ok(!made_up(1, 16, &block), "one that cannot be read is none");
    vector[2].value = 4;
    tap_ok(!made_up(1, 16, &block), "nor one in the lowest OS page");
    vector[2].value = UINTPTR_MAX - 64;
    tap_ok(!made_up(1, 4096, &block), "nor one that wraps around");
    vector[5].value = vector[6].value = (uintptr_t)last_page;
    tap_ok(made_up(4, 16, &block), "the last module there is room for");
    tap_ok(!made_up(5, 16, &block), "the next one is not looked for");
    tap_ok(!made_up(0, 16, &block), "there is no module 0");
}

static void test_vectors(char *last_page)
{
    struct sgc_range block;
    size_t page = sgc_os_page_size();
    vector[2].value = (uintptr_t)last_page;
    vector[0] = (struct entry){ (uintptr_t)vector, (uintptr_t)last_page };
    tap_ok(made_up(1, 16, &block) && block.lo == (uintptr_t)last_page && block.hi == block.lo + 16,
           "absurd room: the vector was freed a moment ago, and its blocks are still the thread's");
    vector[0].value = 0;
    tap_ok(made_up(1, 16, &block) && block.lo == (uintptr_t)last_page, "no room at all: the same");
    vector[0].value = 4;
    point_at((uintptr_t)last_page + page + 64);
    tap_ok(!made_up(1, 16, &block), "a vector that is not mapped");
    point_at((uintptr_t)&vector[1] + 3);
    tap_ok(!made_up(1, 16, &block), "a vector at an odd address");
    memcpy(last_page + page - 32, vector, 32);
    point_at((uintptr_t)last_page + page - 16);
    tap_ok(!made_up(1, 16, &block), "a vector that is cut off by the end of its mapping");
    point_at(0);
    tap_ok(!made_up(1, 16, &block), "no vector");
    point_at(sizeof(struct entry));
    tap_ok(!made_up(1, 16, &block), "a vector whose head would be at address 0");
}

static void test_made_up(void)
{
    size_t page = sgc_os_page_size();
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
        tap_bail("no memory");
    test_entries(memory);
    test_vectors(memory);
    munmap(memory, 2 * page);
}

/* ---- places that are the same for all threads ------------------------------------------------------------------- */

static struct sgc_module_tls *module_of(const void *address, uintptr_t thread_pointer)
{
    struct sgc_range block;
    for (int i = 0; i < modules.tlses; i++)
        if (sgc_tls_block(thread_pointer, tls[i], &block) && (uintptr_t)address >= block.lo
            && (uintptr_t)address < block.hi)
            return &tls[i];
    tap_bail("no module has that variable");
    return NULL;
}

/* A module with a block of 64 bytes, 256 below the thread pointer. */
static const struct sgc_stack_bounds stack = { .low = 0x10000, .high = 0x20000 };
static const uintptr_t pointer = 0x1f000, found_at = 0x1f000 - 256;

static bool learns(enum sgc_tls_place known, uintptr_t distance, uintptr_t thread_pointer, size_t bytes)
{
    struct sgc_module_tls module = { .module = 1, .bytes = 64, .offset = (uintptr_t)0 - distance, .place = known };
    sgc_tls_learn(&module, thread_pointer, stack, (struct sgc_range){ found_at, found_at + bytes });
    return module.place == SGC_TLS_FIXED;
}

static bool learns_from(uintptr_t thread_pointer, uintptr_t block)
{
    struct sgc_module_tls module = { .module = 1, .bytes = 64, .offset = block - thread_pointer, .place = SGC_TLS_GUESSED };
    sgc_tls_learn(&module, thread_pointer, stack, (struct sgc_range){ block, block + 64 });
    return module.place == SGC_TLS_FIXED;
}

static void test_learning(void)
{
    tap_ok(learns(SGC_TLS_GUESSED, 256, pointer, 64), "a block where the loader says the lister's is: a fixed place");
    tap_ok(!learns(SGC_TLS_ASK, 256, pointer, 64), "not if the loader said nothing: the vector may be old");
    tap_ok(!learns(SGC_TLS_GUESSED, 512, pointer, 64), "nor if it said something else");
    tap_ok(!learns(SGC_TLS_GUESSED, 256, pointer, 32), "nor from a part of a block");
    tap_ok(!learns_from(stack.high + 256, stack.high - 64), "nor from a thread that has its area elsewhere");
    tap_ok(!learns_from(pointer, stack.low - 4096) && !learns_from(pointer, stack.high - 32),
           "nor from a block outside the thread's stack");
    tap_ok(learns_from(pointer, stack.low) && learns_from(pointer, stack.high - 64), "up to its ends");
}

static void *bounds_of_worker(void)
{
    static struct sgc_stack_bounds bounds;
    return sgc_stack_bounds_self(&bounds) ? &bounds : NULL;
}

/* Made up, the other thread has no vector: its block is found all the same. */
static void test_fixed(void)
{
    struct sgc_stack_bounds bounds = *(struct sgc_stack_bounds *)order(bounds_of_worker);
    struct sgc_range before, after;
    uintptr_t fake = (uintptr_t)control_block;
    modules.adds = 0;
    (void)module_with(0);
    struct sgc_module_tls *libc = module_of(&errno, sgc_tls_thread_pointer());
    tap_ok(libc->place == SGC_TLS_GUESSED, "of libc's variables the loader says where this thread's are");
    if (!sgc_tls_block(worker.thread_pointer, *libc, &before))
        tap_bail("the other thread has no block of libc's");
    sgc_tls_learn(libc, worker.thread_pointer, bounds, before);
    tap_ok(libc->place == SGC_TLS_FIXED, "and the other thread shows that all have them there");
    tap_ok(sgc_tls_block(worker.thread_pointer, *libc, &after) && after.lo == before.lo && after.hi == before.hi,
           "its block is the same as before");
    point_at(0);
    tap_ok(sgc_tls_block(fake, *libc, &after) && after.lo == fake + libc->offset && after.hi == after.lo + libc->bytes,
           "no vector is read for it any more");
}

/* Both threads use the module, and the loader says where this one's block is: only that is not enough. */
static void test_not_fixed(void)
{
    struct sgc_stack_bounds bounds = *(struct sgc_stack_bounds *)order(bounds_of_worker);
    struct sgc_range block = { 0, 0 };
    void *module = module_load("module_small");
    void *(*use)(void) = (void *(*)(void))module_symbol(module, "module_tls_address");
    use();
    order(use);
    struct sgc_module_tls small = module_with(MODULE_SMALL_TLS);
    tap_ok(small.place == SGC_TLS_GUESSED && block_of_worker(small, &block), "a module that both threads use");
    sgc_tls_learn(&small, worker.thread_pointer, bounds, block);
    tap_ok(small.place == SGC_TLS_GUESSED, "has no fixed place");
    dlclose(module);
}

int main(void)
{
    pthread_t thread;
    errno = 0;
    tap_ok(sgc_tls_layout_verified(), "the layout of thread vectors is as we read it");
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        tap_bail("no thread");
    tap_each(test_static, test_dynamic, test_stale, test_learning, test_fixed, test_not_fixed);
    order(NULL);
    pthread_join(thread, NULL);
    test_made_up();
    return tap_done();
}

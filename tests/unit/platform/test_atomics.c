/* SPDX-License-Identifier: MIT */
/*
 * platform/atomics.h, whichever implementation is built: what each operation returns and leaves
 * behind, that no update is lost, and the orders that code above relies on.
 */

#include "platform/platform.h"
#include "tests/lib/proc.h"
#include "tests/lib/threads.h"

/* ---- one thread ------------------------------------------------------------------------------------ */

/* For each type the same checks; `top` is its greatest value. */
#define DEFINE_SINGLE_TEST(T, V) \
    static void test_single_##T(V top) \
    { \
        struct { unsigned char before; sgc_##T##_t x; unsigned char after; } cell = { 0x55, SGC_ATOMIC_INIT(7), 0xaa }; \
        sgc_##T##_t *p = &cell.x; \
        tap_ok(sgc_##T##_load(p) == 7 && sgc_##T##_load_acq(p) == 7 && sgc_##T##_load_sc(p) == 7, #T ": loads"); \
        sgc_##T##_store(p, top); \
        tap_ok(sgc_##T##_load(p) == top, #T ": store"); \
        sgc_##T##_store_rel(p, 1); \
        tap_ok(sgc_##T##_load(p) == 1, #T ": store_rel"); \
        sgc_##T##_store_sc(p, 0); \
        tap_ok(sgc_##T##_load(p) == 0, #T ": store_sc"); \
        tap_ok(sgc_##T##_swap(p, top) == 0 && sgc_##T##_load(p) == top, #T ": swap"); \
        tap_ok(sgc_##T##_add(p, 2) == top && sgc_##T##_load(p) == 1, #T ": add wraps around"); \
        tap_ok(sgc_##T##_add(p, (V)-1) == 1 && sgc_##T##_load(p) == 0, #T ": add of -1"); \
        tap_ok(sgc_##T##_or(p, 0x50) == 0 && sgc_##T##_or(p, 0x05) == 0x50 && sgc_##T##_load(p) == 0x55, #T ": or"); \
        tap_ok(sgc_##T##_and(p, 0x0f) == 0x55 && sgc_##T##_load(p) == 0x05, #T ": and"); \
        tap_ok(!sgc_##T##_cas(p, 4, 9) && sgc_##T##_load(p) == 5, #T ": cas of another value"); \
        tap_ok(sgc_##T##_cas(p, 5, top) && sgc_##T##_load(p) == top, #T ": cas"); \
        tap_ok(cell.before == 0x55 && cell.after == 0xaa, #T ": neighbours are left alone"); \
    }

DEFINE_SINGLE_TEST(aw, uintptr_t)
DEFINE_SINGLE_TEST(a32, uint32_t)
DEFINE_SINGLE_TEST(a8, uint8_t)

static void test_special_forms(void)
{
    sgc_aw_t word = SGC_ATOMIC_INIT(0xf0);
    tap_ok(sgc_aw_or_relaxed(&word, 0x0f) == 0xf0 && sgc_aw_load(&word) == 0xff, "or_relaxed");
    tap_ok(sgc_aw_and_relaxed(&word, 0x3c) == 0xff && sgc_aw_load(&word) == 0x3c, "and_relaxed");
    tap_ok(sgc_aw_add_relaxed(&word, 4) == 0x3c && sgc_aw_load(&word) == 0x40, "add_relaxed");
    tap_ok(!sgc_aw_cas_sc(&word, 4, 5) && sgc_aw_load(&word) == 0x40, "cas_sc of another value");
    tap_ok(sgc_aw_cas_sc(&word, 0x40, 5) && sgc_aw_load(&word) == 5, "cas_sc");
    tap_ok(sgc_aw_or_sc(&word, 6) == 5 && sgc_aw_load(&word) == 7, "or_sc");
    sgc_a8_t byte = SGC_ATOMIC_INIT(3);
    tap_ok(sgc_a8_swap_sc(&byte, 4) == 3 && sgc_a8_load(&byte) == 4, "swap_sc");
}

/* ---- several threads: nothing is lost ------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 20000 };

static sgc_aw_t word_sum, word_bits, swapped;
static sgc_a32_t short_sum, lock;
static sgc_a8_t byte_sum, byte_bits;
static unsigned long guarded;           /* under `lock` */
static sgc_aw_t swapped_out;            /* what `swapped` gave back */

static void take(sgc_a32_t *l)
{
    while (!sgc_a32_cas(l, 0, 1))
        sgc_yield();
}

static void *update_all(void *raw)
{
    uintptr_t me = (uintptr_t)raw;
    for (int i = 0; i < ROUNDS; i++) {
        sgc_aw_add_relaxed(&word_sum, 3);
        sgc_a32_add(&short_sum, 1);
        sgc_a8_add(&byte_sum, 1);
        sgc_aw_or_relaxed(&word_bits, (uintptr_t)1 << (me * 8));
        sgc_aw_and_relaxed(&word_bits, ~((uintptr_t)1 << (me * 8)));
        sgc_a8_or(&byte_bits, (uint8_t)(1u << me));
        sgc_a8_and(&byte_bits, (uint8_t)~(1u << me));
        sgc_aw_add(&swapped_out, sgc_aw_swap(&swapped, me + 1));
        take(&lock);
        guarded++;
        sgc_a32_store_rel(&lock, 0);
    }
    sgc_aw_or(&word_bits, (uintptr_t)2 << (me * 8));
    sgc_a8_or(&byte_bits, (uint8_t)(1u << me));
    return NULL;
}

static void test_updates(void)
{
    pthread_t thread[THREADS];
    uintptr_t in = 0, bits = 0;
    threads_start(thread, THREADS, update_all);
    for (uintptr_t i = 0; i < THREADS; i++) {
        in += (i + 1) * ROUNDS;
        bits |= (uintptr_t)2 << (i * 8);
    }
    threads_join(thread, THREADS);
    unsigned total = THREADS * ROUNDS;
    tap_ok(sgc_aw_load(&word_sum) == 3 * (uintptr_t)total, "no addition to a word is lost");
    tap_ok(sgc_a32_load(&short_sum) == total, "nor to 32 bits");
    tap_ok(sgc_a8_load(&byte_sum) == (uint8_t)total, "nor to a byte");
    tap_ok(sgc_aw_load(&word_bits) == bits, "or and and touch no other bit of a word");
    tap_ok(sgc_a8_load(&byte_bits) == (1u << THREADS) - 1, "nor of a byte");
    tap_ok(sgc_aw_load(&swapped_out) + sgc_aw_load(&swapped) == in, "swap returns each value once");
    tap_ok(guarded == total, "cas and store_rel make a lock");
}

/* ---- several threads: order ------------------------------------------------------------------------------ */

static unsigned long message;
static sgc_a32_t flag;
static unsigned long wrong_messages;

static void *receive(TEST_UNUSED void *unused)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (sgc_a32_load_acq(&flag) != 2 * i - 1)
            sgc_yield();
        wrong_messages += message != i;
        sgc_a32_store_rel(&flag, 2 * i);
    }
    return NULL;
}

static void test_message_passing(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, receive, NULL);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        message = i;
        sgc_a32_store_rel(&flag, 2 * i - 1);
        while (sgc_a32_load_acq(&flag) != 2 * i)
            sgc_yield();
    }
    pthread_join(thread, NULL);
    tap_ok(wrong_messages == 0, "what was written before a release is seen after the acquire");
}

/*
 * Two threads each set their own word and look at the other's: at least one must see the other.
 * qemu-user on x86 lets an aarch64 load-acquire overtake a store-release, which no processor does, so
 * nothing is said there of plain stores.
 */
enum { WITH_STORE, WITH_CAS, WITH_OR, WAYS };
static sgc_aw_t mine[2], arrived;
static uintptr_t saw[2][ROUNDS];

static void meet(uintptr_t target)
{
    sgc_aw_add(&arrived, 1);
    for (int spins = 0; sgc_aw_load_acq(&arrived) < target; spins++)
        if (spins > 1000)
            sgc_yield();
}

static void *store_then_load(void *raw)
{
    uintptr_t me = (uintptr_t)raw;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        meet(2 * (2 * i + 1));
        if (i % WAYS == WITH_STORE)
            sgc_aw_store_sc(&mine[me], i + 1);
        else if (i % WAYS == WITH_CAS)
            sgc_aw_cas_sc(&mine[me], i, i + 1);
        else {
            sgc_aw_store(&mine[me], 0);
            sgc_aw_or_sc(&mine[me], i + 1);
        }
        saw[me][i] = sgc_aw_load_sc(&mine[1 - me]);
        meet(2 * (2 * i + 2));
    }
    return NULL;
}

static void test_store_buffering(void)
{
    pthread_t thread;
    unsigned both_missed[WAYS] = { 0 };
    pthread_create(&thread, NULL, store_then_load, (void *)1);
    store_then_load((void *)0);
    pthread_join(thread, NULL);
    for (uintptr_t i = 0; i < ROUNDS; i++)
        both_missed[i % WAYS] += saw[0][i] != i + 1 && saw[1][i] != i + 1;
    tap_ok(both_missed[WITH_CAS] == 0, "cas_sc: two threads never both miss the other (%u)", both_missed[WITH_CAS]);
    tap_ok(both_missed[WITH_OR] == 0, "nor with or_sc (%u)", both_missed[WITH_OR]);
    if (proc_emulated())
        tap_skip("qemu-user does not keep the order of store_sc and load_sc");
    else
        tap_ok(both_missed[WITH_STORE] == 0, "nor with store_sc (%u)", both_missed[WITH_STORE]);
}

int main(void)
{
    tap_diag("implementation: %s", SGC_ATOMICS_NAME);
    test_single_aw(UINTPTR_MAX);
    test_single_a32(UINT32_MAX);
    test_single_a8(UINT8_MAX);
    return tap_all(test_special_forms, test_updates, test_message_passing, test_store_buffering);
}

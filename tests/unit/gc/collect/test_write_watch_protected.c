/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/write_watch.c with SGC_DIRTY=mprotect: forks, stacks in the heap, the number of mappings, handlers of SIGSEGV.
 */
#include "gc/collect/write_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>

#include "tests/lib/failing_calls.h"
#include "tests/lib/hostile.h"
#include "tests/lib/moving.h"
#include "tests/lib/random.h"

static sgc_a32_t warnings;

static void note_warning(TEST_UNUSED char *text, TEST_UNUSED GC_word number)
{
    sgc_a32_add(&warnings, 1);
}

/* The next cycle that protects something tells it, which may be long in coming on a machine that is busy.  A check of marks
 * would need memory of its own. */
static int mappings(void)
{
    uint64_t until = world_patience();
    int status;

    setenv("SGC_VERIFY", "nothing", 1);
    GC_set_warn_proc(note_warning);
    status = disturbed(true, use_up_mappings, EITHER);
    while (sgc_a32_load(&warnings) == 0 && sgc_clock_ns() < until)
        change_often(500);
    return status != 0 ? status : !right() ? 6 : sgc_a32_load(&warnings) == 0 ? 7 : 0;
}

static struct sigaction below_ours;

static void chain(int signal, siginfo_t *info, void *context)
{
    below_ours.sa_sigaction(signal, info, context);
}

static bool install_handler(void)
{
    struct sigaction action = { .sa_sigaction = chain, .sa_flags = SA_SIGINFO };

    return sigaction(SIGSEGV, &action, &below_ours) == 0;
}

/* A coroutine on a stack that is an object, as its only user and with signals on it, in each phase. */
static ucontext_t first, second;
static void *coroutine_stack;
static struct GC_stack_base first_bottom;
static volatile int signals;
static volatile bool coroutine_ends;

static void on_signal(int signal)
{
    signals += signal == SIGUSR1;
}

static void switch_to(ucontext_t *from, ucontext_t *to, void *bottom)
{
    struct GC_stack_base base = { bottom };

    GC_alloc_lock();
    GC_set_stackbottom(NULL, &base);
    swapcontext(from, to);
    GC_alloc_unlock();
}

static void coroutine(void)
{
    GC_alloc_unlock();
    while (!coroutine_ends) {
        change_often(200);
        raise(SIGUSR1);
        switch_to(&second, &first, first_bottom.mem_base);
    }
    switch_to(&second, &first, first_bottom.mem_base);
}

static int stack_in_heap(void)
{
    enum { BYTES = 256 << 10 };
    uint64_t until = world_patience();

    begin();
    GC_get_my_stackbottom(&first_bottom);
    signal(SIGUSR1, on_signal);
    coroutine_stack = GC_malloc(BYTES);
    getcontext(&second);
    second.uc_stack = (stack_t){ .ss_sp = coroutine_stack, .ss_size = BYTES };
    makecontext(&second, coroutine, 0);
    while (world_waits_for(2 * CYCLES, until) || (signals <= CYCLES && sgc_clock_ns() < until))
        switch_to(&first, &second, (char *)coroutine_stack + BYTES);
    coroutine_ends = true;
    switch_to(&first, &second, (char *)coroutine_stack + BYTES);
    return signals > CYCLES ? end(BESIDE) : 5;
}

/* A buffer without pointers that is new; a large one where an object with pointers was. */
static char *new_buffer(size_t bytes)
{
    char *buffer;

    GC_free(GC_malloc(bytes));
    buffer = GC_malloc_atomic(bytes);
    return buffer != NULL ? memset(buffer, 1, bytes) : NULL;
}

/* The kernel may write into objects without pointers at any time once the program has. */
static int reads_into_atomic(void)
{
    enum { BUFFERS = 40 };
    static char *buffer[BUFFERS];
    uint64_t until = world_patience();
    int zero = open("/dev/zero", O_RDONLY);

    begin();
    for (int i = 0; i < BUFFERS; i++)
        buffer[i] = new_buffer(i % 2 != 0 ? 1000 : 100000);
    while (world_waits_for(2 * CYCLES, until)) {
        char *new = new_buffer(3000);

        change_often(100);
        for (int i = 0; i < BUFFERS; i++)
            if (read(zero, buffer[i] + GC_size(buffer[i]) - 1000, 1000) != 1000)
                return 5;
        if (read(zero, new, 3000) != 3000)
            return 6;
        buffer[random_below(&world.random, BUFFERS / 2) * 2 + 1] = new;     /* the large ones stay */
    }
    return end(BESIDE);
}

/* Others stop the lead wherever it is: not where it holds what they need to go on. */
static sgc_a32_t ending;

static void *collect_on(void *arg)
{
    while (sgc_a32_load_acq(&ending) == 0) {
        sgc_sleep_ns(200000);
        GC_gcollect();
    }
    return arg;
}

/* Large objects with pointers and without, in turns: much to be protected, by many calls. */
static bool make_much_to_protect(void)
{
    enum { OBJECTS = 400 };
    static void *object[OBJECTS];

    for (int i = 0; i < OBJECTS; i++)
        object[i] = i % 2 != 0 ? GC_malloc(60000) : GC_malloc_atomic(60000);
    return object[OBJECTS - 1] != NULL;
}

static int stops_the_lead(void)
{
    uint64_t until = sgc_clock_ns() + 2000000000;
    pthread_t thread[2];

    begin();
    if (!make_much_to_protect())
        return 4;
    for (int i = 0; i < 2; i++)
        if (GC_pthread_create(&thread[i], NULL, collect_on, NULL) != 0)
            return 5;
    while (sgc_clock_ns() < until) {
        change_often(100);
        GC_start_incremental_collection();
    }
    sgc_a32_store_rel(&ending, 1);
    for (int i = 0; i < 2; i++)
        GC_pthread_join(thread[i], NULL);
    return end(BESIDE);
}

static int fails_now_and_then(void)
{
    failing = 50;
    failing_error = ENOMEM;
    over_and_over = counting = true;
    GC_set_warn_proc(GC_ignore_warn_proc);
    return whole_run(EITHER);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own handler of SIGSEGV");
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks", "SGC_DIRTY=mprotect");
    says_of(whole_run(BESIDE), NULL, "nothing goes wrong");
    says(stops_the_lead, NULL, "threads that collect all the time");
    child_ok(fails_now_and_then, "one call in fifty fails");
    says(reads_into_atomic, NULL, "system calls that write into objects without pointers");
    says(forks, NULL, "%d forks, most of them in the middle of cycles", FORKS);
    says(stack_in_heap, NULL, "a coroutine's stack in the heap, and signals");
    says(mappings, NULL, "a program that has as many mappings as there may be is told");
    says_of(disturbed(true, install_handler, STOPPED), "SGC_DIRTY=mprotect does not work any more: another handler of SIGSEGV",
            "a handler of SIGSEGV that is installed later");
    says(little_address_space, NULL, "little address space");
    says(locked_memory, NULL, "locked memory");
    return tap_done();
}

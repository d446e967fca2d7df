/* SPDX-License-Identifier: MIT */
/*
 * gc/roots/roots.c, gc/roots/modules.c, gc/roots/stack_roots.c: what keeps an object alive.  Each place holds the only address
 * of one object while a collection runs; and where it is not a root, the object must die.
 */
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "gc/config/public_vars.h"
#include "gc/roots/roots.h"
#include "tests/lib/module.h"
#include "tests/lib/white.h"

static bool survives(uintptr_t hidden)
{
    white_collect();
    return white_lives(hidden);
}

/* ---- static data and ranges ----------------------------------------------------------------------------------- */

static void *in_bss, *in_data = (void *)1;
static void *excluded[64];

static int leave_all_out(TEST_UNUSED const char *module, TEST_UNUSED void *start, TEST_UNUSED size_t bytes)
{
    return 0;
}

static void test_static(void)
{
    uintptr_t a = white_store(&in_bss), b = white_store(&in_data), c;

    tap_ok(survives(a) && survives(b), "static data keep objects");
    in_bss = in_data = NULL;
    white_exact_ok(!survives(a) && !white_lives(b), "which die when they are overwritten");
    a = white_store(&in_bss);
    sgc_a32_store(&sgc_client_no_dls, 1);
    tap_ok(!survives(a), "not when no module's data count");
    sgc_a32_store(&sgc_client_no_dls, 0);
    a = white_store(&in_bss);
    tap_ok(survives(a), "again when they do");
    sgc_roots_set_filter(leave_all_out);
    white_exact_ok(!survives(a), "a filter may leave the program itself out");
    sgc_roots_set_filter(NULL);
    a = white_store(&in_bss);
    tap_ok(survives(a), "until it is taken back");
    in_bss = NULL;
    c = white_store(&excluded[8]);
    tap_ok(survives(c), "static data before it is excluded");
    sgc_roots_exclude((struct sgc_range){ (uintptr_t)excluded, (uintptr_t)(excluded + 64) });
    white_exact_ok(!survives(c), "and after");
    sgc_roots_check();
}

static void test_ranges(void)
{
    void **outside = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t lo = (uintptr_t)outside, a = white_store(outside + 10);

    tap_ok(!survives(a), "memory of the system is no root");
    tap_ok(sgc_roots_add((struct sgc_range){ lo, lo + 4096 }) && sgc_roots_contain(lo) && !sgc_roots_contain(lo + 4096),
           "a range is added");
    a = white_store(outside + 511);
    tap_ok(survives(a), "its last word keeps an object");
    sgc_roots_remove((struct sgc_range){ lo + 8, lo + 8192 });
    tap_ok(survives(a), "it is not removed by a range that covers a part");
    sgc_roots_remove((struct sgc_range){ lo, lo + 4096 });
    tap_ok(!survives(a), "but by one that covers it");
    sgc_roots_add((struct sgc_range){ lo + 3, lo + 4093 });
    a = white_store(outside + 1);
    tap_ok(survives(a), "bounds need no alignment");
    sgc_roots_clear();
    tap_ok(!survives(a), "all are forgotten at once");
}

/* ---- dlopened modules -------------------------------------------------------------------------------------------- */

static void test_module(const char *name)
{
    void *module = module_load(name);
    void **data = module_symbol(module, "module_bss");
    void *(*tls_address)(void) = (void *(*)(void))(uintptr_t)module_symbol(module, "module_tls_address");
    void **tls = (void **)((char *)tls_address() + 4096);
    uintptr_t a = white_store(data), b = white_store(tls);

    tap_ok(survives(a), "%s: static data of a module that was loaded late", name);
    tap_ok(white_lives(b), "%s: its thread-local variables", name);
    *data = *tls = NULL;
    white_exact_ok(!survives(a) && !white_lives(b), "%s: which die when they are overwritten", name);
    a = white_store(data);
    dlclose(module);
    tap_ok(!survives(a), "%s: and when it is unloaded", name);
}

/* ---- a thread that holds one object in one place ------------------------------------------------------------------ */

static sgc_a32_t holding, let_go;
static uintptr_t held;              /* inverted */
static pthread_key_t key;
static _Thread_local void *volatile thread_local_place;

static void hold_until_let_go(void)
{
    sgc_a32_store_rel(&holding, 1);
    while (!sgc_a32_load_acq(&let_go))
        sgc_spin_hint();
}

TEST_NOINLINE static void *fresh(void)
{
    void *object = sgc_allocate(WHITE_BYTES, WHITE_KIND);

    held = white_hidden(object);
    return object;
}

static void hold_thread_local(void)
{
    thread_local_place = fresh();
    scrub_stack();
    hold_until_let_go();
    thread_local_place = NULL;
}

static void hold_specific(void)
{
    pthread_setspecific(key, fresh());
    scrub_stack();
    hold_until_let_go();
}

static void hold_hidden(void)
{
    fresh();
    scrub_stack();
    hold_until_let_go();
}

#if defined(__x86_64__)

/* Spins with the object's address, given inverted, in a register or below the stack pointer only. */
#define SPIN "1: pause\n\tmovl (%[go]), %%ecx\n\ttestl %%ecx, %%ecx\n\tjz 1b\n\t"

static void hold_general(void)
{
    fresh();
    scrub_stack();
    __asm__ volatile("movq %[h], %%r11\n\tnotq %%r11\n\tmovl $1, (%[r])\n\t" SPIN "xorl %%r11d, %%r11d"
                     : : [h] "r"(held), [r] "r"(&holding), [go] "r"(&let_go) : "r11", "rcx", "memory", "cc");
}

static void hold_xmm(void)
{
    fresh();
    scrub_stack();
    __asm__ volatile("movq %[h], %%r11\n\tnotq %%r11\n\tmovq %%r11, %%xmm13\n\txorl %%r11d, %%r11d\n\t"
                     "movl $1, (%[r])\n\t" SPIN "pxor %%xmm13, %%xmm13"
                     : : [h] "r"(held), [r] "r"(&holding), [go] "r"(&let_go) : "r11", "rcx", "xmm13", "memory", "cc");
}

/* In the upper half, which older formats of the signal frame do not have. */
static void hold_ymm(void)
{
    fresh();
    scrub_stack();
    __asm__ volatile("movq %[h], %%r11\n\tnotq %%r11\n\tvmovq %%r11, %%xmm12\n\txorl %%r11d, %%r11d\n\t"
                     "vpxor %%xmm14, %%xmm14, %%xmm14\n\tvinsertf128 $1, %%xmm12, %%ymm14, %%ymm14\n\t"
                     "vpxor %%xmm12, %%xmm12, %%xmm12\n\tmovl $1, (%[r])\n\t" SPIN "vzeroupper"
                     : : [h] "r"(held), [r] "r"(&holding), [go] "r"(&let_go)
                     : "r11", "rcx", "xmm12", "xmm14", "memory", "cc");
}

static void hold_red_zone(void)
{
    fresh();
    scrub_stack();
    __asm__ volatile("movq %[h], %%r11\n\tnotq %%r11\n\tmovq %%r11, -120(%%rsp)\n\txorl %%r11d, %%r11d\n\t"
                     "movl $1, (%[r])\n\t" SPIN "movq $0, -120(%%rsp)"
                     : : [h] "r"(held), [r] "r"(&holding), [go] "r"(&let_go) : "r11", "rcx", "memory", "cc");
}

#endif

/* In a frame of its own, above what it calls. */
TEST_NOINLINE static void hold_stack(void)
{
    void *volatile place = fresh();

    scrub_stack();
    hold_until_let_go();
    place = NULL;
    (void)place;
}

/* ---- alternate stacks ------------------------------------------------------------------------------------------------ */

enum { ALT_BYTES = 65536 };

static void set_altstack(void)
{
    stack_t stack = { .ss_size = ALT_BYTES };

    stack.ss_sp = mmap(NULL, ALT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
}

static void on_usr2(TEST_UNUSED int signal)
{
    hold_until_let_go();
}

static void on_usr2_with_object(TEST_UNUSED int signal)
{
    hold_stack();
}

static void raise_on_altstack(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
}

static void hold_below_handler(void)
{
    void *volatile place = fresh();

    scrub_stack();
    raise_on_altstack(on_usr2);
    place = NULL;
    (void)place;
}

static void hold_on_altstack(void)
{
    raise_on_altstack(on_usr2_with_object);
}

/* ---- a coroutine ----------------------------------------------------------------------------------------------------- */

enum { COROUTINE_BYTES = 1 << 18 };

static ucontext_t caller_context, coroutine_context;
static void (*coroutine_body)(void);

static void run_coroutine(void)
{
    coroutine_body();
}

/* Runs on a stack of its own; the collector is told of its bottom, or not. */
static void on_coroutine(void (*body)(void), bool told)
{
    struct sgc_mutator *self = sgc_mutator_self();
    char *stack = mmap(NULL, COROUTINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t bottom = self->bottom;

    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = COROUTINE_BYTES;
    coroutine_context.uc_link = &caller_context;
    coroutine_body = body;
    makecontext(&coroutine_context, run_coroutine, 0);
    if (told)
        self->bottom = (uintptr_t)stack + COROUTINE_BYTES;
    swapcontext(&caller_context, &coroutine_context);
    self->bottom = bottom;
    munmap(stack, COROUTINE_BYTES);
}

static void hold_own_below_coroutine(void)
{
    void *volatile place = fresh();

    scrub_stack();
    on_coroutine(hold_until_let_go, true);
    place = NULL;
    (void)place;
}

/* ---- each place ------------------------------------------------------------------------------------------------------ */

/* On which stack it is held, with or without an alternate stack set up. */
struct place {
    const char *name;
    void (*hold)(void);
    bool keeps, altstack;
    enum { OWN, TOLD, UNTOLD } coroutine;
};

static const struct place places[] = {
    { "nothing", hold_hidden, false, false, OWN },
    { "a local variable", hold_stack, true, false, OWN },
    { "a thread-local variable", hold_thread_local, true, false, OWN },
    { "a thread-specific value", hold_specific, true, false, OWN },
    { "its own stack, with an alternate stack set up", hold_stack, true, true, OWN },
    { "its own stack, below a handler on the alternate stack", hold_below_handler, true, true, OWN },
    { "the alternate stack", hold_on_altstack, true, true, OWN },
    { "a coroutine's stack whose bottom was told", hold_stack, true, false, TOLD },
    { "a coroutine's stack nobody told of", hold_stack, true, false, UNTOLD },
    { "its own stack, while it stands on a coroutine's", hold_own_below_coroutine, true, false, OWN },
    { "a coroutine's stack, with an alternate stack set up", hold_stack, true, true, TOLD },
    { "an untold coroutine's stack, with an alternate stack", hold_stack, true, true, UNTOLD },
    { "a coroutine's stack, below a handler on the alternate stack", hold_below_handler, true, true, TOLD },
#if defined(__x86_64__)
    { "a general register", hold_general, true, false, OWN },
    { "a vector register", hold_xmm, true, false, OWN },
    { "the red zone", hold_red_zone, true, false, OWN },
    { "the red zone, with an alternate stack set up", hold_red_zone, true, true, OWN },
    { "the upper half of a vector register", hold_ymm, true, false, OWN },
#endif
};

static void hold(void *place)
{
    const struct place *p = place;

    if (p->altstack)
        set_altstack();
    if (p->coroutine == OWN)
        p->hold();
    else
        on_coroutine(p->hold, p->coroutine == TOLD);
    scrub_stack();
}

#if defined(__x86_64__)
static bool has_avx(void)
{
    return __builtin_cpu_supports("avx");
}
#else
static bool has_avx(void)
{
    return false;
}
#endif

static void check_place(const struct place *place)
{
    pthread_t thread;
    bool alive;

    if (strstr(place->name, "upper half") && !has_avx()) {
        tap_skip("no such registers here");
        return;
    }
    sgc_a32_store(&holding, 0);
    sgc_a32_store(&let_go, 0);
    thread = white_start(hold, (void *)(uintptr_t)place);
    white_reached(&holding, 1);
    white_collect();
    alive = survives(held);
    sgc_a32_store_rel(&let_go, 1);
    white_join(thread);
    tap_ok(alive == place->keeps, "an object held in %s %s", place->name, place->keeps ? "lives" : "dies");
}

int main(void)
{
    white_init();
    pthread_key_create(&key, NULL);
    test_static();
    test_ranges();
    test_module("module_small");
    test_module("module_large");
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer keeps values where the test does not want them");
        return tap_done();
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        check_place(&places[i]);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Stopping the world: the threads that are stopped, blocked or suspended; each function runs on the
 * thread it is about.  The stopper is in gc/threads/stopper.c, the protocol in doc/design/world.md.
 *
 *   what       written by                            read by           ordering
 *   gen        the stopper (odd: a stop is in force) parked threads    release / acquire; futex
 *   missing    stopper and each stopping thread      stopper           acquire-release RMW; futex
 *   stranger   a thread without record, in its       stopper           release / acquire.  It has read `gen`, odd, while
 *              handler                                                 it had none, and what is registered does not change
 *                                                                      in a stop: a record of that number is another thread's
 *   passed     who is let pass, in its handler, after   stopper           release / acquire RMW.  Should it miss one, it
 *              PASSED in `state`; stopper                                 finds the bit when it asks again all the same
 *   state      see platform/section/section.h
 *   sp, ...    the stopping thread, before ACKED     stopper           ACKED's release / acquire of missing
 *   the others the stopper                           stopper           the GC lock
 */
#include "gc/threads/world.h"

#include <errno.h>
#include <signal.h>

#include "alloc/small/remote_free.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/events/trace_buffer.h"
#include "gc/threads/world_internal.h"
#include "platform/section/brief.h"

SGC_STATE struct sgc_world sgc_world;

bool sgc_world_stopped(void)
{
    return sgc_a32_load(&sgc_world.gen) & 1;
}

/* ---- the thread that stops ---- */

/* Counts this thread as stopped, once per stop, no matter which code asks.  False if no stop wants
 * it (any more).  (A late signal of an earlier stop may find a blocked thread: that is stopped
 * already and not counted.)  *gen becomes the number of the stop: read before we count, it cannot
 * be a later one's, since a stop does not end, nor is it given up, before everyone who acknowledged
 * has counted. */
static bool acknowledge(struct sgc_section *s, uint32_t also, uint32_t *gen)
{
    sgc_assert(sgc_section_mine(s));
    for (;;) {
        uint32_t state = sgc_a32_load_acq(&s->state);

        if (!(state & SGC_STATE_STOPREQ) || (state & (SGC_STATE_ACKED | SGC_STATE_BLOCKED)))
            return false;
        if (sgc_a32_cas(&s->state, state, state | SGC_STATE_ACKED | also))
            break;
    }
    *gen = sgc_a32_load_acq(&sgc_world.gen);
    sgc_assert(*gen & 1);
    sgc_assert(sgc_a32_load(&sgc_world.missing) != 0);
    if (sgc_a32_add(&sgc_world.missing, (uint32_t)-1) == 1)
        sgc_wake(&sgc_world.missing, 1);
    return true;
}

/* Waits until that stop is over.  The next one may have begun when we wake: it asks us again.
 * `extra`: 1 for a thread that the stopper has not counted among the busy ones; `began`: when it
 * began to stand still, for a timeline. */
static void sleep_through(uint32_t gen, uint32_t extra, uint64_t began)
{
    sgc_assert(gen & 1);
    if (!sgc_spin_wait(&sgc_world.gen, gen, extra))
        while (sgc_a32_load_acq(&sgc_world.gen) == gen)
            sgc_wait(&sgc_world.gen, gen, -1);
    sgc_trace_end(SGC_TRACE_STOPPED, began, 0);
}

static void forget_altstack_unless_on(struct sgc_mutator *m, uintptr_t sp)
{
    sgc_assert(m == sgc_mutator_self());
    if (!sgc_stack_within(&m->altstack, sp))
        m->altstack = (struct sgc_stack_bounds){ 0 };
}

/* A client's handler that calls us may run on the alternate stack. */
void sgc_world_publish_sp(struct sgc_mutator *m, uintptr_t sp)
{
    sgc_assert(m == sgc_mutator_self() && sp != 0);
    m->sp = sp;
    m->fake_stack = sgc_fake_stack_self();
    m->interrupted = 0;
    m->altstack = (struct sgc_stack_bounds){ 0 };
    if (sgc_altstack_self(&m->altstack))
        forget_altstack_unless_on(m, sp);
}

/* The signal's context says which stack is set up, without a question to the system. */
static void stand_in_handler(struct sgc_mutator *m, uintptr_t sp, const void *context)
{
    sgc_assert(m == sgc_mutator_self() && sp != 0);
    m->sp = sp;
    m->fake_stack = sgc_fake_stack_self();
    m->interrupted = 0;
    m->altstack = (struct sgc_stack_bounds){ 0 };
    if (sgc_context_altstack(context, &m->altstack))
        m->interrupted = sgc_context_sp(context);
    else
        forget_altstack_unless_on(m, sp);
}

static void stay(struct sgc_mutator *m);

/* A handler may come between the publishing and the counting of the code it interrupts, so it puts
 * back what that has published. */
static void park_at(struct sgc_mutator *m, uintptr_t sp, const void *context)
{
    struct sgc_stack_bounds alternate = m->altstack;
    uintptr_t stood = m->sp, interrupted = m->interrupted;
    uint64_t began = sgc_trace_begin();         /* it may lose its processor as soon as it is counted */
    uint32_t gen;

    sgc_assert(sgc_mutator_mine(m));
    if (context == NULL)
        sgc_world_publish_sp(m, sp);
    else
        stand_in_handler(m, sp, context);
    sgc_test_point();
    if (acknowledge(sgc_section_of(m), 0, &gen))
        sleep_through(gen, 0, began);
    if (sgc_section_of(m)->guards == 0)
        stay(m);
    m->altstack = alternate;
    m->sp = stood;
    m->interrupted = interrupted;
}

static void park_with_registers(void *arg, uintptr_t sp)
{
    park_at(arg, sp, NULL);
}

/* Leaving a section with a stop requested.  Signals may be blocked (a lock was held), so a next
 * stop that began before we woke is looked for here.  A thread in a blocked region has been counted
 * already, and goes on. */
static void park_leaving_section(struct sgc_section *s)
{
    int saved = errno;

    sgc_assert(sgc_section_mine(s) && s->held == 0);
    while ((sgc_a32_load_acq(&s->state) & (SGC_STATE_STOPREQ | SGC_STATE_BLOCKED)) == SGC_STATE_STOPREQ)
        sgc_with_registers(park_with_registers, sgc_mutator_of(s));
    errno = saved;
}

struct interrupted {
    struct sgc_mutator *m;
    const void *context;
};

static void park_in_handler(void *arg, uintptr_t sp)
{
    const struct interrupted *p = arg;

    park_at(p->m, sp, p->context);
}

/* The signal was for a thread that had this number before. */
static void report_stranger(void)
{
    uint32_t gen = sgc_a32_load_acq(&sgc_world.gen);

    sgc_assert(sgc_self == NULL);
    if (gen & 1)
        sgc_aw_store_rel(&sgc_world.stranger, sgc_world_stranger(gen, sgc_thread_id()));
}

/* ---- has the signal met the thread in a section, or in one that was left by a jump? ---- */

/* Is the frame at `recorded` surely none of ours any more?  `handlers`: the alternate stack that
 * the suspend handler stands on, or NULL.  Its frames may have any address, and are not what is
 * asked for. */
static bool is_gone(uintptr_t recorded, const struct sgc_stack_bounds *handlers)
{
    bool elsewhere = handlers != NULL && !sgc_stack_within(handlers, recorded);

    sgc_assert(recorded != 0);
    return sgc_stack_frame_gone(recorded, elsewhere ? handlers : NULL);
}

/* The alternate stack on which a section may have been left: one that the handler stands on, or
 * that lies apart.  The frame in which another was set up may be gone. */
static bool alternate_of(const struct sgc_mutator *m, const void *context, struct sgc_stack_bounds *alternate)
{
    return sgc_context_altstack_set(context, alternate) &&
           (sgc_stack_within(alternate, (uintptr_t)context) || !sgc_stack_overlap(alternate, &m->stack));
}

/* Has the interrupted section been left?  With locks held it cannot have been: all signals were
 * blocked.  Between coroutines' stacks nothing is known, and the thread is left to find out itself,
 * at its next section.  A thread may have left it and gone deeper than it was: when it is asked
 * again, whose frame the recorded place is in tells. */
static bool abandoned(const struct sgc_mutator *m, uintptr_t recorded, const void *context)
{
    uintptr_t now = sgc_interrupted_sp(context);
    struct sgc_stack_bounds alternate;
    bool has_one = alternate_of(m, context, &alternate), there = has_one && sgc_stack_within(&alternate, (uintptr_t)context);

    sgc_assert(recorded != 0 && m == sgc_mutator_self());
    if (m->cache.section.guards != 0)
        return false;
    if ((sgc_a32_load(&m->cache.section.state) & SGC_STATE_AGAIN) && sgc_mutator_at_home(m, recorded) &&
        sgc_mutator_at_home(m, now) && now <= recorded)
        return is_gone(recorded, there ? &alternate : NULL);
    return sgc_mutator_frame_left(m, recorded, now, has_one ? &alternate : NULL);
}

static void repair(struct sgc_section *s)
{
    struct sgc_cache *cache = (struct sgc_cache *)(void *)s;

    sgc_assert(cache->id != 0);
    sgc_cache_repair(cache);
}

/* Wipes away what a brief section that was left has recorded: but if its end may still follow, that
 * needs it, to see that nobody used a section in it. */
static void forget_brief(struct sgc_section *s, uintptr_t brief, const void *context)
{
    sgc_assert(sgc_section_mine(s));
    if (!sgc_brief_near(brief, sgc_interrupted_sp(context)))
        sgc_aw_store(&s->brief, 0);
}

/* Is the thread in a brief section, or may the end of one that it has left still follow?  Then it
 * is asked to look at that end.  If it is asked a second time, the end of a left one does not
 * come. */
static bool inside_brief(struct sgc_mutator *m, uintptr_t brief, const void *context)
{
    struct sgc_section *s = sgc_section_of(m);
    bool left = abandoned(m, brief, context);
    bool near = sgc_brief_near(brief, sgc_interrupted_sp(context));

    sgc_assert(brief != 0 && (brief & SGC_BRIEF_ASKED) == 0);
    if (left && (!near || (sgc_a32_load(&s->state) & SGC_STATE_AGAIN))) {
        forget_brief(s, brief, context);
        return false;
    }
    sgc_aw_store(&s->brief, brief | SGC_BRIEF_ASKED);
    return true;
}

/* Has the signal interrupted a section, at whose end the thread will see the request?  A section
 * that was left is repaired; brief ones need no repair.  The brief one comes first: the thread
 * enters those without looking whether a full one, which was left, is still recorded.  In the
 * middle of a brief section the full one must not be repaired: that is left to the brief one's end
 * (sgc_section_stop_requested); so is the rest of `brief`, by which that end sees that a handler
 * has used a section in it. */
static bool interrupts_section(struct sgc_mutator *m, const void *context)
{
    struct sgc_section *s = sgc_section_of(m);
    uintptr_t brief = sgc_brief_recorded(s);

    sgc_assert(sgc_mutator_mine(m));
    if (brief != 0 && brief != s->sp && inside_brief(m, brief, context))
        return true;
    if (s->sp == 0)
        return false;
    if (!abandoned(m, s->sp, context))
        return true;
    repair(s);
    s->sp = 0;
    if (brief != 0)
        forget_brief(s, brief, context);
    return false;
}

/* ---- its handler ---- */

static const uint64_t RUN_NS = 20000;           /* of processor time */

/* Has the thread run a little since it was let pass first?  On a busy machine it may have been
 * asked again before. */
static bool has_run(struct sgc_section *s)
{
    uint64_t now = sgc_clock_thread_cpu_ns();

    if (s->passed_ns == 0)
        s->passed_ns = now;
    return now - s->passed_ns >= RUN_NS;
}

/* A thread that leaves the GC lock is to return to the program, and run a little there: the stopper
 * asks it again.  It does not get the GC lock meanwhile.  A late signal may come before that. */
static bool let_pass(struct sgc_section *s)
{
    sgc_assert(sgc_section_mine(s));
    s->leaves = s->leaves && !has_run(s);
    if (!s->leaves)
        return (sgc_a32_load_acq(&s->state) & SGC_STATE_PASSED) != 0;
    sgc_a32_or(&s->state, SGC_STATE_PASSED);
    sgc_a32_store_rel(&sgc_world.passed, 1);
    sgc_wake(&sgc_world.missing, 1);
    return true;
}

/*
 * The interrupted registers lie on the stack where the kernel put them; where handlers run late
 * (TSan) they may still be in registers, hence sgc_with_registers.
 *
 * A blocked thread counts as stopped without a signal: one that comes now is left over from an
 * earlier stop, which the thread answered before the signal reached it.
 */
static void on_suspend(int signal, siginfo_t *info, void *context)
{
    struct sgc_mutator *m = sgc_mutator_self();
    struct interrupted p = { m, context };
    int saved = errno;
    uint32_t state;

    (void)signal, (void)info;
    sgc_assert(signal == sgc_options.suspend_signal);
    if (m == NULL) {
        report_stranger();
        return;
    }
    state = sgc_a32_load_acq(&m->cache.section.state);
    if (!(state & SGC_STATE_STOPREQ) || (state & (SGC_STATE_BLOCKED | SGC_STATE_ACKED)))
        return;
    if (interrupts_section(m, context))
        return;
    if (!let_pass(sgc_section_of(m)))
        sgc_with_registers(park_in_handler, &p);
    errno = saved;
}

/* ---- blocked regions ---- */

/* A stop that began before we were seen as blocked counts on us: then we count ourselves.  `bits`:
 * BLOCKED, maybe ASLEEP. */
static void block(struct sgc_section *s, uint32_t bits)
{
    uint32_t gen;

    sgc_assert(sgc_section_mine(s));
    for (;;) {
        uint32_t state = sgc_a32_load_acq(&s->state);

        sgc_assert(!(state & SGC_STATE_BLOCKED));
        if (state & SGC_STATE_STOPREQ) {
            if (acknowledge(s, bits, &gen))
                return;
        } else if (sgc_a32_cas(&s->state, state, state | bits)) {
            return;
        }
    }
}

/* STOPREQ is taken back before gen changes, so a sleep on an odd gen ends.  The thread that takes
 * SUSPENDED back wakes the one that sleeps on the state; `stays`: that bit is to be heeded. */
static void unblock(struct sgc_section *s, bool stays)
{
    sgc_assert(sgc_section_mine(s));
    sgc_assert(sgc_a32_load(&s->state) & SGC_STATE_BLOCKED);
    for (;;) {
        uint32_t gen = sgc_a32_load_acq(&sgc_world.gen);
        uint32_t state = sgc_a32_load_acq(&s->state);

        if (state & SGC_STATE_STOPREQ) {
            if (gen & 1)
                sleep_through(gen, 1, sgc_trace_begin());
        } else if ((state & (SGC_STATE_SUSPENDED | SGC_STATE_PINNED)) && stays) {
            sgc_wait(&s->state, state, -1);
        } else if (sgc_a32_cas(&s->state, state, state & ~(uint32_t)(SGC_STATE_BLOCKED | SGC_STATE_ASLEEP))) {
            return;
        }
    }
}

static void enter_blocked(struct sgc_mutator *self, uintptr_t sp, uint32_t bits)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_section_of(self)->held == 0);
    sgc_world_publish_sp(self, sp);
    block(sgc_section_of(self), bits);
}

void sgc_world_enter_blocked(struct sgc_mutator *self, uintptr_t sp)
{
    enter_blocked(self, sp, SGC_STATE_BLOCKED);
}

/* Under a guard we are our own sleep, and go on to the guard's end, where a suspended thread
 * stays. */
void sgc_world_leave_blocked(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self));
    unblock(sgc_section_of(self), sgc_section_of(self)->guards == 0);
}

bool sgc_world_is_blocked(const struct sgc_mutator *self)
{
    return (sgc_a32_load(&self->cache.section.state) & SGC_STATE_BLOCKED) != 0;
}

struct sleeper {
    struct sgc_mutator *self;
    void (*wait)(void *arg);
    void *arg;
};

static void sleep_from(void *arg, uintptr_t sp)
{
    struct sleeper *s = arg;

    enter_blocked(s->self, sp, SGC_STATE_BLOCKED | SGC_STATE_ASLEEP);
    s->wait(s->arg);
    sgc_world_leave_blocked(s->self);
}

/* Without signals: a client's handler would touch the heap while this thread counts as stopped, and
 * could leave by siglongjmp. */
void sgc_world_sleep(struct sgc_mutator *self, void (*wait)(void *arg), void *arg)
{
    struct sleeper s = { self, wait, arg };
    sigset_t saved;

    sgc_assert(sgc_mutator_mine(self));
    sgc_assert(sgc_section_of(self)->held == 0);            /* nobody sleeps with a lock */
    sgc_signals_block(&saved);
    sgc_with_registers(sleep_from, &s);
    sgc_signals_restore(&saved);
}

struct word_wait {
    sgc_a32_t *word;
    uint32_t expected;
};

static void wait_for_word(void *arg)
{
    const struct word_wait *w = arg;

    sgc_wait(w->word, w->expected, -1);
}

/* A thread in a blocked region, which makes a stop itself there, counts as stopped already. */
void sgc_world_wait(struct sgc_section *self, sgc_a32_t *word, uint32_t expected)
{
    struct word_wait w = { word, expected };

    sgc_assert(sgc_section_mine(self));
    if (sgc_world_is_blocked(sgc_mutator_of(self)))
        wait_for_word(&w);
    else
        sgc_world_sleep(sgc_mutator_of(self), wait_for_word, &w);
}

/* ---- suspended ---- */

/* Where it has published that it stands, it counts as blocked until it is told to go on. */
static void stay(struct sgc_mutator *m)
{
    sgc_assert(sgc_section_of(m)->held == 0);
    while (sgc_section_suspended(sgc_section_of(m))) {
        block(sgc_section_of(m), SGC_STATE_BLOCKED);
        unblock(sgc_section_of(m), true);
    }
}

static void stay_from(void *arg, uintptr_t sp)
{
    sgc_world_publish_sp(arg, sp);
    stay(arg);
}

/* In a blocked region it is left to the region's end. */
void sgc_world_wait_suspended(struct sgc_section *self)
{
    int saved = errno;

    sgc_assert(sgc_section_mine(self));
    if (!(sgc_a32_load(&self->state) & SGC_STATE_BLOCKED))
        sgc_with_registers(stay_from, sgc_mutator_of(self));
    errno = saved;
}

/* ---- start and fork ---- */

/* The default is a signal by which nobody is ended, should it outlive the program (execve); there
 * are programs that use it. */
static void leave_signal_in_use(void)
{
    if (sgc_option_origin(SGC_OPT_SGC_SUSPEND_SIGNAL) == SGC_ORIGIN_DEFAULT &&
        sgc_signal_fate(sgc_options.suspend_signal, on_suspend) == SGC_SIGNAL_TAKEN)
        sgc_option_clamp(SGC_OPT_SGC_SUSPEND_SIGNAL, SIGPWR, NULL);
}

bool sgc_world_init(void)
{
    sgc_assert(!sgc_world_stopped());
    leave_signal_in_use();
    sgc_assert(sgc_signal_can_suspend(sgc_options.suspend_signal));
    sgc_section_hooks.park = park_leaving_section;
    sgc_section_hooks.repair = repair;
    sgc_section_hooks.stay = sgc_world_wait_suspended;
    sgc_section_hooks.sleep = sgc_world_wait;
    sgc_spin_wait_init(sgc_options.processors != 0 ? sgc_options.processors : sgc_limit_cpus());
    sgc_guard_init(sgc_options.suspend_signal);
    if (sgc_signal_install(sgc_options.suspend_signal, on_suspend))
        return true;
    sgc_error("the system refuses a handler for signal %d, which stops threads for a collection; "
              "choose another with SGC_SUSPEND_SIGNAL or GC_set_suspend_signal",
              sgc_options.suspend_signal);
    return false;
}

void sgc_world_keep_handler(bool again)
{
    enum sgc_signal_fate fate = sgc_signal_fate(sgc_options.suspend_signal, on_suspend);

    sgc_assert(sgc_world_stopped() && sgc_registry_locked());
    if (fate == SGC_SIGNAL_HANDLED || (fate == SGC_SIGNAL_TAKEN && !again))
        return;
    sgc_signal_install(sgc_options.suspend_signal, on_suspend);
    if (fate != SGC_SIGNAL_TAKEN || sgc_world.reported_handler)
        return;
    sgc_world.reported_handler = true;
    sgc_warn("the program has installed a handler for signal %d, which stops threads for a collection; the collector's is "
             "back, and the program's will not run; choose another signal with SGC_SUSPEND_SIGNAL or GC_set_suspend_signal",
             sgc_options.suspend_signal);
}

void sgc_world_after_fork(void)
{
    sgc_a32_store(&sgc_world.gen, 0);
    sgc_a32_store(&sgc_world.missing, 0);
    sgc_aw_store(&sgc_world.stranger, 0);
}

/* SPDX-License-Identifier: MIT */
/* The GC lock.  Each function runs on the thread it is about. */
#include "gc/threads/gc_lock.h"

#include "gc/threads/world.h"
#include "gc/threads/world_internal.h"

struct gc_lock {
    sgc_aw_t word;                      /* 0: open; otherwise the holder's thread id, and above
                                         * that, see light() */
    sgc_a32_t waiting;                  /* threads waiting for it */
};

SGC_STATE static struct gc_lock gc_lock;

enum { DEPTH_SHIFT = 32 };              /* above a thread id */

static const uintptr_t DEPTH_MAX = UINTPTR_MAX >> DEPTH_SHIFT;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the word's first half is the lower one: the thread id");

static const int64_t RECHECK_NS = 10 * 1000 * 1000;

static sgc_a32_t *futex_word(void)
{
    return (sgc_a32_t *)(void *)&gc_lock.word;
}

/* How far below its stack's end the copy lies, in the frame of the thread that holds it without a
 * guard; 0: under one. */
static uintptr_t light(uintptr_t word)
{
    return word >> DEPTH_SHIFT;
}

/* Is the GC lock open, or is its holder's thread id in the word? */
__attribute__((unused))
static inline bool word_ok(uintptr_t word)
{
    return word == 0 || (uint32_t)word != 0;
}

bool sgc_gc_lock_is_fast(void)
{
    sgc_assert(word_ok(sgc_aw_load(&gc_lock.word)));
    return light(sgc_aw_load(&gc_lock.word)) != 0;
}

/* The number of the calling thread.  Its record has it: asking the system for it takes as long as
 * all else here, and some clients take the allocation lock for every look into a weak table. */
static uint32_t own_id(void)
{
    const struct sgc_mutator *self = sgc_mutator_self();

    sgc_assert(self == NULL || self->tid != 0);    /* it is negative in a child for which the system
                                                    * has none */
    return (uint32_t)(self != NULL ? self->tid : sgc_thread_id());
}

bool sgc_gc_lock_held(void)
{
    return (uint32_t)sgc_aw_load(&gc_lock.word) == own_id();
}

bool sgc_stopped_by_self(void)
{
    return sgc_world_stopped() && sgc_gc_lock_held();
}

static void wake_next(void)
{
    sgc_wake(futex_word(), 1);
}

/* Before the thread opens the GC lock: a waiting thread may stop the world at once, and would most
 * often meet this one before it has returned to the program, which may publish just after that the
 * changes made with the lock held. */
static void leaving(void)
{
    if (sgc_self == NULL)
        return;
    sgc_self->section.leaves = false;
    sgc_compiler_barrier();
    sgc_self->section.passed_ns = 0;
    sgc_compiler_barrier();
    sgc_self->section.leaves = true;
}

static void wake_if_waiting(void)
{
    if (sgc_a32_load_sc(&gc_lock.waiting) != 0)
        wake_next();
    else if (sgc_self != NULL)
        sgc_self->section.leaves = false;
}

static void release(void)
{
    sgc_assert(sgc_gc_lock_held());
    leaving();
    sgc_aw_swap(&gc_lock.word, 0);
    wake_if_waiting();
}

static bool drop(uintptr_t hold)
{
    sgc_assert(word_ok(hold) && light(hold) != 0);
    leaving();
    if (!sgc_aw_cas(&gc_lock.word, hold, 0))
        return false;
    wake_if_waiting();
    return true;
}

/* ---- under a guard ---- */

/* One sleep, while somebody has it.  Threads that find at once that a cycle is due come here
 * together. */
static void wait_for_lock(void *arg)
{
    uintptr_t word = sgc_aw_load_acq(&gc_lock.word);

    (void)arg;
    sgc_assert(word_ok(word) && (uint32_t)word != own_id());        /* nobody waits for itself */
    if (word == 0)
        return;
    if (!sgc_spin_wait(futex_word(), (uint32_t)word, sgc_a32_load(&gc_lock.waiting)))
        sgc_wait(futex_word(), (uint32_t)word, light(word) != 0 ? RECHECK_NS : -1);
}

/* A section that a longjmp has left is found at the next one: here, before we count as outside; but
 * not in a blocked region, where the cache is the collecting thread's. */
static void find_abandoned(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self));
    sgc_section_enter(sgc_section_of(self));
    sgc_section_leave(sgc_section_of(self));
}

/* One try.  A suspended thread stays here instead, and another waiting one is woken in its place:
 * with the GC lock it would run callbacks of the client's.  While it has the GC lock nobody
 * suspends it. */
static bool try_lock(uintptr_t word, struct sgc_mutator *self)
{
    struct sgc_section *section = self != NULL ? sgc_section_of(self) : NULL;
    bool taken = sgc_aw_cas(&gc_lock.word, 0, word);

    sgc_assert((uint32_t)word == own_id());
    if (section == NULL || !sgc_section_suspended(section))
        return taken;
    if (taken)
        release();
    else
        wake_next();
    sgc_world_wait_suspended(section);
    return false;
}

/* A handler has come after the thread has seen that the GC lock is not its own, and has left it
 * closed. */
static void open_left(void)
{
    uintptr_t word = sgc_aw_load(&gc_lock.word);

    if ((uint32_t)word != own_id())
        return;
    sgc_assert(light(word) != 0);
    drop(word);
}

/* A thread that is not registered (or forks before it is) cannot be stopped, and one in a blocked
 * region counts as stopped already: they simply sleep.  The program answers for its code in such a
 * region while the thread is suspended. */
static struct sgc_mutator *who_may_be_stopped(struct sgc_mutator *self)
{
    sgc_assert(self == NULL || sgc_mutator_mine(self));
    return self != NULL && !sgc_world_is_blocked(self) ? self : NULL;
}

/* Under a guard from now on. */
static void close_by(struct sgc_mutator *self, uintptr_t word)
{
    struct sgc_mutator *waits = who_may_be_stopped(self);

    sgc_assert(self == sgc_mutator_self());
    sgc_assert(!sgc_stopped_by_self());
    if (waits != NULL && sgc_section_inside(sgc_section_of(waits)))
        find_abandoned(waits);
    if (self != NULL)
        sgc_guard_enter(sgc_section_of(self));
    open_left();
    sgc_a32_add(&gc_lock.waiting, 1);
    while (!try_lock(word, waits)) {
        if (waits != NULL)
            sgc_world_sleep(waits, wait_for_lock, NULL);
        else
            wait_for_lock(NULL);
    }
    sgc_assert(sgc_gc_lock_held());
    sgc_assert(sgc_a32_load(&gc_lock.waiting) != 0);
    sgc_a32_add(&gc_lock.waiting, (uint32_t)-1);
}

/* Until it is opened: a client's handler must not longjmp away with the GC lock. */
void sgc_gc_lock_acquire(struct sgc_mutator *self)
{
    close_by(self, own_id());
    sgc_assert(self == NULL || sgc_section_of(self)->guards > 0);
}

/* A thread that has registered itself meanwhile was under none. */
static void leave_guard(void)
{
    if (sgc_self != NULL && sgc_self->section.guards > 0)
        sgc_guard_leave(&sgc_self->section);
}

void sgc_gc_lock_release(void)
{
    sgc_assert(sgc_gc_lock_held());
    release();
    leave_guard();
}

bool sgc_gc_lock_enter(struct sgc_mutator *self)
{
    bool closes = !sgc_gc_lock_held();

    sgc_assert(self == sgc_mutator_self());
    if (closes)
        sgc_gc_lock_acquire(self);
    else if (self != NULL)
        sgc_guard_enter(sgc_section_of(self));
    sgc_assert(sgc_gc_lock_held());
    return closes;
}

void sgc_gc_lock_leave(bool closed)
{
    sgc_assert(sgc_gc_lock_held());
    if (closed)
        sgc_gc_lock_release();
    else
        leave_guard();
}

/* ---- without ---- */

/* It runs code of the program that may be stopped at any instruction, so while it goes on nobody
 * has suspended it. */
static bool runs_freely(const struct sgc_section *s)
{
    return s->guards == 0 && s->held == 0 && sgc_a32_load(&s->state) == 0 && !sgc_section_inside(s);
}

/* The word that says that the copy lies there; 0 if that cannot be said, or there must be a
 * guard. */
static uintptr_t light_word(const struct sgc_mutator *self, const struct sgc_gc_lock_hold *hold)
{
    uintptr_t place = (uintptr_t)hold, depth;

    sgc_assert(self == NULL || sgc_mutator_mine(self));
    if (self == NULL || !runs_freely(&self->cache.section) || !sgc_mutator_at_home(self, place))
        return 0;
    depth = self->stack.high - place;
    sgc_assert(depth != 0);                 /* the stack's end is not within it */
    return depth <= DEPTH_MAX ? depth << DEPTH_SHIFT | (uint32_t)self->tid : 0;
}

bool sgc_gc_lock_try(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold)
{
    uintptr_t word = light_word(self, hold);

    if (word == 0 || sgc_a32_load(&gc_lock.waiting) != 0)
        return false;
    sgc_assert(word_ok(word) && light(word) != 0);
    hold->word = word;
    return sgc_aw_cas(&gc_lock.word, 0, word);
}

void sgc_gc_lock_acquire_for(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold)
{
    uintptr_t word = light_word(self, hold);

    sgc_assert(self == sgc_mutator_self());
    hold->word = word != 0 ? word : own_id();
    close_by(self, hold->word);
    if (word != 0)
        leave_guard();
    sgc_assert((uint32_t)hold->word == own_id());
}

/* It is not ours any more if sgc_gc_lock_recover was misled, by a callback that goes back and forth
 * between stacks. */
void sgc_gc_lock_release_for(const struct sgc_gc_lock_hold *hold)
{
    sgc_assert(word_ok(hold->word) && hold->word != 0);
    if (light(hold->word) != 0)
        drop(hold->word);
    else
        sgc_gc_lock_release();
}

static void tell(void)
{
    sgc_warn("a callback of GC_call_with_alloc_lock, or a signal handler that interrupted it, was left by a jump, or by ending "
             "the thread; the allocation lock is released, until now others waited for it. Let the callback return; block "
             "signals whose handlers jump");
}

/* The words that lie there now may be another function's. */
__attribute__((no_sanitize("address", "thread")))
static bool is_there(uintptr_t place, uintptr_t word)
{
    return ((const struct sgc_gc_lock_hold *)place)->word == word;
}

/* One look at the word: a handler may take the GC lock after it, and leave it so. */
bool sgc_gc_lock_recover(struct sgc_mutator *self, uintptr_t entry)
{
    uintptr_t word = sgc_aw_load(&gc_lock.word), place;

    sgc_assert(self == sgc_mutator_self() && word_ok(word));
    if ((uint32_t)word != own_id())
        return false;
    if (light(word) == 0 || self == NULL)
        return true;
    place = self->stack.high - light(word);
    sgc_assert(place < self->stack.high);
    if (sgc_mutator_at_home(self, place) && !sgc_mutator_left(self, place, entry) && is_there(place, word))
        return true;
    if (drop(word))
        tell();
    return false;
}

/* Whichever way it has closed the GC lock; in a stopped world nothing can be mended. */
void sgc_gc_lock_thread_ends(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self));
    if (!sgc_gc_lock_recover(self, self->stack.high - 1) || sgc_world_stopped())
        return;
    sgc_gc_lock_release();
    tell();
}

void sgc_gc_lock_after_fork(void)
{
    sgc_aw_store(&gc_lock.word, 0);
    sgc_a32_store(&gc_lock.waiting, 0);
}

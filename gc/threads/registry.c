/* SPDX-License-Identifier: MIT */
/* The registry of threads: going through it, and threads that are not here any more.  Its records
 * are made and listed in gc/threads/register.c. */
#include "gc/threads/mutator.h"

#include "alloc/page_supply.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "gc/events/events.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"
#include "gc/threads/world_internal.h"

SGC_STATE struct sgc_registry sgc_registry = { .lock = SGC_LOCK_INIT(SGC_RANK_REGISTRY) };
SGC_STATE struct sgc_thread_hooks sgc_thread_hooks;

/* ---- looks ---- */

void sgc_registry_enter(struct sgc_registry_scope *scope)
{
    struct sgc_mutator *self = sgc_mutator_self();

    sgc_assert(self == NULL || sgc_mutator_ok(self));
    scope->had = sgc_stopped_by_self();
    scope->section = self != NULL && !sgc_world_is_blocked(self) ? sgc_section_of(self) : NULL;
    if (scope->had)
        return;
    if (scope->section == NULL)
        sgc_signals_block(&scope->signals);
    sgc_lock(&sgc_registry.lock, scope->section);
    sgc_assert(sgc_registry_locked());
}

void sgc_registry_leave(struct sgc_registry_scope *scope)
{
    sgc_assert(sgc_registry_locked());
    if (scope->had)
        return;
    sgc_unlock(&sgc_registry.lock, scope->section);
    if (scope->section == NULL)
        sgc_signals_restore(&scope->signals);
}

bool sgc_registry_anybody_runs(void)
{
    struct sgc_registry_scope scope;
    const struct sgc_mutator *m;

    sgc_registry_enter(&scope);
    for (m = sgc_registry.first; m != NULL && !sgc_mutator_runs(m, sgc_a32_load(&m->cache.section.state));)
        m = m->next;
    sgc_registry_leave(&scope);
    return m != NULL;
}

/* ---- threads that are not here any more ---- */

/* Newer records come first. */
bool sgc_registry_outlived(const struct sgc_mutator *m)
{
    const struct sgc_mutator *newer = sgc_registry.first;

    sgc_assert(sgc_registry_locked() && sgc_mutator_linked(m));
    while (newer != m && newer->tid != m->tid)
        newer = newer->next;
    return newer != m;
}

static void take_out(struct sgc_mutator *m)
{
    sgc_record_unlink(m);
    if (sgc_thread_hooks.vanished != NULL)
        sgc_thread_hooks.vanished(m->handle, m->started);
}

/* Its section, if it was in one, is abandoned, which sections without a lock allow at any
 * instruction; it held no lock. */
static void close_record(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self() && m->cache.id != 0);
    sgc_section_reset(sgc_section_of(m));
    sgc_a32_store(&m->cache.section.state, 0);
    sgc_cache_repair(&m->cache);
    sgc_cache_close(&m->cache, sgc_section_of(m));
    m->tid = 0;
}

struct sgc_mutator *sgc_registry_take_gone(void)
{
    struct sgc_mutator *gone = NULL, *next;
    uint32_t found = 0;

    sgc_assert(sgc_registry_locked());
    if (sgc_registry.gone == 0)
        return NULL;
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = next) {
        next = m->next;
        if (!m->gone)
            continue;
        take_out(m);
        found++;
        m->next = gone;
        gone = m;
    }
    sgc_assert(found == sgc_registry.gone);
    sgc_registry.gone = 0;
    return gone;
}

void sgc_registry_bury(struct sgc_mutator *gone)
{
    while (gone != NULL) {
        struct sgc_mutator *m = gone;
        sgc_tid_t tid = m->tid;

        sgc_assert(m->gone && m != sgc_mutator_self());
        gone = m->next;
        sgc_upper_vanished(m);
        sgc_record_ends(m);
        close_record(m);
        sgc_record_give(m);
        SGC_EVENT(thread_gone, tid);
    }
}

/* ---- fork and checks ---- */

/* The lock, which the forking thread has taken, goes last: the hooks that are called here rely on
 * it. */
void sgc_registry_after_fork(struct sgc_mutator *self)
{
    struct sgc_mutator *m = sgc_registry.first;
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    sgc_assert(self == sgc_mutator_self());
    for (uint32_t id = 1; id < caches; id++)
        sgc_lock_reset(&sgc_cache_of(id)->lock);
    while (m != NULL) {
        struct sgc_mutator *next = m->next;

        if (m != self) {
            take_out(m);
            sgc_upper_vanished(m);
            close_record(m);
            m->next = sgc_registry.unused;
            sgc_registry.unused = m;
        }
        m = next;
    }
    sgc_registry.gone = 0;
    sgc_assert(sgc_registry.first == self && sgc_registry.count == (self != NULL));
    if (self != NULL)
        self->tid = sgc_thread_id();
    sgc_lock_reset(&sgc_registry.lock);
}

void sgc_registry_check(void)
{
    uint32_t count = 0;

    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        sgc_verify(m->tid != 0 && m->cache.id != 0);
        sgc_verify(sgc_cache_of(m->cache.id) == &m->cache);
        sgc_verify(m->next == NULL || m->next->prev == m);
        count++;
    }
    sgc_verify(count == sgc_registry.count);
    (void)count;
}

/* SPDX-License-Identifier: MIT */
/* See gc/threads/binding.h, for where each function runs, too. */
#include "gc/threads/binding.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "gc/config/option_set.h"
#include "gc/threads/gc_lock.h"
#include "platform/nodes/placement.h"
#include "platform/platform.h"
#include "platform/report.h"

extern char **environ;

struct binding {
    sgc_a32_t mode;                 /* enum sgc_bind; SGC_BIND_OFF: nobody is bound */
    struct sgc_bind_plan plan;      /* topology NULL: not prepared */
    uint32_t places;
};

static SGC_STATE struct binding binding;

/* The topology that is read for binding alone: with cores, or all of it from hwloc. */
static struct sgc_topology more;
SGC_STATE_LARGE(more);

static enum sgc_bind mode(void)
{
    return (enum sgc_bind)sgc_a32_load(&binding.mode);
}

static bool is_asked(void)
{
    return sgc_option_origin(SGC_OPT_SGC_BIND) != SGC_ORIGIN_DEFAULT;
}

void sgc_binding_start(void)
{
    enum sgc_bind wanted = sgc_bind_mode((enum sgc_bind)sgc_options.bind, sgc_nodes());

    sgc_assert(wanted != SGC_BIND_AUTO);
    if (wanted == SGC_BIND_OFF || sgc_placement_keep_mask()) {
        sgc_a32_store(&binding.mode, wanted);
        return;
    }
    if (is_asked())
        sgc_warn("the system does not say what processors this process may use; helper threads are not bound. Let a filter of "
                 "system calls allow sched_getaffinity, or leave SGC_BIND out");
}

/* ---- the plan ---- */

/* Only who tells hwloc something has it asked: hwloc needs the loader's lock, whose holder may be
 * waiting for the GC lock, in a constructor that allocates.  On this machine /sys says the same.  A
 * program that gained rights ignores its environment. */
static bool tells_hwloc(void)
{
    if (getauxval(AT_SECURE) != 0 || environ == NULL)
        return false;
    for (char *const *entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, "HWLOC_", 6) == 0)
            return true;
    return false;
}

bool sgc_binding_asks_hwloc(void)
{
    return sgc_topology_has_hwloc() && tells_hwloc();
}

static const struct sgc_topology *read_topology(void)
{
    sigset_t signals;

    if (sgc_binding_asks_hwloc()) {
        sgc_signals_block(&signals);            /* a handler must not jump out of hwloc */
        sgc_topology_read(&more);
        sgc_signals_restore(&signals);
        return &more;
    }
    if (mode() == SGC_BIND_NODE && sgc_placement_topology() != NULL)
        return sgc_placement_topology();
    sgc_topology_read_allowed(&more, "/sys", "/proc/self/status");
    sgc_topology_read_cores(&more, "/sys");
    return &more;
}

/* False: nobody can be bound by that plan. */
static bool is_usable(const struct sgc_bind_plan *plan)
{
    if (plan->topology->ignored != NULL)
        sgc_warn("hwloc cannot use %s; the topology is this machine's, from %s. sgc-topo shows what it is",
                 plan->topology->ignored, plan->topology->source);
    if (plan->topology->synthetic && is_asked())
        sgc_warn("SGC_BIND has no effect: hwloc was told of another machine than this one (HWLOC_SYNTHETIC or HWLOC_XMLFILE); "
                 "leave one of the two out");
    return !plan->topology->synthetic && sgc_bind_places(plan) != 0;
}

void sgc_binding_prepare(uint32_t markers)
{
    struct sgc_bind_plan *plan = &binding.plan;

    sgc_assert(sgc_gc_lock_held() && markers > 0);
    if (mode() == SGC_BIND_OFF || plan->topology != NULL)
        return;
    *plan = (struct sgc_bind_plan){ mode(), read_topology(), sgc_process_processors() };
    if (!is_usable(plan)) {
        sgc_a32_store(&binding.mode, SGC_BIND_OFF);
        return;
    }
    binding.places = sgc_bind_places(plan);
    if (plan->mode == SGC_BIND_CORE && markers > binding.places)
        sgc_warn("SGC_BIND=core: there are %u markers and %u cores, so some share one. Lower GC_MARKERS to %u, so that "
                 "each has its own", markers, binding.places, binding.places);
}

/* ---- helpers ---- */

struct sgc_bound sgc_binding_apply(uint32_t helper)
{
    struct sgc_bound bound = { SGC_NO_CORE, false, 0 };
    struct sgc_bind_place place;
    struct sgc_number_set set;

    if (mode() == SGC_BIND_OFF)
        return bound;
    sgc_assert(binding.plan.topology != NULL && binding.places != 0);
    place = sgc_bind_place(&binding.plan, helper);
    sgc_bind_processors(&binding.plan, &place, &set);
    sgc_assert(sgc_number_set_count(&set) != 0);
    if (!sgc_thread_bind(&set)) {
        bound.error = errno;
        return bound;
    }
    bound.core = place.core;
    bound.beyond = place.beyond;
    return bound;
}

void sgc_binding_refused(int error)
{
    sgc_assert(sgc_gc_lock_held() && error != 0);
    if (mode() == SGC_BIND_OFF)
        return;
    sgc_a32_store(&binding.mode, SGC_BIND_OFF);
    if (is_asked())
        sgc_warn("the system refuses to bind a helper thread to processors (error %d); helper threads are not bound. "
                 "Let a filter of system calls allow sched_setaffinity, or leave SGC_BIND out", error);
}

uint32_t sgc_binding_cores(void)
{
    return mode() == SGC_BIND_CORE ? binding.places : 0;
}

/* Without stealing each helper has its part of the roots, and none may stay out. */
uint32_t sgc_binding_one_more(void)
{
    sgc_assert(sgc_options.markers > 0 && binding.plan.topology == NULL);
    return mode() == SGC_BIND_CORE && sgc_options.markers > 1 && sgc_options.balance;
}

uint32_t sgc_binding_core_here(void)
{
    sgc_assert(sgc_binding_cores() != 0);
    return sgc_bind_core_of(&binding.plan, sgc_processor_here());
}

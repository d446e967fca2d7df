/* SPDX-License-Identifier: MIT */
/* The list of loaded modules, and the client's answers about them.  gc/roots/roots.h says which
 * threads write and read them. */
#include "gc/roots/roots.h"

#include "gc/config/public_vars.h"
#include "gc/threads/gc_lock.h"

SGC_STATE struct sgc_modules sgc_root_modules;

struct applied {
    bool no_modules;                /* GC_no_dls, as it was when the list of modules was made */
    uintptr_t applied_filter;       /* likewise */
    unsigned long long searched;    /* the list of modules in which another collector was last
                                       looked for */
    bool reported_other;            /* of one */
    bool reported_no_memory;        /* for the list of modules */
    sgc_aw_t filter;                /* sgc_roots_filter_t; any thread, release / acquire */
};

SGC_STATE static struct applied applied;

void sgc_roots_set_filter(sgc_roots_filter_t filter)
{
    sgc_aw_store_rel(&applied.filter, (uintptr_t)filter);
}

/* The client's answers about modules count from the next list on, so a change of mind asks for
 * one. */
static void apply_client_settings(void)
{
    bool no_modules = sgc_a32_load(&sgc_client_no_dls) != 0;
    uintptr_t filter = sgc_aw_load_acq(&applied.filter);

    if (no_modules == applied.no_modules && filter == applied.applied_filter)
        return;
    applied.no_modules = no_modules;
    applied.applied_filter = filter;
    sgc_root_modules.adds = 0;
}

/* The program itself has an empty name. */
static bool leave_out(const char *name, uintptr_t lo, size_t bytes)
{
    sgc_roots_filter_t filter = (sgc_roots_filter_t)applied.applied_filter;

    return applied.no_modules || (filter != NULL && !filter(name, (void *)lo, bytes));
}

/* The contents are not kept: the list is made again anyway. */
static bool grow_modules(int more)
{
    struct sgc_modules *m = &sgc_root_modules;
    size_t entry = sizeof *m->range + sizeof *m->tls + sizeof *m->module;
    size_t old = sgc_round_up((size_t)m->range_capacity * entry, sgc_os_page_size());
    size_t bytes = sgc_round_up((size_t)(m->range_capacity + more + 64) * 2 * entry, sgc_os_page_size());
    char *memory = sgc_mem_obtain(bytes);

    sgc_assert(more > 0 && bytes > old);
    if (memory == NULL)
        return false;
    if (m->range != NULL)
        sgc_mem_release(m->range, old);
    m->range_capacity = m->tls_capacity = m->module_capacity = (int)(bytes / entry);
    m->range = (struct sgc_range *)(void *)memory;
    m->tls = (struct sgc_module_tls *)(void *)(m->range + m->range_capacity);
    m->module = (struct sgc_module *)(void *)(m->tls + m->tls_capacity);
    sgc_assert(m->range_capacity > more);
    m->adds = 0;
    return true;
}

/* Said once, until there is memory again. */
static void report_no_memory(void)
{
    sgc_assert(sgc_root_modules.overflow > 0);
    if (!applied.reported_no_memory)
        sgc_warn("no memory for the list of %d static data ranges of the loaded modules; no collection "
                 "is made. Free memory or raise the limit on it",
                 sgc_root_modules.range_capacity + sgc_root_modules.overflow);
    applied.reported_no_memory = true;
}

bool sgc_roots_snapshot(void (*stop)(void *arg), void *arg)
{
    sgc_assert(sgc_gc_lock_held());
    apply_client_settings();
    while (!sgc_modules_snapshot(&sgc_root_modules, leave_out, stop, arg))
        if (!grow_modules(sgc_root_modules.overflow)) {
            report_no_memory();
            return false;
        }
    sgc_assert(sgc_root_modules.ranges <= sgc_root_modules.range_capacity);
    sgc_assert(sgc_root_modules.tlses <= sgc_root_modules.tls_capacity);
    sgc_assert(sgc_root_modules.modules <= sgc_root_modules.module_capacity);
    applied.reported_no_memory = false;
    return true;
}

void sgc_roots_find_other_collector(void)
{
    char path[256];

    if (applied.reported_other || (sgc_root_modules.adds != 0 && sgc_root_modules.adds == applied.searched))
        return;
    applied.searched = sgc_root_modules.adds;
    applied.reported_other = sgc_modules_other_collector(path, sizeof path);
    if (applied.reported_other)
        sgc_warn("another collector is in this process: %s. Neither knows the other's objects; have one only, by "
                 "sgc-run or by LD_LIBRARY_PATH with the folder of SGC's libgc.so.1", path);
}

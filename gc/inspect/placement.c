/* SPDX-License-Identifier: MIT */
/*
 * SGC_print_placement: on which memory nodes what we use lies, for people.  On any thread, while
 * others run; lines are written by raw system calls.
 */
#include "gc/api/api.h"

#include <errno.h>

#include "alloc/pages/found_nodes.h"
#include "gc/collect/lead.h"
#include "gc/collect/start_state.h"
#include "gc/config/option_set.h"
#include "gc/threads/gc_lock.h"
#include "platform/nodes/placement.h"
#include "platform/text_line.h"

static unsigned long kilobytes(size_t pages)
{
    return (unsigned long)(pages * (sgc_os_page_size() / 1024));
}

static void print_node(const struct sgc_found_nodes *f, int node, bool meant)
{
    struct sgc_line line;

    sgc_assert(node < sgc_nodes());
    sgc_line_start(&line);
    sgc_line_add(&line, "  node %d: %lu KB found", sgc_node_number(node), kilobytes(f->found[node]));
    if (meant)
        sgc_line_add(&line, ", %lu KB meant", kilobytes(f->meant[node]));
    sgc_print("%s", line.text);
}

static void print_found(const char *name, const struct sgc_found_nodes *f)
{
    size_t total = sgc_found_total(f->found);
    bool meant = sgc_found_total(f->meant) != 0;

    sgc_assert(f->right <= total);
    if (meant)
        sgc_print("%s: %lu KB found, %lu percent where they were meant to be", name, kilobytes(total),
                  (unsigned long)(f->right * 100 / total));
    else
        sgc_print("%s: %lu KB found, left to the system", name, kilobytes(total));
    for (int node = 0; total != 0 && node < sgc_nodes(); node++)
        print_node(f, node, meant);
}

static bool add_stack(const void *start, size_t bytes, int node, void *found)
{
    return sgc_found_add(found, start, bytes, node);
}

/* Those of markers, by the node that each ran on when it marked last.  The GC lock keeps them from
 * growing. */
static bool add_stacks(struct sgc_found_nodes *f)
{
    bool closed = sgc_gc_lock_enter(sgc_mutator_self());
    bool all = sgc_lead_visit_stacks(add_stack, f);

    sgc_gc_lock_leave(closed);
    return all;
}

/* `known`: the system has said where the part is.  False if not: the system will not say it of the
 * others either. */
static bool print_part(const char *name, struct sgc_found_nodes *f, bool known)
{
    if (!known) {
        sgc_print("%s: the system does not say where it is (error %d)", name, errno);
        return false;
    }
    sgc_found_sum_up(f);
    print_found(name, f);
    return true;
}

static bool print_heap(const char *name, enum sgc_found_part part)
{
    struct sgc_found_nodes f = { .right = 0 };
    bool known = sgc_found_add_part(&f, part);

    return print_part(name, &f, known);
}

static void print_stacks(void)
{
    struct sgc_found_nodes f = { .right = 0 };
    bool known = add_stacks(&f);

    print_part("mark stacks", &f, known);
}

void SGC_print_placement(void)
{
    char word[SGC_OPTION_WORDS];
    int saved = errno;

    if (!sgc_init_done()) {
        sgc_print("memory nodes: the collector has not been started");
        return;
    }
    if (sgc_nodes() == 1) {
        sgc_print("1 memory node");
        return;
    }
    sgc_print("%d memory nodes, SGC_NUMA=%s", sgc_nodes(),
              sgc_option_show(&sgc_option_table[SGC_OPT_SGC_NUMA], sgc_heap.config.numa, word, sizeof word));
    if (print_heap("heap", SGC_FOUND_HEAP) && print_heap("bitmaps", SGC_FOUND_BITS) &&
        print_heap("tables", SGC_FOUND_TABLES) && sgc_mutator_self() != NULL)
        print_stacks();
    errno = saved;
}

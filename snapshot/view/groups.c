/* SPDX-License-Identifier: MIT */
/* See snapshot/view/groups.h: objects by groups. */
#include "snapshot/view/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 160 };

/* The objects of which no name is known: they are a group if these are equal. */
struct plain {
    uint64_t bytes;                     /* of a small object; of a large one: the power of two that
                                         * is not above */
    bool large;
    struct sgc_graph_kind kind;
};

/* Groups by name have numbers of the source until all objects have been seen. */
struct making {
    const struct sgc_graph *g;
    const struct sgc_names *names;
    struct sgc_groups *groups;
    uint32_t *named;                    /* by the source's number: the group, or SGC_NAMES_NONE */
    struct plain *plain;                /* by group; of a named one: nothing */
    uint32_t capacity, last;            /* last: a group that was found last, or any */
};

static bool same_plain(const struct plain *a, const struct plain *b)
{
    return a->bytes == b->bytes && a->large == b->large && a->kind.scan == b->kind.scan &&
           a->kind.uncollectable == b->kind.uncollectable && a->kind.disclaims == b->kind.disclaims;
}

static struct plain plain_of(const struct sgc_graph *g, const struct sgc_graph_page *page)
{
    struct plain plain = { .bytes = page->object_bytes, .large = page->is == SGC_GRAPH_PAGE_SPAN, .kind = g->kind[page->kind] };

    sgc_assert(page->kind < g->kinds);
    if (plain.large && plain.bytes != 0)
        plain.bytes = UINT64_C(1) << (63 - __builtin_clzll(plain.bytes));
    return plain;
}

/* ---- names ---- */

static void print_size(char text[NAME], const struct plain *plain)
{
    static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB", "PB", "EB" };
    uint64_t value = plain->bytes;
    unsigned unit = 0;

    sgc_assert(plain->bytes != 0);
    if (!plain->large) {
        snprintf(text, NAME, "%" PRIu64 " bytes", value);
        return;
    }
    for (; value >= 1024; value /= 1024)
        unit++;
    sgc_assert(unit < sizeof units / sizeof units[0]);
    snprintf(text, NAME, "%" PRIu64 " %s or more", value, units[unit]);
}

static char *plain_name(const struct plain *plain)
{
    static const char *const scans[] = { "pointer-free", "conservative", "typed" };
    char size[NAME], text[2 * NAME];

    sgc_assert(plain->kind.scan < sizeof scans / sizeof scans[0]);
    print_size(size, plain);
    snprintf(text, sizeof text, "%s, %s%s%s", size, scans[plain->kind.scan], plain->kind.uncollectable ? ", uncollectable" : "",
             plain->kind.disclaims ? ", with a disclaim procedure" : "");
    return strdup(text);
}

/* ---- numbers ---- */

/* A new group; SGC_NAMES_NONE: no memory. */
static uint32_t add_group(struct making *m, const struct plain *plain)
{
    if (m->groups->count == m->capacity) {
        uint32_t capacity = m->capacity * 2 + 64;
        struct plain *grown = realloc(m->plain, (size_t)capacity * sizeof *grown);

        if (grown == NULL)
            return SGC_NAMES_NONE;
        m->plain = grown;
        m->capacity = capacity;
    }
    sgc_assert(m->groups->count < m->capacity);
    m->plain[m->groups->count] = *plain;
    return m->last = m->groups->count++;
}

static uint32_t plain_group(struct making *m, const struct sgc_graph_page *page)
{
    struct plain plain = plain_of(m->g, page);

    if (m->groups->count != 0 && same_plain(&m->plain[m->last], &plain))
        return m->last;
    for (uint32_t i = 0; i < m->groups->count; i++)
        if (same_plain(&m->plain[i], &plain))
            return m->last = i;
    return add_group(m, &plain);
}

static uint32_t named_group(struct making *m, uint32_t number)
{
    static const struct plain nothing = { .bytes = 0 };

    sgc_assert(number < m->names->groups);
    if (m->named[number] == SGC_NAMES_NONE)
        m->named[number] = add_group(m, &nothing);
    return m->named[number];
}

/* The objects of a page that have no name are one group. */
static bool number_page(struct making *m, const struct sgc_graph_page *page)
{
    uint32_t plain = SGC_NAMES_NONE;
    bool ask = m->names != NULL && m->names->group_of != NULL;

    for (uint32_t i = page->first_object; i < page->first_object + page->objects; i++) {
        uint32_t number = ask ? m->names->group_of(m->names->context, i) : SGC_NAMES_NONE;

        sgc_assert(i < m->g->objects);
        if (number == SGC_NAMES_NONE && plain == SGC_NAMES_NONE)
            plain = plain_group(m, page);
        m->groups->of[i] = number == SGC_NAMES_NONE ? plain : named_group(m, number);
        if (m->groups->of[i] == SGC_NAMES_NONE)
            return false;
    }
    return true;
}

static bool name_groups(struct making *m)
{
    struct sgc_groups *groups = m->groups;

    groups->name = calloc((size_t)groups->count + 1, sizeof *groups->name);
    groups->named = calloc((size_t)groups->count + 1, sizeof *groups->named);
    if (groups->name == NULL || groups->named == NULL)
        return false;
    for (uint32_t i = 0; m->names != NULL && i < m->names->groups; i++)
        if (m->named[i] != SGC_NAMES_NONE) {
            groups->name[m->named[i]] = strdup(m->names->group_name(m->names->context, i));
            groups->named[m->named[i]] = true;
        }
    for (uint32_t i = 0; i < groups->count; i++) {
        if (!groups->named[i])
            groups->name[i] = plain_name(&m->plain[i]);
        if (groups->name[i] == NULL)
            return false;
    }
    return true;
}

static bool number_objects(struct making *m)
{
    uint32_t named = m->names != NULL ? m->names->groups : 0;

    m->groups->of = malloc(((size_t)m->g->objects + 1) * sizeof *m->groups->of);
    m->named = malloc(((size_t)named + 1) * sizeof *m->named);
    if (m->groups->of == NULL || m->named == NULL)
        return false;
    memset(m->named, 0xff, ((size_t)named + 1) * sizeof *m->named);
    for (uint32_t i = 0; i < m->g->pages; i++)
        if (!number_page(m, &m->g->page[i]))
            return false;
    return true;
}

bool sgc_groups_make(struct sgc_groups *groups, const struct sgc_graph *g, const struct sgc_names *names)
{
    struct making m = { .g = g, .names = names, .groups = groups };
    bool made;

    *groups = (struct sgc_groups){ .count = 0 };
    made = number_objects(&m) && name_groups(&m);
    sgc_assert(!made || groups->count <= g->objects);
    free(m.named);
    free(m.plain);
    return made;
}

void sgc_groups_release(struct sgc_groups *groups)
{
    for (uint32_t i = 0; groups->name != NULL && i < groups->count; i++)
        free(groups->name[i]);
    free(groups->name);
    free(groups->named);
    free(groups->of);
    *groups = (struct sgc_groups){ .count = 0 };
}

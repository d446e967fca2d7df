/* SPDX-License-Identifier: MIT */
/* See metadata.h. */
#include "bench/acdc/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 1 << 18 };

static _Atomic size_t mapped;

void *metadata_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        fprintf(stderr, "acdc: the system has no memory for what ACDC knows of objects; use a smaller size\n");
        exit(1);
    }
    atomic_fetch_add_explicit(&mapped, bytes, memory_order_relaxed);
    return p;
}

size_t metadata_bytes(void)
{
    return atomic_load_explicit(&mapped, memory_order_relaxed);
}

/* ---- references ---- */

static void more_references(struct arena *arena)
{
    struct reference *chunk = metadata_map(CHUNK);

    if (arena->add_roots != NULL)
        arena->add_roots(chunk, chunk + CHUNK / sizeof *chunk);
    for (size_t i = CHUNK / sizeof *chunk; i-- > 0; arena->references = &chunk[i])
        chunk[i].object = arena->references;
}

struct reference *reference_new(struct arena *arena)
{
    struct reference *r;

    if (arena->references == NULL)
        more_references(arena);
    r = arena->references;
    arena->references = r->object;
    r->object = NULL;
    return r;
}

void reference_end(struct arena *arena, struct reference *reference)
{
    memset(reference, 0, sizeof *reference);
    reference->object = arena->references;
    arena->references = reference;
}

/* ---- nodes ---- */

static void more_nodes(struct arena *arena)
{
    struct node *chunk = metadata_map(CHUNK);

    for (size_t i = CHUNK / sizeof *chunk; i-- > 0; arena->nodes = &chunk[i])
        chunk[i].next = arena->nodes;
}

struct node *node_new(struct arena *arena, struct reference *reference)
{
    struct node *node;

    if (arena->nodes == NULL)
        more_nodes(arena);
    node = arena->nodes;
    arena->nodes = node->next;
    *node = (struct node){ NULL, reference };
    return node;
}

void node_end(struct arena *arena, struct node *node)
{
    *node = (struct node){ arena->nodes, NULL };
    arena->nodes = node;
}

/* SPDX-License-Identifier: MIT */
/*
 * Object graphs to be marked.  Nodes are 48 bytes large with the end byte, for a request of 40.  The same
 * calls build the same graph in the same order in each run.
 */
#ifndef SGC_BENCH_SHAPES_H
#define SGC_BENCH_SHAPES_H

#include <stddef.h>

enum { EDGES = 4, NODE_BYTES = 48 };

struct node {
    struct node *edge[EDGES];
    size_t number;
};

enum shape { TREE, GRAPH, LIST, ARRAY, LARGE };
#define SHAPE_WORDS "tree|graph|list|array|large"

/*
 * A graph of about so many bytes, and its root, which alone keeps all of it.  Collections must be disabled meanwhile: while it
 * is made, parts of it are known to malloc's memory only.
 *
 * TREE    a binary tree as flat as it can be, its nodes allocated in the order of a walk from the root, left first
 * GRAPH   nodes with four random edges each; the first ones form one random ring, so that all can be reached
 * LIST    nodes chained in the order of their allocation
 * ARRAY   one array of pointers to nodes without edges, in the order of their allocation
 * LARGE   objects of 256 KB; every fourth word points to the start of a random one
 *
 * *objects becomes the number of objects, *edges that of pointers in them.
 */
void *build_shape(enum shape shape, size_t bytes, size_t *objects, size_t *edges);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Object graphs that no parameter of the performance model was fitted to: bench/held-out compares its predictions with their
 * marks.  The same calls build the same graph in the same order in each run.
 */
#ifndef SGC_BENCH_UNSEEN_SHAPES_H
#define SGC_BENCH_UNSEEN_SHAPES_H

#include <stddef.h>

enum unseen { CHAINS, TRIE, ROPE, SPARSE, WEB };
#define UNSEEN_WORDS "chains|trie|rope|sparse|web"

/* What a graph has, counted while it is built. */
struct tally {
    size_t objects, edges;
};

/*
 * A graph of about so many bytes, and its root, which alone keeps all of it.  Collections must be disabled meanwhile: while it
 * is made, parts of it are known to malloc's memory only.
 *
 * CHAINS  a hash table whose chains have skewed lengths (a few are thousands of times as long as most); each entry has a key
 *         without pointers
 * TRIE    a trie of keys of 12 letters, some letters more frequent than others; nodes have 30 places, most of which are empty
 * ROPE    strands of nodes with two parts each, which other strands use, too, so that nearly each node has several users and
 *         the deepest is as far from the root as a strand is long; some parts are texts without pointers
 * SPARSE  a matrix by rows: a large array of pointers to rows of 1 to 16 pointers to cells without pointers; rows are made in
 *         random order
 * WEB     nodes that know their neighbours and are known to them, by an array each; how many there are follows a power law
 */
void *build_unseen(enum unseen shape, size_t bytes, struct tally *tally);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Allocation sites: who has allocated how much, and how much of that lives.  A site is a stack of
 * program counters, a kind of objects and a size, of large objects about a size.
 *
 * Each sample stands for `weight` objects (alloc/small/countdown_rules.h).  An object that is a
 * sample is in the table of those that live until it is freed, or a cycle finds it dead.
 *
 *   what          written by                             read by       ordering
 *   the tables    any mutator; the collecting thread,    the same      sites' lock; with the world stopped
 *                 world stopped                                        nobody has it
 *
 * The tables grow under the lock, by one system call now and then, in a section: a stop waits for
 * it.
 */
#ifndef SGC_GC_PROFILE_SITES_H
#define SGC_GC_PROFILE_SITES_H

#include "gc/profile/table.h"
#include "platform/section/lock.h"

enum { SGC_SITE_FRAMES = 64 };          /* deeper stacks are cut where they begin */

struct sgc_site_amount {
    double objects, bytes;
};

struct sgc_site {
    struct sgc_table_link link;
    uint32_t frame;                     /* its first one in the list of frames: the innermost */
    uint16_t frames;
    uint8_t kind;
    uint8_t unused;
    uint64_t bytes;                     /* of an object; of large ones, of the first that came */
    uint64_t samples;                   /* of those that live, as they are counted: */
    struct sgc_site_amount allocated, live;
};

/* The sites of one moment: each frame is a number in `place`, of program counters. */
struct sgc_sites_copy {
    void *memory;
    size_t memory_bytes;
    struct sgc_site *site;
    uint32_t *frame;
    uintptr_t *place;
    uint32_t sites, places;
    uint64_t lost;                      /* samples that there was no memory for */
};

struct sgc_sample {
    uintptr_t object;
    size_t bytes;
    uint32_t kind;
    double weight;
    const uintptr_t *place;             /* program counters, the innermost first */
    int places;
};

SGC_INNER struct sgc_lock sgc_sites_lock;

/* False: there is no memory. */
bool sgc_sites_open(void);

/* An object that nobody else knows is a sample.  Outside sections. */
void sgc_sites_add(struct sgc_section *self, const struct sgc_sample *sample);

/* The object, if it is one, is freed.  Outside sections. */
void sgc_sites_freed(struct sgc_section *self, uintptr_t object);

/* Samples that are not allocated any more are forgotten.  World stopped, allocation bits are those
 * of the marked objects. */
void sgc_sites_flip(void);

/* The number of the site of an object that is a sample, which stays; SGC_TABLE_NONE: it is none.
 * World stopped. */
uint32_t sgc_sites_of(uintptr_t object);

/* A site by its number, from 0; NULL: there are no more.  World stopped. */
const struct sgc_site *sgc_sites_at(uint32_t number);

/* Each object that is a sample and lives, with the number of its site.  World stopped. */
void sgc_sites_each(void (*visit)(void *arg, uintptr_t object, uint32_t site), void *arg);

/* The program counters of a site, up to `max`; how many.  World stopped, self NULL; or outside
 * sections. */
int sgc_sites_stack(struct sgc_section *self, uint32_t site, uintptr_t *place, int max);

/* False: there is no memory.  World stopped, self NULL; or outside sections. */
bool sgc_sites_copy(struct sgc_section *self, struct sgc_sites_copy *copy);
void sgc_sites_drop_copy(struct sgc_sites_copy *copy);

#endif

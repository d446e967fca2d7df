/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts: each text has one, from 0.  Several things may have one text as their name,
 * and have to be told apart then: of each text it is known whether it has been given to more than
 * one.  By one thread.
 */
#ifndef SGC_SNAPSHOT_TEXTS_H
#define SGC_SNAPSHOT_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#define SGC_TEXTS_NONE UINT32_MAX

struct sgc_text {
    char *text;
    const void *owner;                  /* the first thing that has that name; NULL: not known */
    bool shared;                        /* another one has it, too */
};

struct sgc_texts {
    struct sgc_text *of;
    uint32_t count, capacity;
    void *tree;                         /* of tsearch(3) */
};

/* The number of a text, which is the name of `owner`, if that is not NULL; SGC_TEXTS_NONE: there is
 * no memory. */
uint32_t sgc_texts_number(struct sgc_texts *texts, const char *text, const void *owner);
void sgc_texts_release(struct sgc_texts *texts);

#endif

/* SPDX-License-Identifier: MIT */
/* The options of ACDC: read once by main, then only read. */
#ifndef ACDC_OPTIONS_H
#define ACDC_OPTIONS_H

#include <stdbool.h>

struct memory;

enum { THREADS_MOST = 58, LIFETIME_MOST = 1000 };
enum model { PERSISTENT, SHORT_TERM };
enum { LAZY, EAGER };

struct options {
    /* [SCM-C] 5.3.1, and the multiplier of 5.3.2. */
    long model;
    long duration;                      /* times that a thread's time goes up */
    long size_least, size_most;         /* classes: powers of two */
    long threshold;                     /* 2^threshold bytes are a unit of time */
    long lifetime;                      /* the longest, in units */
    long threads;
    long shared;                        /* is anything? */
    long share_ratio;                   /* %, of the objects */
    long multiplier;
    long seed;

    long think;                         /* logarithms after each batch */
    long drift;                         /* units that a thread may be ahead of another; 0: any number */
    long access;                        /* % of the live objects that are written to before each batch; -1: none is touched */

    /* Of the memory. */
    struct memory *memory;
    const char *libscm;                 /* path of the library */
    long mode;                          /* SGC_SHORTTERM_... */
    long collect;                       /* LAZY or EAGER */
    long step, extension, page;         /* -1: as it is without a word */
    long dated;                         /* objects have a date from the beginning, and ACDC's references are no roots */
    long early;                         /* a mistake: each refresh is a unit too short */
    long plain;                         /* objects for pointer-free memory */

    /* What is measured. */
    long cost, trace, check, tsv;
};

/* Reads them, or ends the program: with status 2 and a message, or with 0 after --help. */
struct options options_read(int argc, char **argv);

/* Prints them. */
void options_print(const struct options *options);

/* Ends the program with status 2. */
void refuse(const char *what, const char *text, const char *expected);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The format of heap snapshots, for who writes and who reads them; doc/snapshot-format.md describes
 * it.  Constants and pure functions only.
 *
 *   file      a start, then blocks
 *   block     a head, then up to SGC_SNAPSHOT_BLOCK bytes of one section
 *   section   consecutive blocks with its number; the sections come in one order
 *
 * Numbers in heads and in the start are little-endian; those in blocks are varints: seven bits a
 * byte, the lowest first, the highest bit of a byte saying that another follows.  A signed number
 * is made unsigned by sgc_snapshot_zigzag.
 */
#ifndef SGC_GC_SNAPSHOT_FORMAT_RULES_H
#define SGC_GC_SNAPSHOT_FORMAT_RULES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "heads are written as the machine has them");

#define SGC_SNAPSHOT_MAGIC "SGCsnap\n"
#define SGC_SNAPSHOT_ORDER UINT32_C(0x04030201)

enum {
    SGC_SNAPSHOT_VERSION = 3,
    SGC_SNAPSHOT_VERSION_MIN = 2,       /* that can be read: without names, modules, types and
                                           threads */
    SGC_SNAPSHOT_BLOCK = 1 << 16,
    SGC_SNAPSHOT_KINDS = 16,            /* of objects, at most */
    SGC_SNAPSHOT_NAME = 64,             /* bytes of a kind's or a thread's name, with the end */
    SGC_SNAPSHOT_PATH = 4096,           /* of a module's path, */
    SGC_SNAPSHOT_BUILD_ID = 32,         /* and of its build id */
    SGC_SNAPSHOT_TYPES = 8191,          /* at most, so that the number of one has two bytes */
    SGC_SNAPSHOT_FRAMES = 64,           /* of an allocation site, at most */
};

struct sgc_snapshot_start {
    char magic[8];
    uint32_t version;
    uint32_t order;                     /* of bytes: SGC_SNAPSHOT_ORDER as the writer has it */
};

struct sgc_snapshot_head {
    uint32_t section, bytes;
    uint32_t crc;                       /* of the two words before and the bytes */
};

/* In a file they stand in this order, but where it says otherwise. */
enum sgc_snapshot_section {
    SGC_SECTION_HEADER = 1,             /* numbers, below */
    SGC_SECTION_PUSHED,                 /* what the program's hook has pushed */
    SGC_SECTION_KINDS,                  /* of objects */
    SGC_SECTION_DISTANCES,              /* at which a heap word may point behind an object's start,
                                           if not everywhere */
    SGC_SECTION_NODES,                  /* memory nodes, and the homes of arenas */
    SGC_SECTION_PAGES,                  /* with objects, and what is allocated there */
    SGC_SECTION_WORDS,                  /* of objects, that lie in the heap's range */
    SGC_SECTION_ROOTS,                  /* ranges, and their words that do */
    SGC_SECTION_KEPT,                   /* addresses in the tables of finalization */
    SGC_SECTION_NOTED,                  /* what only the mark came to know: words that procedures
                                           pushed */
    SGC_SECTION_TRAILER,                /* numbers, below; the last section */
    SGC_SECTION_MODULES,                /* that are loaded; behind KINDS */
    SGC_SECTION_THREADS,                /* their names; behind MODULES */
    SGC_SECTION_TYPES,                  /* that WORDS has numbers of: where in a module first words
                                           of objects point; behind WORDS */
    SGC_SECTION_SITES,                  /* stacks that allocated objects, and which ones; behind
                                           TYPES, and only if samples were taken */
    SGC_SECTIONS
};

/* The numbers of the header, each a varint, after how many they are.  New ones come at the end
 * only. */
enum sgc_snapshot_number {
    SGC_HEADER_BASE,                    /* address of the heap's first byte */
    SGC_HEADER_LIMIT,                   /* bytes of it that are committed */
    SGC_HEADER_WORD,                    /* bytes */
    SGC_HEADER_GRANULE_LOG,
    SGC_HEADER_PAGE_LOG,
    SGC_HEADER_ARENA_LOG,
    SGC_HEADER_FLAGS,
    SGC_HEADER_CYCLE,                   /* number of the collection */
    SGC_HEADER_PROCESS,
    SGC_HEADER_MARKERS,                 /* that the program uses at most */
    SGC_HEADER_SPLIT_BYTES,             /* of the pieces in which large objects are scanned; 0:
                                           whole */
    SGC_HEADER_NUMBERS
};

enum sgc_snapshot_flag {
    SGC_SNAPSHOT_INTERIOR = 1,          /* all interior pointers count in the heap and in static
                                           data, too */
    SGC_SNAPSHOT_END_WORD = 2,          /* a root that equals an object's first address may mean the
                                           one that ends there */
};

/* The numbers of the trailer, likewise. */
enum sgc_snapshot_count {
    SGC_TRAILER_BLOCKS,                   /* before the trailer's */
    SGC_TRAILER_PAGES,                    /* records */
    SGC_TRAILER_OBJECTS,
    SGC_TRAILER_BYTES,                    /* of objects */
    SGC_TRAILER_WORDS,                    /* of objects */
    SGC_TRAILER_RANGES,
    SGC_TRAILER_ROOTS,                    /* words of ranges */
    SGC_TRAILER_KEPT,
    SGC_TRAILER_PUSHED,                   /* records */
    SGC_TRAILER_PUSHED_WORDS,
    SGC_TRAILER_NOTED,                    /* records */
    SGC_TRAILER_NOTED_WORDS,              /* and objects marked by hand */
    SGC_TRAILER_MODULES,
    SGC_TRAILER_TYPED,                    /* objects whose first word points into one */
    SGC_TRAILER_THREADS,
    SGC_TRAILER_COUNTS,
    SGC_TRAILER_COUNTS_2 = SGC_TRAILER_MODULES,     /* of version 2 */
};

/* Flags of a kind. */
enum {
    SGC_SNAPSHOT_KIND_UNCOLLECTABLE = 1,
    SGC_SNAPSHOT_KIND_DISCLAIMS = 2,
    SGC_SNAPSHOT_KIND_KEEPS_CONTENTS = 4,
    SGC_SNAPSHOT_KIND_TYPE_FIRST = 8,   /* the descriptor lies where an object's first word
                                           points */
};

/* The type of a page: with small objects, or of a span. */
enum { SGC_SNAPSHOT_SMALL = 1, SGC_SNAPSHOT_SPAN = 2 };

/* The type of a record in the section PUSHED; 0 ends the section. */
enum sgc_snapshot_pushed {
    SGC_SNAPSHOT_PUSHED_DATA = 1,       /* a range that is looked at as static data is, */
    SGC_SNAPSHOT_PUSHED_STACK,          /* or as a stack is */
    SGC_SNAPSHOT_PUSHED_OBJECT,         /* an object that the hook has allocated */
    SGC_SNAPSHOT_PUSHED_MARK,           /* one that it has marked by hand */
};

/* The type of a record in the section NOTED; 0 ends the section. */
enum sgc_snapshot_noted {
    SGC_SNAPSHOT_NOTED_OBJECT = 1,      /* a procedure's for an object */
    SGC_SNAPSHOT_NOTED_MEMORY,          /* a procedure's for something else */
    SGC_SNAPSHOT_NOTED_CONTENTS,        /* an object is looked into although it may have been marked
                                           by hand */
};

/* The type of an item in a procedure's record; 0 ends the record. */
enum sgc_snapshot_item { SGC_SNAPSHOT_ITEM_WORD = 1, SGC_SNAPSHOT_ITEM_MARK };

/* The type of an entry in the section KEPT, and of a range in the section ROOTS; 0 ends the
 * section. */
enum sgc_snapshot_root {
    SGC_SNAPSHOT_STATIC = 1, SGC_SNAPSHOT_ADDED, SGC_SNAPSHOT_STACK, SGC_SNAPSHOT_THREAD_LOCAL, SGC_SNAPSHOT_DATE,
    SGC_SNAPSHOT_FINALIZATION, SGC_SNAPSHOT_FINALIZER,
};
enum { SGC_SNAPSHOT_ROOT_BITS = 3 };    /* above them a range may have the number of a module, from 1 */

/* Small distances to either side become small numbers. */
static inline uint64_t sgc_snapshot_zigzag(uint64_t distance)
{
    return distance << 1 ^ (uint64_t)((int64_t)distance >> 63);
}

static inline uint64_t sgc_snapshot_unzigzag(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

/* ---- the CRC: that of IEEE 802.3, eight bytes at a time ---- */

struct sgc_snapshot_crc_table {
    uint32_t of[8][256];
};

static inline void sgc_snapshot_crc_prepare(struct sgc_snapshot_crc_table *table)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (UINT32_C(0xedb88320) & (0 - (crc & 1)));
        table->of[0][byte] = crc;
    }
    for (int step = 1; step < 8; step++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = table->of[step - 1][byte];

            table->of[step][byte] = before >> 8 ^ table->of[0][before & 255];
        }
}

static inline uint32_t sgc_snapshot_crc_four(const uint32_t of[4][256], uint32_t word)
{
    return of[3][word & 255] ^ of[2][word >> 8 & 255] ^ of[1][word >> 16 & 255] ^ of[0][word >> 24];
}

/* `crc`: that of the bytes before; of none 0. */
static inline uint32_t sgc_snapshot_crc(const struct sgc_snapshot_crc_table *table, uint32_t crc, const void *data,
                                        size_t bytes)
{
    const unsigned char *p = data;

    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint32_t word[2];

        memcpy(word, p, sizeof word);
        crc = sgc_snapshot_crc_four(table->of + 4, word[0] ^ crc) ^ sgc_snapshot_crc_four(table->of, word[1]);
    }
    for (; bytes != 0; bytes--, p++)
        crc = crc >> 8 ^ table->of[0][(crc ^ *p) & 255];
    return ~crc;
}

#endif

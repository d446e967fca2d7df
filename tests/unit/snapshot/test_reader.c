/* SPDX-License-Identifier: MIT */
/*
 * snapshot/: a snapshot that is cut off, damaged, or none at all is refused with a message.  Those that somebody has
 * made who knows the checksums, tests/fuzz/fuzz_files.c makes.
 */
#include "sgc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gc/snapshot/format_rules.h"
#include "gc/gc_mark.h"
#include "gc/gc_typed.h"
#include "snapshot/graph.h"
#include "tests/lib/folder.h"
#include "tests/lib/random.h"

enum { FLIPS = 1000, MOST = 1 << 18, ALL_CUTS = 8192 };

static unsigned char whole[MOST], changed[MOST];
static size_t bytes;
static char problem[SGC_GRAPH_PROBLEM];

/* What is read, in memory: thousands of files are slow. */
static int file;
static char path[40];

static void write_file(const unsigned char *contents, size_t count)
{
    if (ftruncate(file, 0) != 0 || pwrite(file, contents, count, 0) != (ssize_t)count)
        tap_bail("%s cannot be written", path);
}

/* Can it be read?  If so, do its parts fit, and can what is reachable be found? */
static bool can_be_read(void)
{
    struct sgc_graph_reach reach = { .seen = NULL };
    struct sgc_graph g;
    bool read = sgc_graph_load_or(&g, path, SGC_GRAPH_AIMS | SGC_GRAPH_TYPES, problem);

    if (read && (sgc_graph_check(&g) != NULL || !sgc_graph_reach(&g, SGC_GRAPH_ALL_ROOTS, &reach) ||
                 reach.objects > g.objects)) {
        tap_diag("%s", sgc_graph_check(&g) != NULL ? sgc_graph_check(&g) : "more is reached than there is");
        problem[0] = '\0';
        read = false;
    }
    sgc_graph_reach_release(&reach);
    sgc_graph_release(&g);
    return read;
}

/* Has each sort of record left something? */
static bool has_all(void)
{
    uint32_t found = 0;
    struct sgc_graph g;
    bool all = sgc_graph_load_or(&g, path, SGC_GRAPH_AIMS, problem);

    for (uint32_t i = 0; all && i < g.ranges; i++)
        if (g.range[i].first_root != g.range[i + 1].first_root)
            found |= SGC_GRAPH_BIT(g.range[i].root);
    all = all && (found & SGC_GRAPH_BIT(SGC_GRAPH_HOOK)) != 0 && (found & SGC_GRAPH_BIT(SGC_GRAPH_PROCEDURE)) != 0 &&
          g.procedure_objects == 1 && g.procedure_edges == 4 && g.by_hand == 2;
    sgc_graph_release(&g);
    return all;
}

static bool is_refused(void)
{
    return !can_be_read() && problem[0] != '\0';
}

/* What it finds, and the objects that it marks, are in no object and no root; an entry is memory that is no object. */
static GC_word outside[8];
static void *by_hand;

struct entry {
    void *start;
    GC_word descriptor;
};

static struct GC_ms_entry *mark_outside(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct entry *next = (struct entry *)top + 1;

    for (int i = 0; object[0] != 0 && i < 3; i++)
        top = GC_MARK_AND_PUSH((void *)~outside[i], top, limit, NULL);
    if (object[0] == 0 || env != 0)
        return top;
    GC_set_mark_bit(GC_REVEAL_POINTER(by_hand));
    *next = (struct entry){ outside + 4, GC_MAKE_PROC(GC_RESERVED_MARK_PROCS, 1) };
    return (struct GC_ms_entry *)next;
}

static void push_roots(void)
{
    void *words[2] = { GC_MALLOC(32), (void *)~outside[3] };

    GC_push_all_eager(words, words + 2);
    GC_push_all(words, words + 1);
    GC_set_mark_bit((void *)~outside[7]);
}

static void *make_outside(void)
{
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(GC_new_proc(mark_outside), 0), 0, 1);
    GC_word *object = GC_generic_malloc(16, kind);

    for (int i = 0; i < 8; i++)
        outside[i] = ~(GC_word)GC_MALLOC(64);
    by_hand = (void *)GC_HIDE_POINTER(GC_MALLOC(64));
    object[0] = 1;
    return object;
}

/* Small, of a program with as few roots as can be; with large objects, types, procedures, a hook, allocation sites. */
static void make_snapshot(void)
{
    static void *volatile kept[5];
    GC_word bits[1] = { 5 };
    int fd;

    GC_INIT();
    SGC_set_profile_rate(1);
    kept[4] = make_outside();
    GC_set_push_other_roots(push_roots);
    kept[0] = GC_MALLOC(100000);
    kept[1] = GC_MALLOC_EXPLICITLY_TYPED(32, GC_make_descriptor(bits, 4));
    *(void **)kept[1] = GC_MALLOC(64);
    kept[2] = GC_MALLOC_ATOMIC(5000);
    kept[3] = GC_MALLOC_UNCOLLECTABLE(16);
    ((void **)kept[0])[7] = kept[1];
    if (SGC_write_heap_snapshot(folder_path("whole")) != 0)
        tap_bail("no snapshot");
    fd = open(folder_path("whole"), O_RDONLY);
    bytes = (size_t)read(fd, whole, sizeof whole);
    close(fd);
    tap_diag("%zu bytes", bytes);
}

/* ---- cut off, and flipped ---- */

static void test_cut(void)
{
    size_t wrong = 0, step = bytes > ALL_CUTS ? bytes / ALL_CUTS + 1 : 1;

    write_file(whole, bytes);
    tap_ok(can_be_read(), "the whole file is read");
    tap_ok(has_all(), "with what a hook and procedures have pushed and marked");
    for (size_t length = bytes - 1; length < bytes; length -= step) {
        if (ftruncate(file, (off_t)length) != 0 || !is_refused())
            wrong++;
        if (length < step)
            break;
    }
    tap_ok(wrong == 0, "cut off anywhere it is refused with a message");
}

static void flip(unsigned char *contents, size_t bit)
{
    contents[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void test_flipped(void)
{
    uint64_t seed = 7;
    int wrong = 0;

    memcpy(changed, whole, bytes);
    for (int i = 0; i < FLIPS; i++) {
        size_t bit = random_below(&seed, (uint32_t)(bytes * 8));

        flip(changed, bit);
        write_file(changed, bytes);
        wrong += !is_refused();
        flip(changed, bit);
    }
    tap_ok(wrong == 0, "with any of %d bits flipped, likewise", FLIPS);
}

/* ---- wrong numbers, with right checksums ---- */

/* The block of that section in what was written; NULL: there is none. */
static unsigned char *block_of(uint32_t section)
{
    struct sgc_snapshot_head head;

    for (size_t at = sizeof(struct sgc_snapshot_start); at < bytes; at += sizeof head + head.bytes) {
        memcpy(&head, changed + at, sizeof head);
        if (head.section == section)
            return changed + at;
    }
    return NULL;
}

static void set_checksum(unsigned char *block)
{
    static struct sgc_snapshot_crc_table table;
    struct sgc_snapshot_head head;

    sgc_snapshot_crc_prepare(&table);
    memcpy(&head, block, sizeof head);
    head.crc = sgc_snapshot_crc(&table, 0, &head, offsetof(struct sgc_snapshot_head, crc));
    head.crc = sgc_snapshot_crc(&table, head.crc, block + sizeof head, head.bytes);
    memcpy(block, &head, sizeof head);
}

/* Another program's addresses may be anything, but no number leads out of the graph. */
static void test_wrong_sites(void)
{
    unsigned char *block;
    struct sgc_snapshot_head head;
    int wrong = 0, refused = 0;

    memcpy(changed, whole, bytes);
    block = block_of(SGC_SECTION_SITES);
    if (block == NULL)
        tap_bail("no section of sites");
    memcpy(&head, block, sizeof head);
    for (size_t bit = sizeof head * 8; bit < (sizeof head + head.bytes) * 8; bit++) {
        flip(block, bit);
        set_checksum(block);
        write_file(changed, bytes);
        if (!can_be_read())
            problem[0] == '\0' ? wrong++ : refused++;
        flip(block, bit);
    }
    tap_ok(wrong == 0 && refused > 0, "sites with any bit flipped, and the right checksum, are refused or are sites: %d of %u "
           "are refused", refused, head.bytes * 8);
}

/* ---- version 2 ---- */

/* A file that has an input's number before it. */
static bool take_seed(const char *name)
{
    const char *top = getenv("SGC_SRCDIR");
    char seed[600];
    ssize_t count;
    int fd;

    snprintf(seed, sizeof seed, "%s/tests/fuzz/seeds/files/%s", top != NULL ? top : ".", name);
    fd = open(seed, O_RDONLY | O_CLOEXEC);
    count = fd >= 0 ? read(fd, changed, sizeof changed) : 0;
    close(fd);
    if (count > 1)
        write_file(changed + 1, (size_t)count - 1);
    return count > 1 && changed[1 + 8] == 2;
}

static void read_version_2(const char *name, uint32_t procedure_edges)
{
    struct sgc_graph g;
    bool read = take_seed(name) && can_be_read() && sgc_graph_load_or(&g, path, SGC_GRAPH_TYPES, problem);

    tap_ok(read && g.objects > 1 && g.edges > 0 && g.procedure_edges == procedure_edges, "version 2 is read: %s", name);
    tap_ok(read && g.modules == 0 && g.types == 0 && g.threads == 0 && g.kind[1].name[0] == '\0' &&
           g.type_of[0] == SGC_GRAPH_NO_TYPE, "and has no names");
    if (read)
        sgc_graph_release(&g);
}

static void test_version_2(void)
{
    read_version_2("snapshot", 0);
    read_version_2("snapshot_with_procedures", 4);
}

/* ---- messages ---- */

static void refuse(const char *contents, size_t count, const char *part, const char *name)
{
    write_file((const unsigned char *)contents, count);
    tap_ok(is_refused() && strstr(problem, part) != NULL, "%s: %s", name, problem);
}

static void test_messages(void)
{
    struct sgc_snapshot_start start = { { 'S', 'G', 'C', 's', 'n', 'a', 'p', '\n' }, SGC_SNAPSHOT_VERSION, SGC_SNAPSHOT_ORDER };

    refuse("", 0, "cut off after 0 bytes", "an empty file");
    refuse("#!/bin/sh\n", 10, "no heap snapshot", "a foreign file");
    start.version++;
    refuse((const char *)&start, sizeof start, "version 4, expected 2 to 3", "a newer one");
    start.version = 1;
    refuse((const char *)&start, sizeof start, "version 1, expected 2 to 3; write it anew", "an older one");
    start.version = SGC_SNAPSHOT_VERSION;
    start.order = UINT32_C(0x01020304);
    refuse((const char *)&start, sizeof start, "order of bytes", "one of another machine");
    refuse("\x28\xb5\x2f\xfd----", 8, "unpack", "a packed one that is damaged, or that this build cannot read");
    tap_ok(!sgc_graph_load_or(&(struct sgc_graph){ .cycle = 0 }, folder, 0, problem) &&
           strstr(problem, "cannot be read") != NULL, "a folder: %s", problem);
}

int main(void)
{
    folder_make();
    file = memfd_create("snapshot", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    make_snapshot();
    tap_each(test_cut, test_flipped, test_wrong_sites, test_version_2, test_messages);
    folder_remove();
    return tap_done();
}

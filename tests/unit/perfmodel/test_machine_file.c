/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/machine/machine_file.c, machine_check.c and machine.c: what is read from a machine file, each mistake that is
 * refused with its message, writing and reading again, distances, and the files that SGC has.
 */
#include <dirent.h>
#include <math.h>
#include <string.h>

#include "perfmodel/machine/machine_file.h"
#include "tests/lib/tap.h"

static const char right[] =
    "# a machine\n"
    "name small  # no unit\n"
    "processors 8\nnodes 4\nplacement first-touch\nnetwork hypercube\nnodes_a_router 1\nhop_ns 50\n"
    "read_local_ns 100\nread_remote_ns 200.5\nrmw_local_ns 110\nrmw_remote_ns 220\n"
    "read_occupancy_ns 10\nrmw_occupancy_ns 20\noccupancy measured\n"
    "cache1_bytes 1024\ncache1_ways 2\ncache1_line_bytes 64\ncache1_hit_ns 1\ncache1_shared_by 1\n"
    "cache2_bytes 12288\ncache2_ways 3\ncache2_line_bytes 64\ncache2_hit_ns 5\ncache2_shared_by 2\n"
    "object_ns 1\nword_ns 2\nedge_ns 3\nmark_ns 4\nmark_rmw_ns 5\npush_ns 6\npop_ns 7\nsteal_ns 8\nlock_ns 9\n";

static struct sgc_machine machine;
static char message[SGC_MACHINE_MESSAGE];

static bool read_text(const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    bool read = sgc_machine_read_text(&machine, file, "m", message);

    fclose(file);
    return read;
}

/* The right text with `from`, which is to be found once, replaced. */
static const char *changed(const char *from, const char *to)
{
    static char text[4096];
    const char *at = strstr(right, from);

    if (at == NULL)
        tap_bail("%s is not in the text", from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - right), right, to, at + strlen(from));
    return text;
}

static void refused(const char *from, const char *to, int line, const char *words)
{
    char place[16];
    bool read = read_text(changed(from, to));

    snprintf(place, sizeof place, "m:%d: ", line);
    if (!tap_ok(!read && strncmp(message, place, strlen(place)) == 0 && strstr(message, words) != NULL, "refused: %s", words))
        tap_diag("%s", read ? "it was read" : message);
}

static void test_values(void)
{
    tap_ok(read_text(right), "a right file is read");
    tap_ok(strcmp(machine.name, "small") == 0 && machine.processors == 8 && machine.nodes == 4 && machine.caches == 2,
           "its name, processors, nodes and caches");
    tap_ok(machine.placement == SGC_PLACED_FIRST_TOUCH && machine.network == SGC_NETWORK_HYPERCUBE &&
               machine.occupancy == SGC_KNOWN_MEASURED,
           "words");
    tap_ok(machine.latency_ns[SGC_MISS_READ][SGC_FAR] == 200.5 && machine.latency_ns[SGC_MISS_RMW][SGC_NEAR] == 110 &&
               machine.occupancy_ns[SGC_MISS_RMW] == 20,
           "memory");
    tap_ok(sgc_machine_last(&machine)->bytes == 12288 && machine.cache[1].ways == 3 && machine.cost.lock_ns == 9,
           "caches and costs");
    tap_ok(machine.misses_in_flight == 1 && machine.tlb.entries == 0 && machine.stream_mb_s == 0,
           "what is not there has its default");
}

static void test_lines(void)
{
    refused("nodes 4", "node 4", 4, "node: unknown key");
    refused("read_local_ns 100", "read_local_us 100", 9, "unknown key");
    refused("nodes 4", "nodes 4\nnodes 4", 5, "the key stands in line 4 already");
    refused("nodes 4", "nodes", 4, "expected one value");
    refused("nodes 4", "nodes 4 5", 4, "expected one value");
    refused("nodes 4", "nodes four", 4, "expected a whole number");
    refused("nodes 4", "nodes 3.5", 4, "expected a whole number");
    refused("nodes 4", "nodes 0", 4, "nodes 0: expected from 1 to 1024");
    refused("processors 8", "processors -8", 3, "expected from 1 to 4096");
    refused("hop_ns 50", "hop_ns 50ns", 8, "write only the number");
    refused("hop_ns 50", "hop_ns nan", 8, "expected a number");
    refused("hop_ns 50", "hop_ns 1e99", 8, "is the unit that of the key's name?");
    refused("network hypercube", "network hyper", 6, "expected one of flat|hypercube");
    refused("network hypercube", "network f", 6, "expected one of flat|hypercube");
    refused("lock_ns 9\n", "", 33, "ends without lock_ns");
    refused("name small  # no unit\n", "", 33, "ends without a name");
    tap_ok(!read_text("") && strstr(message, "ends without processors") != NULL, "an empty file is none");
}

static void test_values_together(void)
{
    refused("processors 8", "processors 9", 3, "expected a multiple of nodes 4");
    refused("nodes_a_router 1", "nodes_a_router 3", 7, "expected a divisor of nodes 4");
    refused("read_occupancy_ns 10", "read_occupancy_ns 101", 13, "expected at most read_local_ns 100");
    refused("rmw_occupancy_ns 20", "rmw_occupancy_ns 111", 14, "expected at most rmw_local_ns 110");
    refused("rmw_occupancy_ns 20", "rmw_occupancy_ns 9", 14, "expected at least that of reads, 10");
    refused("rmw_local_ns 110", "rmw_local_ns 90", 11, "expected at least that of reads, 100");
    refused("rmw_remote_ns 220", "rmw_remote_ns 150", 12, "expected at least that of reads, 200.5");
    refused("read_remote_ns 200.5", "read_remote_ns 99", 10, "expected at least read_local_ns 100");
    refused("cache1_line_bytes 64", "cache1_line_bytes 48", 18, "expected a power of two");
    refused("cache1_bytes 1024", "cache1_bytes 1000", 16, "expected a multiple of a set, 2 ways of 64 bytes");
    refused("cache2_bytes 12288", "cache2_bytes 768", 21, "expected at least the 1024 bytes of the cache before it");
    refused("cache2_shared_by 2", "cache2_shared_by 9", 25, "expected at most the 8 processors");
    refused("cache2_hit_ns 5", "cache2_hit_ns 101", 24, "to read_local_ns 100");
    refused("cache2_hit_ns 5", "cache2_hit_ns 0.5", 24, "expected from that of the cache before it");
    refused("cache2_ways 3\n", "", 21, "expected cache2_ways");
    refused("cache2_bytes 12288\n", "", 33, "expected cache2_bytes beside its other keys");
    refused("cache2_bytes 12288\ncache2_ways 3\ncache2_line_bytes 64\ncache2_hit_ns 5\ncache2_shared_by 2\n",
            "cache3_bytes 12288\ncache3_ways 3\ncache3_line_bytes 64\ncache3_hit_ns 5\ncache3_shared_by 2\n", 21,
            "expected a second cache, too");
    refused("lock_ns 9", "lock_ns 9\ntlb_entries 10\ntlb_ways 4", 35, "expected a multiple of tlb_ways 4");
    refused("lock_ns 9", "lock_ns 9\ntlb_page_bytes 5000", 35, "tlb_page_bytes 5000: expected a power of two");
}

/* ---- distances ---- */

static void test_distances(void)
{
    read_text(right);
    tap_ok(sgc_machine_node_of(&machine, 0) == 0 && sgc_machine_node_of(&machine, 1) == 0 &&
               sgc_machine_node_of(&machine, 7) == 3,
           "processors fill one node after the other");
    tap_ok(sgc_machine_node_of(&machine, 9) == 0, "more than there are begin again");
    tap_ok(sgc_machine_latency(&machine, SGC_MISS_READ, 2, 2) == 100 &&
               sgc_machine_latency(&machine, SGC_MISS_READ, 0, 1) == 250.5 &&
               sgc_machine_latency(&machine, SGC_MISS_RMW, 0, 3) == 320,
           "a hop more for each digit in which corners differ");
    tap_ok(fabs(sgc_machine_mean_latency(&machine, SGC_MISS_READ, 8, 0) - (100 + 250.5 + 250.5 + 300.5) / 4) < 1e-9,
           "the mean over all processors");
    tap_ok(sgc_machine_mean_latency(&machine, SGC_MISS_READ, 1, 0) == 100, "one processor is near its own node");
    read_text(changed("nodes_a_router 1", "nodes_a_router 2"));
    tap_ok(sgc_machine_latency(&machine, SGC_MISS_READ, 0, 1) == 200.5 &&
               sgc_machine_latency(&machine, SGC_MISS_READ, 0, 2) == 250.5,
           "nodes of a corner are as near as the nearest");
    read_text(changed("network hypercube", "network flat"));
    tap_ok(sgc_machine_latency(&machine, SGC_MISS_READ, 0, 3) == 200.5, "a flat network has no hops");
}

/* ---- writing ---- */

static const char *source(void *arg, const char *key)
{
    return strcmp(key, "nodes") == 0 ? arg : "";
}

static void test_written(void)
{
    static char text[8192], said[] = "counted";
    struct sgc_machine before;
    FILE *file = fmemopen(text, sizeof text, "w");

    read_text(right);
    before = machine;
    sgc_machine_write(&machine, file, source, said);
    fclose(file);
    tap_ok(read_text(text) && memcmp(&before, &machine, sizeof machine) == 0, "what was written is read again");
    tap_ok(strstr(text, "nodes 4    # counted\n") != NULL && strstr(text, "\nhop_ns 50\n") != NULL,
           "with the sources that are known");
}

/* ---- the files that there are ---- */

static void test_find(void)
{
    char path[4096];

    tap_ok(!sgc_machine_find("nowhere", "/nonexistent", path, sizeof path, message) &&
               strstr(message, "nowhere: unknown machine"),
           "a name that no file has is unknown");
    tap_ok(sgc_machine_find("/some/file", "/nonexistent", path, sizeof path, message) && strcmp(path, "/some/file") == 0,
           "with a slash it is a file");
    tap_ok(!sgc_machine_read(&machine, "/nonexistent/file", message) && strstr(message, "No such file") != NULL,
           "which cannot be read if it is not there");
}

/* Each number of a file is followed by where it is from. */
static bool has_sources(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    bool all = file != NULL;

    while (all && fgets(line, sizeof line, file) != NULL)
        if (line[0] != '#' && line[0] != '\n' && strncmp(line, "name ", 5) != 0 && strstr(line, " # ") == NULL) {
            tap_diag("%s: %s", path, line);
            all = false;
        }
    if (file != NULL)
        fclose(file);
    return all;
}

static void test_own_files(void)
{
    static const char *const names[] = { "o2k", "e10k", "rome2" };
    const char *top = getenv("SGC_SRCDIR");
    char folder[2048], path[4096];

    snprintf(folder, sizeof folder, "%s/perfmodel/machines", top != NULL ? top : ".");
    for (int i = 0; i < 3; i++) {
        bool read = sgc_machine_find(names[i], folder, path, sizeof path, message) && sgc_machine_read(&machine, path, message);

        if (!tap_ok(read && strcmp(machine.name, names[i]) == 0, "%s is read", names[i]))
            tap_diag("%s", message);
        tap_ok(has_sources(path), "each of its values has a source, or is assumed");
    }
}

/* Table 4.1 of the thesis. */
static void test_table(void)
{
    const char *top = getenv("SGC_SRCDIR");
    char path[4096];

    snprintf(path, sizeof path, "%s/perfmodel/machines/o2k.machine", top != NULL ? top : ".");
    tap_ok(sgc_machine_read(&machine, path, message) && machine.latency_ns[SGC_MISS_READ][SGC_NEAR] == 270 &&
               machine.latency_ns[SGC_MISS_READ][SGC_FAR] == 590 && machine.latency_ns[SGC_MISS_RMW][SGC_NEAR] == 850 &&
               machine.latency_ns[SGC_MISS_RMW][SGC_FAR] == 1400 && machine.occupancy_ns[SGC_MISS_READ] == 230 &&
               machine.occupancy_ns[SGC_MISS_RMW] == 490,
           "o2k has table 4.1");
    snprintf(path, sizeof path, "%s/perfmodel/machines/e10k.machine", top != NULL ? top : ".");
    tap_ok(sgc_machine_read(&machine, path, message) && machine.latency_ns[SGC_MISS_READ][SGC_NEAR] == 560 &&
               machine.latency_ns[SGC_MISS_READ][SGC_FAR] == 560 && machine.latency_ns[SGC_MISS_RMW][SGC_NEAR] == 610 &&
               machine.occupancy_ns[SGC_MISS_READ] == 250 && machine.occupancy_ns[SGC_MISS_RMW] == 420,
           "so has e10k");
}

int main(void)
{
    return tap_all(test_values, test_lines, test_values_together, test_distances, test_written, test_find,
                   test_own_files, test_table);
}

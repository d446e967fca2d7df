/* SPDX-License-Identifier: MIT */
/* Simulated caches and memory nodes, request by request: perfmodel/sim/memory.c, occupied.h, prefetcher.h, queue.h. */
#include "perfmodel/sim/memory.h"

#include "perfmodel/sim/occupied.h"
#include "perfmodel/sim/prefetcher.h"
#include "perfmodel/sim/queue.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { NS = 1000, LINE = 64, PAGE = 65536 };

static const struct sgc_sim_layout layout = {
    .bytes = 1 << 22, .objects = 1 << 20, .bits = 1 << 20, .bits_end = (1 << 20) + 16384, .tables = 1 << 21,
    .tables_end = (1 << 21) + 512, .bits_per_page = 1024, .table_per_page = 32, .page = PAGE,
};

/* Two nodes of two markers each; caches of two sets of two lines. */
static struct sgc_sim_machine machine_of(double handover)
{
    return (struct sgc_sim_machine){
        .nodes = 2, .per_node = 2, .line_bytes = LINE, .os_page_bytes = 4096, .cache_bytes = 4 * LINE, .ways = 2,
        .in_flight = 2, .near = 2, .handover = { handover, 2 * handover }, .memory = { { 100, 160, 40 }, { 200, 300, 60 } },
    };
}

static void begin(double handover, bool contention, enum sgc_sim_homes objects, const uint16_t *home, bool balance)
{
    struct sgc_sim_machine machine = machine_of(handover);
    struct sgc_sim_placement placement = { objects, home, balance };

    if (!sgc_sim_memory_begin(&machine, &layout, &placement, 4, contention))
        tap_bail("no memory for simulated caches");
}

static uint64_t ready;

static bool hit(uint32_t marker, size_t offset, bool write)
{
    return sgc_sim_memory_hit(marker, offset, write, 0, &ready);
}

/* Made then, if nothing else arrives before it does. */
static uint64_t fetch(uint32_t marker, size_t offset, enum sgc_sim_request request, uint64_t now)
{
    now += sgc_sim_memory_way(marker, offset, request);
    return sgc_sim_memory_request(marker, offset, request == SGC_SIM_REQUEST_UPDATE, request, now);
}

static uint64_t fetch_read(uint32_t marker, size_t offset, uint64_t now)
{
    return fetch(marker, offset, SGC_SIM_REQUEST_READ, now);
}

static uint64_t fetch_update(uint32_t marker, size_t offset, uint64_t now)
{
    return fetch(marker, offset, SGC_SIM_REQUEST_UPDATE, now);
}

/* ---- copies ---- */

static void keeps_copies(void)
{
    begin(0, true, SGC_SIM_ONE_NODE, NULL, true);
    tap_ok(!hit(0, 0, false), "nothing is in a cache at first");
    fetch_read(0, 0, 0);
    tap_ok(hit(0, LINE - 1, false) && !hit(0, LINE, false) && !hit(1, 0, false), "a line that was read is, for its marker");
    tap_ok(hit(0, 0, true), "if nobody else has read it, it is the marker's to write");
    fetch_read(0, 2 * LINE, 0);
    fetch_read(0, 4 * LINE, 0);
    tap_ok(!hit(0, 0, false) && hit(0, 2 * LINE, false) && hit(0, 4 * LINE, false),
           "of a set the line goes that was used first");
}

static void loses_copies_to_writers(void)
{
    begin(0, true, SGC_SIM_ONE_NODE, NULL, true);
    fetch_read(0, 0, 0);
    fetch_read(1, 0, 0);
    tap_ok(!hit(0, 0, true) && !hit(1, 0, true) && hit(0, 0, false), "what two have read is nobody's to write");
    fetch_update(1, 0, 0);
    tap_ok(!hit(0, 0, false) && hit(1, 0, true), "who writes has the only copy");
    fetch_read(0, 0, 0);
    tap_ok(hit(0, 0, false) && hit(1, 0, false) && !hit(1, 0, true),
           "when it is read, both have copies, and nobody may write");
    fetch_update(0, 0, 0);
    tap_ok(!hit(1, 0, false) && hit(0, 0, true), "who writes next has it again");
}

/* ---- times ---- */

static void takes_time(void)
{
    begin(0, true, SGC_SIM_ONE_NODE, NULL, true);
    tap_ok(fetch_read(0, 0, 1000 * NS) == 1100 * NS, "a read of the own node's memory takes M_1");
    tap_ok(fetch_read(2, 2 * LINE, 2000 * NS) == 2160 * NS, "one of another node's takes more");
    tap_ok(fetch_update(0, 4 * LINE, 3000 * NS) == 3200 * NS && fetch_update(3, 6 * LINE, 4000 * NS) == 4300 * NS,
           "an atomic operation has times of its own");
    tap_ok(fetch_read(0, 8 * LINE, 5000 * NS) == 5100 * NS && fetch_read(1, 10 * LINE, 5000 * NS) == 5140 * NS &&
           fetch_read(0, 12 * LINE, 5000 * NS) == 5180 * NS, "of requests at the same time each waits for those before");
    tap_ok(sgc_sim_server_of(0)->waited == 120 * NS && sgc_sim_server_of(0)->longest_wait == 80 * NS &&
           sgc_sim_server_of(0)->requests[SGC_SIM_REQUEST_READ] == 5 && sgc_sim_server_of(1)->busy == 0, "and that is counted");
    tap_ok(fetch_read(0, 16 * LINE, 6000 * NS) == 6100 * NS && fetch_read(2, 14 * LINE, 6000 * NS) == 6170 * NS,
           "who comes from far arrives later, and waits only where they meet");
    begin(0, false, SGC_SIM_ONE_NODE, NULL, true);
    tap_ok(fetch_read(0, 0, 0) == 100 * NS && fetch_read(1, 2 * LINE, 0) == 100 * NS, "without contention nobody waits");
}

static void hands_over(void)
{
    begin(25, true, SGC_SIM_ONE_NODE, NULL, true);
    fetch_update(0, 0, 0);
    tap_ok(fetch_read(1, 0, 1000 * NS) == 1025 * NS, "a line that a neighbour has written comes from there");
    fetch_update(0, 0, 2000 * NS);
    tap_ok(fetch_update(2, 0, 3000 * NS) == 3050 * NS, "from further away it takes longer");
    fetch_read(1, 0, 4000 * NS);
    tap_ok(fetch_read(3, 0, 5000 * NS) == 5160 * NS, "when it has been read since, it comes from its home");
}

static void asks_ahead(void)
{
    begin(0, true, SGC_SIM_ONE_NODE, NULL, true);
    tap_ok(sgc_sim_memory_ask(0, 0, false, 0) == 0 && hit(0, 0, false) && ready == 100 * NS, "who asks ahead goes on at once");
    tap_ok(sgc_sim_memory_ask(0, LINE, false, 0) == 0, "with two lines, too");
    tap_ok(sgc_sim_memory_ask(0, 2 * LINE, false, 0) == 100 * NS, "for a third it waits until the first is there");
}

/* Caches are so small that no line is found there. */
static void streams(void)
{
    struct sgc_sim_machine machine = machine_of(25);
    struct sgc_sim_placement placement = { SGC_SIM_ONE_NODE, NULL, true };
    uint64_t now = 10000 * NS;

    machine.stream = 50;
    if (!sgc_sim_memory_begin(&machine, &layout, &placement, 4, true))
        tap_bail("no memory for simulated caches");
    tap_ok(fetch_read(0, 4 * LINE, 0) == 100 * NS && fetch_read(0, 5 * LINE, 1000 * NS) == 1050 * NS,
           "a line behind one that was missed streams");
    tap_ok(fetch_read(0, 100 * LINE, 2000 * NS) == 2100 * NS && fetch_read(0, 6 * LINE, 3000 * NS) == 3050 * NS &&
           fetch_read(0, 101 * LINE, 4000 * NS) == 4050 * NS, "in each of several streams");
    tap_ok(fetch_read(0, 103 * LINE, 5000 * NS) == 5100 * NS && fetch_read(0, 5 * LINE, 6000 * NS) == 6100 * NS,
           "with none left out, and upwards only");
    tap_ok(fetch_read(2, 102 * LINE, 7000 * NS) == 7160 * NS, "another marker's streams are no help");
    fetch_update(1, 200 * LINE, 8000 * NS);
    fetch_read(0, 199 * LINE, 9000 * NS);
    tap_ok(fetch_read(0, 200 * LINE, 9500 * NS) == 9525 * NS, "what a marker has written comes from there");
    for (int i = 0; i < SGC_SIM_STREAMS; i++, now += 1000 * NS)
        fetch_read(0, (size_t)(1000 + 10 * i) * LINE, now);
    tap_ok(fetch_read(0, 102 * LINE, now) == now + 100 * NS && fetch_read(0, 1011 * LINE, now + 1000 * NS) == now + 1050 * NS,
           "so many new streams, and the old ones are forgotten");
    machine.memory[SGC_SIM_REQUEST_READ].occupied = 90;
    sgc_sim_memory_begin(&machine, &layout, &placement, 4, true);
    fetch_read(0, 4 * LINE, 0);
    tap_ok(fetch_read(0, 5 * LINE, 1000 * NS) == 1090 * NS, "no line comes before its node has served it");
}

/* ---- homes ---- */

static void has_homes(void)
{
    static const uint16_t home[16] = { 1, 0, 1 };

    begin(0, true, SGC_SIM_BY_PAGE, home, false);
    tap_ok(sgc_sim_home_of(0, 0) == 1 && sgc_sim_home_of(0, PAGE) == 0 && sgc_sim_home_of(0, 2 * PAGE) == 1, "by page");
    tap_ok(sgc_sim_home_of(2, layout.bits + 1024 * 4) == sgc_sim_home_of(0, PAGE * 4), "bits are with their page");
    tap_ok(sgc_sim_home_of(3, 3 << 20) == 1 && sgc_sim_home_of(0, 3 << 20) == 1, "the rest is where it is touched first");
    begin(0, true, SGC_SIM_ONE_NODE, NULL, true);
    tap_ok(sgc_sim_home_of(3, 5 * PAGE) == 0, "on one node");
    tap_ok(sgc_sim_home_of(0, layout.bits) != sgc_sim_home_of(0, layout.bits + 4096), "balanced bits are on all in turn");
    tap_ok(sgc_sim_region_of(0) == SGC_SIM_OBJECTS && sgc_sim_region_of(layout.bits) == SGC_SIM_BITS &&
           sgc_sim_region_of(layout.tables) == SGC_SIM_TABLES && sgc_sim_region_of(3 << 20) == SGC_SIM_OTHER, "regions");
}

/* ---- against plain models ---- */

enum { TIMES = 3000 };

static void is_busy_once(void)
{
    static struct sgc_sim_occupied occupied;
    static bool busy[TIMES + 100];
    uint64_t random = 3, now = 0;
    int wrong = 0;

    for (int i = 0; i < 400; i++) {
        uint64_t arrival = now + random_word(&random) % 40, length = 1 + random_word(&random) % 6, at, expected = arrival;

        for (uint64_t t = arrival; t < expected + length && t < TIMES; t++)
            if (busy[t])
                expected = t + 1;
        at = sgc_sim_occupy(&occupied, now, arrival, length);
        wrong += at != expected;
        for (uint64_t t = at; t < at + length && t < TIMES; t++)
            busy[t] = true;
        now += random_word(&random) % 7;
    }
    tap_ok(wrong == 0, "a node serves each request at the first time from its arrival on at which it is free");
}

static void gives_the_first(void)
{
    static struct sgc_sim_queue queue;
    bool in[64] = { false };
    uint64_t random = 11;
    int wrong = 0;

    for (int i = 0; i < 20000; i++) {
        uint32_t n = (uint32_t)(random_word(&random) % 64), best = 64;

        if (in[n])
            sgc_sim_queue_remove(&queue, n);
        else
            sgc_sim_queue_add(&queue, n, random_word(&random) % 50);
        in[n] = !in[n];
        for (uint32_t k = 0; k < 64; k++)
            if (in[k] && (best == 64 || queue.time[k] < queue.time[best]))
                best = k;
        wrong += best == 64 ? queue.count != 0 : queue.number[0] != best;
    }
    tap_ok(wrong == 0, "the first of those that wait is the one with the earliest time, of two the lower number");
}

int main(void)
{
    tap_each(keeps_copies, loses_copies_to_writers, takes_time, hands_over, asks_ahead, streams, has_homes,
             is_busy_once, gives_the_first);
    sgc_sim_memory_end();
    return tap_done();
}

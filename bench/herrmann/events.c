/* SPDX-License-Identifier: MIT */
/*
 * A simulation of packets in a network, event by event: each arrival is an event of its own block,
 * which is freed when it has happened; a packet gets a header at each node that it passes, and is
 * freed with all of them when it has passed enough.  A program that allocates in one order and
 * frees in another.
 *
 *     events [EVENTS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

enum { PACKETS = 1000, NODES = 64, HOPS = 8, DELAY = 1000 };

struct header {
    struct header *next;
    uint32_t node;
};

struct packet {
    struct header *headers;
    uint32_t hops;
};

struct event {
    uint64_t time;
    struct packet *packet;
    uint32_t node;
};

static struct event *queue[PACKETS];    /* a heap: none is later than its two children */
static uint64_t state = 88172645463325252u;

static void *new_block(size_t size)
{
    void *block = malloc(size);

    if (block == NULL) {
        fprintf(stderr, "events: no memory for a block of %zu bytes\n", size);
        exit(3);
    }
    return block;
}

static struct packet *new_packet(void)
{
    struct packet *packet = new_block(sizeof *packet);

    *packet = (struct packet){ .headers = NULL };
    return packet;
}

static struct event *new_event(uint64_t now, struct packet *packet)
{
    struct event *event = new_block(sizeof *event);
    uint64_t delay = 1 + random_below(&state, DELAY);

    *event = (struct event){ .time = now + delay, .packet = packet, .node = (uint32_t)random_below(&state, NODES) };
    return event;
}

static void sift_up(size_t at)
{
    struct event *event = queue[at];

    for (; at > 0 && queue[(at - 1) / 2]->time > event->time; at = (at - 1) / 2)
        queue[at] = queue[(at - 1) / 2];
    queue[at] = event;
}

/* Puts an event into the place of the first. */
static void replace_first(struct event *event)
{
    size_t at = 0;

    for (size_t child = 1; child < PACKETS; child = 2 * at + 1) {
        child += child + 1 < PACKETS && queue[child + 1]->time < queue[child]->time;
        if (queue[child]->time >= event->time)
            break;
        queue[at] = queue[child];
        at = child;
    }
    queue[at] = event;
}

/* The sum of the nodes that it passed. */
static uint32_t free_packet(struct packet *packet)
{
    uint32_t sum = 0;

    for (struct header *header = packet->headers, *next; header != NULL; header = next) {
        next = header->next;
        sum += header->node;
        free(header);
    }
    free(packet);
    return sum;
}

static void add_header(struct packet *packet, uint32_t node)
{
    struct header *header = new_block(sizeof *header);

    *header = (struct header){ .next = packet->headers, .node = node };
    packet->headers = header;
    packet->hops++;
}

/* The first event happens.  Returns the sum of the packet that has come to its end, or 0. */
static uint32_t happen(void)
{
    struct event *event = queue[0];
    struct packet *packet = event->packet;
    uint32_t sum = 0;

    add_header(packet, event->node);
    if (packet->hops == HOPS) {
        sum = free_packet(packet);
        packet = new_packet();
    }
    replace_first(new_event(event->time, packet));
    free(event);
    return sum;
}

int main(int argc, char **argv)
{
    long events = argument(argc, argv, 1, 2000000, 1, 1000000000);
    uint32_t result = 0;

    for (size_t i = 0; i < PACKETS; i++) {
        queue[i] = new_event(0, new_packet());
        sift_up(i);
    }
    for (long i = 0; i < events; i++)
        result = result * 31 + happen();
    for (size_t i = 0; i < PACKETS; i++) {
        free_packet(queue[i]->packet);
        free(queue[i]);
    }
    printf("result %lu -\n", (unsigned long)result);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * From whom markers steal on real nodes, by the collector's log: never from another node while all markers are on one, and from
 * another where nobody else has work.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <fcntl.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/numa/nodes.h"

enum { DEPTH = 18, TIMES = 40 };

struct pair {
    struct pair *left, *right;
    long words[2];
};

static struct pair *volatile tree;
static char log_name[] = "/tmp/sgc-steals-XXXXXX";

static struct pair *make_tree(int depth)
{
    struct pair *pair = GC_malloc(sizeof *pair);

    if (depth > 0) {
        pair->left = make_tree(depth - 1);
        pair->right = make_tree(depth - 1);
    }
    return pair;
}

/* The sum of a member over all lines of the log; -1: it is not there. */
static long sum_of(const char *member)
{
    static char text[1 << 20];
    FILE *file = fopen(log_name, "r");
    size_t bytes = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    char wanted[64];
    long sum = 0;
    bool found = false;

    text[bytes] = '\0';
    if (file != NULL)
        fclose(file);
    snprintf(wanted, sizeof wanted, "\"%s\":", member);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; found = true)
        sum += atol(at += strlen(wanted));
    return found ? sum : -1;
}

/* Collects until there were thefts of that sort, at most so many times. */
static void collect_until(const char *member)
{
    GC_init();
    tree = make_tree(DEPTH);
    for (int i = 0; i < TIMES && sum_of(member) <= 0; i++)
        GC_gcollect();
    tap_diag("%ld steals, %ld of them far", sum_of("steals"), sum_of("steals_far"));
}

static int on_one_node(void)
{
    nodes_go_to(0);
    setenv("GC_MARKERS", "2", 1);
    collect_until("steals");
    return sum_of("steals") > 0 && sum_of("steals_far") == 0 ? 0 : 1;
}

static int on_all_nodes(void)
{
    setenv("GC_MARKERS", "16", 1);
    setenv("SGC_BIND", "node", 1);
    collect_until("steals_far");
    return sum_of("steals_far") > 0 && sum_of("steals") >= sum_of("steals_far") ? 0 : 1;
}

static void test(int (*body)(void), const char *name)
{
    int log = open(log_name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    if (log < 0)
        tap_bail("%s cannot be written", log_name);
    close(log);
    child_ok(body, "%s", name);
}

int main(void)
{
    int log;

    nodes_need_several();
    log = mkstemp(log_name);
    if (log < 0)
        tap_bail("%s cannot be made", log_name);
    close(log);
    setenv("SGC_LOG_JSON", log_name, 1);
    test(on_one_node, "markers on one node steal, and never from another");
    test(on_all_nodes, "markers on several nodes steal from another when only there is work");
    unlink(log_name);
    return tap_done();
}

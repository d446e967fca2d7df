/* SPDX-License-Identifier: MIT */
/* For tests/check/check_names: a program in C, whose objects are called by its kinds, by what describes them, or not at all;
 * prints their addresses and names, and writes a heap snapshot. */
#include <gc.h>
#include <gc/gc_gcj.h>
#include <gc/gc_mark.h>
#include <sgc.h>

#include <stdio.h>

static void *held_here;
void *held_there[4];
GC_word point_type[2] = { 0, 16 };
static GC_word not_a_type[2];

static void say(void *object, const char *name)
{
    printf("%p %s\n", object, name);
}

int main(int argc, char **argv)
{
    int queue, list;
    void **plain;

    GC_INIT();
    queue = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    list = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    SGC_name_kind(queue, "queue of \"jobs\"\n\\");
    SGC_name_kind(list, "list");
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, NULL);
    held_here = GC_generic_malloc(64, queue);
    held_there[2] = GC_generic_malloc(64, list);
    held_there[1] = GC_GCJ_MALLOC(32, point_type);
    held_there[3] = plain = GC_MALLOC(64);
    plain[0] = not_a_type;
    say(held_here, "queue of \\\"jobs\\\"?\\\\");
    say(held_there[2], "list");
    say(held_there[1], "point_type");
    say(plain, "-");
    return argc > 1 ? SGC_write_heap_snapshot(argv[1]) : 0;
}

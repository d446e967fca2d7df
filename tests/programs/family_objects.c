/* SPDX-License-Identifier: MIT */
/* The gc.h family in a client's program: objects, links and finalizers.  tests/check/check_family runs it on both libraries. */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/javaxfc.h>

#include <stdio.h>
#include <string.h>

enum { COUNT = 1000 };

struct node {
    struct node *next;
    char *name;
};

static int finalized;

static void GC_CALLBACK finalize(void *object, void *data)
{
    (void)object;
    finalized += *(int *)data;
}

static struct node *make_list(void)
{
    struct node *list = NULL;

    for (int i = 0; i < COUNT; i++) {
        struct node *n = GC_NEW(struct node);
        char name[20];

        sprintf(name, "node %d", i);
        n->name = GC_STRDUP(name);
        n->next = list;
        list = n;
        if (i % 100 == 0)
            GC_gcollect();
    }
    return list;
}

int main(void)
{
    static int one = 1;
    struct node *list;
    size_t letters = 0;
    void *weak;
    int count = 0;

    GC_INIT();
    list = make_list();
    for (struct node *n = list; n != NULL; n = n->next, count++)
        letters += strlen(n->name);
    printf("%d nodes, %u letters, the first is %s\n", count, (unsigned)letters, list->name);
    for (int i = 0; i < 10; i++)
        GC_REGISTER_FINALIZER(GC_MALLOC(32), finalize, &one, NULL, NULL);
    weak = list->next;
    GC_general_register_disappearing_link(&weak, list->next);
    printf("link: %d\n", GC_unregister_disappearing_link(&weak));
    list->name = (char *)GC_REALLOC(list->name, 100);
    strcat(list->name, ", longer");
    printf("%s, at its own base: %d\n", list->name, GC_base(list->name + 5) == list->name);
    GC_finalize_all();
    printf("%d finalized, %d more now\n", finalized, GC_invoke_finalizers());
    GC_FREE(list->name);
    printf("aligned: %d\n", (int)((GC_word)GC_memalign(256, 100) % 256));
    return 0;
}

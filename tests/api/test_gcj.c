/* SPDX-License-Identifier: MIT */
/*
 * Objects whose type says what is a pointer in them: by length, by a bitmap, by a procedure.  With API_PEER it runs on
 * bdwgc's library.
 */
#include "api.h"

#include <gc/gc_gcj.h>

enum { OBJECTS = 300 };         /* of each type */

struct type {
    void *unused;
    GC_word descriptor;
};

struct object {
    const struct type *type;
    void *first, *second, *third;
};

static struct type by_length = { NULL, 2 * sizeof(void *) };
static struct type by_bitmap = { NULL, (GC_word)9 << 60 | GC_DS_BITMAP };
static struct type by_procedure = { NULL, GC_MAKE_PROC(GC_GCJ_RESERVED_MARK_PROC_INDEX, 3) };
static struct type nothing = { NULL, 0 };

static GC_hidden_pointer *kept, *lost;      /* not roots */
static void *volatile root;
static volatile int wrong_environment;

/* The second pointer is followed.  Objects for debugging come with their header. */
static struct GC_ms_entry *mark_second(GC_word *address, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct object *o = (void *)address;

    if (env == 1)
        o = GC_USR_PTR_FROM_BASE(address);
    else if (env != 3)
        wrong_environment = 1;
    return GC_MARK_AND_PUSH(o->second, top, limit, &o->second);
}

struct plan {
    struct type *type;
    int followed;               /* which of the three pointers are, a bit each */
    int how;                    /* to allocate */
};

static struct object *allocate(const struct plan *plan)
{
    struct object *o;

    if (plan->how == 0)
        o = GC_gcj_malloc(sizeof *o, plan->type);
    else if (plan->how == 1)
        o = GC_gcj_malloc_ignore_off_page(sizeof *o, plan->type);
    else
        o = GC_debug_gcj_malloc(sizeof *o, plan->type, __FILE__, __LINE__);
    API_CHILD(o != NULL && o->type == plan->type && o->first == NULL && o->second == NULL && o->third == NULL);
    return o;
}

/* An array of objects with all three pointers set. */
static void *make(void *arg)
{
    const struct plan *plan = arg;
    struct object **all;

    all = GC_malloc(OBJECTS * sizeof *all);
    for (int i = 0; i < OBJECTS; i++) {
        all[i] = allocate(plan);
        all[i]->first = api_large((plan->followed & 1 ? kept : lost) + 3 * i);
        all[i]->second = api_large((plan->followed & 2 ? kept : lost) + 3 * i + 1);
        all[i]->third = api_large((plan->followed & 4 ? kept : lost) + 3 * i + 2);
    }
    root = all;
    return arg;
}

static void check_plan(struct plan plan)
{
    int pointers = __builtin_popcount((unsigned)plan.followed);

    memset(kept, 0, 3 * OBJECTS * sizeof *kept);
    memset(lost, 0, 3 * OBJECTS * sizeof *lost);
    api_make_in_thread(make, &plan);
    API_CHILD(api_survive(kept, 3 * OBJECTS) == pointers * OBJECTS);
    API_CHILD(api_alive(lost, 3 * OBJECTS) <= 1);
    root = NULL;
    API_CHILD(api_survive(kept, 3 * OBJECTS) <= 1);
}

static void check(void)
{
    GC_INIT();
    API_CHILD(GC_gcj_kind == 0 || !api_on_sgc);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, (void *)mark_second);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, (void *)mark_second);
    API_CHILD(GC_gcj_kind != 0 && GC_gcj_debug_kind != 0 && GC_gcj_kind != GC_gcj_debug_kind);
    kept = api_outside(3 * OBJECTS * sizeof *kept);
    lost = api_outside(3 * OBJECTS * sizeof *lost);
    check_plan((struct plan){ &by_length, 1, 0 });
    check_plan((struct plan){ &by_bitmap, 4, 0 });
    check_plan((struct plan){ &by_procedure, 2, 0 });
    check_plan((struct plan){ &nothing, 0, 0 });
    check_plan((struct plan){ &by_procedure, 2, 1 });
    check_plan((struct plan){ &by_length, 2, 2 });
    API_CHILD(!wrong_environment);
}

#ifndef API_PEER
/* With the descriptor elsewhere. */
struct far_type {
    void *unused[4];
    GC_word descriptor;
};

static void check_far(void)
{
    static struct far_type far_by_length = { { NULL }, 2 * sizeof(void *) };
    static struct far_type far_by_bitmap = { { NULL }, (GC_word)9 << 60 | GC_DS_BITMAP };

    GC_INIT();
    GC_init_gcj_malloc_mp(GC_GCJ_RESERVED_MARK_PROC_INDEX, mark_second, offsetof(struct far_type, descriptor));
    kept = api_outside(3 * OBJECTS * sizeof *kept);
    lost = api_outside(3 * OBJECTS * sizeof *lost);
    check_plan((struct plan){ (struct type *)(void *)&far_by_length, 1, 0 });
    check_plan((struct plan){ (struct type *)(void *)&far_by_bitmap, 4, 1 });
}

static void check_uneven(void)
{
    GC_init_gcj_malloc_mp(GC_GCJ_RESERVED_MARK_PROC_INDEX, mark_second, 12);
    kept = api_outside(3 * OBJECTS * sizeof *kept);
    lost = api_outside(3 * OBJECTS * sizeof *lost);
    check_plan((struct plan){ &by_length, 7, 0 });
}

static void check_places(void)
{
    api_check_child_with("GC_MARKERS=8", check_far, "descriptors at another place of the type");
    api_check_child_with("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0", check_far, "in concurrent mode");
    api_check_started(check_uneven, "a multiple of 8 is expected", "a place that is none is reported, and every word counts");
}
#else
static void check_places(void)
{
}
#endif

int main(void)
{
    check_places();
    api_check_child_with("GC_MARKERS=1", check, "types by length, bitmap and procedure");
    api_check_child_with("GC_MARKERS=8", check, "eight markers");
    api_check_child_with("SGC_TORTURE=97", check, "under torture");
    return tap_done();
}

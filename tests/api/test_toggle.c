/* SPDX-License-Identifier: MIT */
/*
 * Toggle references through the public interface: the program is asked, and its answer counts.
 *
 * Also: gc/finalize/register.c, gc/finalize/rounds.c.
 */
#include "api.h"

enum { COUNT = 20 };

static int wrong;

static GC_ToggleRefStatus status;

static GC_ToggleRefStatus toggle(TEST_UNUSED void *object)
{
    return status;
}

static GC_hidden_pointer toggled[COUNT];

static void make_toggled(void)
{
    for (int i = 0; i < COUNT; i++) {
        void *p = GC_malloc(API_LARGE);

        toggled[i] = GC_HIDE_POINTER(p);
        wrong += GC_toggleref_add(p, 1) != GC_SUCCESS;
    }
}

static void *back[COUNT];
static int backs;

static void bring_back(void *object, TEST_UNUSED void *unused)
{
    back[backs++] = object;
}

static void make_finalizable(void)
{
    make_toggled();
    for (int i = 0; i < COUNT; i++)
        GC_register_finalizer(GC_REVEAL_POINTER(toggled[i]), bring_back, NULL, NULL, NULL);
}

/* An object that its finalizer brings back has not been collected, so the program is still asked about it. */
static void check_back(void)
{
    status = GC_TOGGLE_REF_WEAK;
    api_make(make_finalizable);
    api_collect();
    tap_ok(backs >= COUNT - 3, "objects with weak toggle references are finalized (%d)", backs);
    status = GC_TOGGLE_REF_STRONG;
    memset(back, 0, sizeof(back));
    tap_ok(api_survive(toggled, COUNT) == COUNT, "and, brought back, have their toggle references still");
    status = GC_TOGGLE_REF_DROP;
    tap_ok(api_survive(toggled, COUNT) <= 3, "until these are dropped");
}

static void bad_object(void)
{
    GC_set_toggleref_func(toggle);
    API_CHILD(GC_toggleref_add(&wrong, 1) == GC_NOT_FOUND);
    API_CHILD(GC_toggleref_add((void *)((GC_word)1 << 60), 1) == GC_NOT_FOUND);      /* where no memory is */
}

static void bad_answer(void)
{
    GC_set_toggleref_func(toggle);
    status = (GC_ToggleRefStatus)7;
    GC_toggleref_add(GC_malloc(16), 0);
    GC_gcollect();
}

static void check_toggles(void)
{
    wrong = 0;
    GC_set_toggleref_func(toggle);
    tap_ok(GC_get_toggleref_func() == toggle, "the toggle function is answered");
    status = GC_TOGGLE_REF_STRONG;
    api_make(make_toggled);
    api_collect();
    tap_ok(wrong == 0 && api_alive(toggled, COUNT) == COUNT, "strong toggle references keep their objects");
    status = GC_TOGGLE_REF_WEAK;
    tap_ok(api_survive(toggled, COUNT) <= 3, "weak ones do not");
    status = GC_TOGGLE_REF_STRONG;
    api_make(make_toggled);
    status = GC_TOGGLE_REF_DROP;
    tap_ok(api_survive(toggled, COUNT) <= 3, "nor do dropped ones");
    check_back();
    GC_set_toggleref_func(NULL);
    tap_ok(GC_toggleref_add(GC_malloc(16), 1) == GC_SUCCESS, "without a function adding does nothing");
}

int main(void)
{
    GC_INIT();
    check_toggles();
    api_check_child(bad_object, "not in the collector's heap", "what is no object is reported");
    api_check_child(bad_answer, "gave no GC_TOGGLE_REF_", "an answer that is none is reported");
    return tap_done();
}

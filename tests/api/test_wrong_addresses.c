/* SPDX-License-Identifier: MIT */
/*
 * Wrong calls of the public interface.  What each must do is in the headers: a message that names the function
 * and the value, no effect, and a heap that goes on.  Not for bdwgc, which may crash on most of these.
 */
#include "api.h"
#include "../lib/capture.h"

#include <sgc.h>

static char static_bytes[64] __attribute__((aligned(16)));

static const char *said;
static char number[32];

#define SAID(call) (capture_begin(), (call), said = capture_end())

static const char *address(const void *p)
{
    snprintf(number, sizeof(number), "%p", p);
    return number;
}

/* One message, one line, that begins as all do and has these parts. */
static bool message_has(const char *function, const char *part)
{
    bool good = strncmp(said, "SGC: ", 5) == 0 && capture_count(said, "\n") == 1 && strstr(said, function) != NULL
        && strstr(said, part) != NULL;

    if (!good)
        tap_diag("wanted a line with \"%s\" and \"%s\", got: %s", function, part, said);
    return good;
}

struct wrong {
    const char *what;
    void *address;
};

/* The object that must stay as it is, small or large. */
static bool unharmed(char *object, size_t size, char *interior)
{
    for (size_t i = 0; i < size; i++)
        if (object[i] != 0x5a)
            return false;
    return GC_base(object) == object && GC_size(object) > size && GC_base(interior) == object;
}

static void try_free(const struct wrong *wrong, bool *silent_null)
{
    SAID(GC_free(wrong->address));
    *silent_null = said[0] == '\0';
    if (wrong->address != NULL)
        tap_ok(message_has("GC_free", address(wrong->address)), "GC_free of %s is reported", wrong->what);
}

static void try_realloc(const struct wrong *wrong)
{
    void *result;

    SAID(result = GC_realloc(wrong->address, 100));
    tap_ok(result == NULL && message_has("GC_realloc", address(wrong->address)), "GC_realloc of %s too", wrong->what);
}

static void try_size(const struct wrong *wrong)
{
    size_t (*volatile size_of)(const void *) = GC_size;     /* or the compiler knows that NULL is wrong */
    void *p = wrong->address;
    size_t size;

    SAID(size = size_of(p));
    tap_ok(size == 0 && message_has("GC_size", p == NULL ? "" : address(p)), "GC_size of %s too, and is 0",
           wrong->what);
}

static void check_addresses(size_t size, const char *kind)
{
    char on_stack[64] __attribute__((aligned(16)));
    char *object = GC_malloc(size), *freed = GC_malloc(size), *foreign = malloc(1000);
    struct wrong wrong[] = {
        { "an interior address", object + 16 }, { "an odd interior address", object + 5 },
        { "the last byte", object + size - 1 }, { "static data", static_bytes + 16 }, { "the stack", on_stack + 16 },
        { "memory from malloc", foreign }, { "a freed object", freed }, { "a wild address", (void *)(uintptr_t)0x10 },
        { "a kernel address", (void *)(uintptr_t)0xffffffffff600000 }, { "NULL", NULL },
    };
    bool silent;

    tap_diag("%s objects", kind);
    memset(object, 0x5a, size);
    GC_free(freed);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        try_free(&wrong[i], &silent);
        if (wrong[i].address != NULL)
            try_realloc(&wrong[i]);
        else
            tap_ok(silent, "GC_free(NULL) is no mistake");
        try_size(&wrong[i]);
    }
    tap_ok(unharmed(object, size, object + size / 2), "the object meant by some is unharmed");
    free(foreign);
}

static void *free_it(void *object)
{
    GC_free(object);
    return NULL;
}

/* freer: which thread frees first; the second free must be found whatever happened between. */
static void check_double(size_t size, bool remote, bool collect, const char *name)
{
    char *object = GC_malloc(size);

    if (remote)
        api_in_thread(free_it, object);
    else
        GC_free(object);
    if (collect)
        GC_gcollect();
    SAID(GC_free(object));
    tap_ok(message_has("GC_free", address(object)), "%s, %zu bytes", name, size);
}

static void check_doubles(void)
{
    static const size_t sizes[] = { 1, 100, 5000, 100000, 5000000 };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_double(sizes[i], false, false, "freed twice");
        check_double(sizes[i], true, false, "freed by another thread before");
        check_double(sizes[i], false, true, "freed before a collection");
        check_double(sizes[i], true, true, "freed by another thread before a collection");
    }
}

static void check_never_used(void)
{
    char *object = GC_malloc(1000);
    bool reported = false;

    for (int i = 1; i < 60 && !reported; i++) {
        char *slot = object + i * GC_size(object);
        if (GC_is_heap_ptr(slot) && GC_base(slot) == NULL) {
            SAID(GC_free(slot));
            reported = message_has("GC_free", address(slot));
        }
    }
    tap_ok(reported, "GC_free of a slot that was never allocated is reported");
}

#define CHECK_REPORTED(call, function, part) \
    do { \
        SAID(call); \
        tap_ok(message_has(function, part), "%s is reported", #call); \
    } while (0)

static void check_alignment(void)
{
    void *result = &result;

    CHECK_REPORTED(result = GC_memalign(3, 100), "GC_memalign", "3");
    tap_ok(result == NULL, "and is NULL");
    CHECK_REPORTED(result = GC_memalign(48, 100), "GC_memalign", "48");
    tap_ok(result == NULL, "and is NULL");
    CHECK_REPORTED(result = SGC_memalign(48, 100, 0), "SGC_memalign", "48");
    tap_ok(result == NULL, "and is NULL");
    CHECK_REPORTED(result = SGC_memalign(0, 100, 0), "SGC_memalign", "no power of two");
    tap_ok(result == NULL, "and is NULL");
    CHECK_REPORTED(result = SGC_memalign(64, 100, 9999), "SGC_memalign", "9999");
    tap_ok(result == NULL, "and is NULL");
    capture_begin();
    tap_ok(GC_posix_memalign(&result, 48, 100) == EINVAL, "GC_posix_memalign says EINVAL");
    said = capture_end();
    tap_ok(said[0] == '\0', "and needs no message");
}

static void check_settings(void)
{
    GC_word divisor = GC_get_free_space_divisor();

    CHECK_REPORTED(GC_set_free_space_divisor(0), "GC_set_free_space_divisor", "0");
    tap_ok(GC_get_free_space_divisor() == divisor, "and changes nothing");
    CHECK_REPORTED(GC_set_min_bytes_allocd(0), "GC_set_min_bytes_allocd", "0");
    CHECK_REPORTED(GC_set_rate(0), "GC_set_rate", "0");
    CHECK_REPORTED(GC_set_rate(-5), "GC_set_rate", "-5");
    CHECK_REPORTED(GC_enable(), "GC_enable", "");
    tap_ok(!GC_is_disabled(), "and collections stay enabled");
    CHECK_REPORTED(GC_set_pages_executable(1), "GC_set_pages_executable", "1");
    tap_ok(!GC_get_pages_executable(), "and pages stay as they are");
    CHECK_REPORTED(GC_register_displacement((size_t)1 << 40), "GC_register_displacement", "");
}

/* What must come before GC_INIT, after it. */
static void check_late(void)
{
    int suspend = GC_get_suspend_signal();

    CHECK_REPORTED(GC_set_suspend_signal(SIGUSR2), "GC_set_suspend_signal", "");
    tap_ok(GC_get_suspend_signal() == suspend, "and changes nothing");
    CHECK_REPORTED(GC_set_all_interior_pointers(0), "GC_set_all_interior_pointers", "");
    tap_ok(GC_get_all_interior_pointers() == 1, "and changes nothing");
    CHECK_REPORTED(GC_set_markers_count(3), "GC_set_markers_count", "");
    CHECK_REPORTED(GC_set_handle_fork(0), "GC_set_handle_fork", "");
    capture_begin();
    GC_set_suspend_signal(suspend);
    GC_set_thr_restart_signal(GC_get_thr_restart_signal());
    GC_set_all_interior_pointers(1);
    GC_set_markers_count((unsigned)GC_get_parallel() + 1);
    GC_set_handle_fork(1);
    said = capture_end();
    tap_ok(said[0] == '\0', "what is as it was is not reported");
    capture_begin();
    tap_ok(SGC_init(1, NULL) == EALREADY, "SGC_init after GC_INIT is EALREADY");
    said = capture_end();
    tap_ok(message_has("SGC_init", ""), "and reported");
}

static void *allocate_unregistered(TEST_UNUSED void *unused)
{
    void *object = GC_malloc(1000);

    return GC_base(object) == object ? object : NULL;
}

static void *unregister(TEST_UNUSED void *unused)
{
    return (void *)(intptr_t)GC_unregister_my_thread();
}

static void check_unregistered(void)
{
    void *result;

    SAID(result = api_in_plain_thread(allocate_unregistered, NULL));
    tap_ok(result != NULL, "a thread that is not registered can allocate");
    tap_ok(message_has("GC_register_my_thread", ""), "and is told to register");
    SAID(result = api_in_plain_thread(unregister, NULL));
    tap_ok(result == (void *)GC_NOT_FOUND && message_has("GC_unregister_my_thread", ""),
           "a thread that is not registered cannot unregister");
}

int main(void)
{
    GC_INIT();
    check_addresses(100, "small");
    check_addresses(10000, "larger");
    check_addresses(1000000, "large");
    tap_each(check_doubles, check_never_used, check_alignment, check_settings, check_late, check_unregistered);
    GC_gcollect();
    tap_ok(SGC_check() == 0, "after all of this the heap is in order");
    return tap_done();
}

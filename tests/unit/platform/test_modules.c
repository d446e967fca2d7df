/* SPDX-License-Identifier: MIT */
/*
 * platform/modules_linux.c: static data of all modules, followed through dlopen and dlclose, and the
 * snapshot under the loader's lock.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>

#include "platform/platform.h"
#include "tests/lib/module.h"

enum { CAPACITY = 512 };
static struct sgc_range range[CAPACITY];
static struct sgc_module_tls tls[CAPACITY];
static struct sgc_module listed[CAPACITY];
static struct sgc_modules modules = {
    .range = range, .range_capacity = CAPACITY, .tls = tls, .tls_capacity = CAPACITY,
    .module = listed, .module_capacity = CAPACITY,
};

static long data_variable = 1, bss_variable;
__attribute__((used)) static long *const relocated_constant[2] = { &data_variable, &bss_variable };
static SGC_STATE long own_first, own_constant = 3;
static long own_large[1000], beside;
SGC_STATE_LARGE(own_large);

static int times_listed(const void *address, size_t bytes)
{
    int times = 0;
    for (int i = 0; i < modules.ranges; i++)
        times += (uintptr_t)address >= range[i].lo && (uintptr_t)address + bytes <= range[i].hi;
    return times;
}

#define LISTED(variable) times_listed((const void *)&(variable), sizeof(variable))

static int snapshots;

static void count_snapshot(TEST_UNUSED void *arg)
{
    snapshots++;
}

static bool snapshot(void)
{
    snapshots = 0;
    return sgc_modules_snapshot(&modules, NULL, count_snapshot, NULL);
}

/* ---- this program ---------------------------------------------------------------------------------------- */

static void test_program(void)
{
    tap_ok(snapshot() && modules.overflow == 0, "a list of the loaded modules (%d ranges, %d with thread-local data)",
           modules.ranges, modules.tlses);
    tap_ok(snapshots == 1, "one snapshot");
    tap_ok(LISTED(data_variable) == 1, "initialised data");
    tap_ok(LISTED(bss_variable) == 1, "zero data");
    tap_ok(LISTED(environ) == 1, "libc's data");
}

/* The linker may also put such constants where there is no relocation: then nothing is to be seen. */
static int find_relro(struct dl_phdr_info *info, TEST_UNUSED size_t size, void *answer)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            *(bool *)answer |= (uintptr_t)relocated_constant - lo < info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

static void test_relro(void)
{
    bool in_relro = false;
    dl_iterate_phdr(find_relro, &in_relro);
    if (in_relro)
        tap_ok(LISTED(relocated_constant) == 0, "what is read-only after relocation is left out");
    else
        tap_skip("this linker makes no read-only part after relocation");
}

static void test_own_state(void)
{
    struct sgc_range own = sgc_own_data();
    uintptr_t first = (uintptr_t)&own_first, constant = (uintptr_t)&own_constant;
    own_first = own_constant;
    tap_ok(own.lo % 64 == 0 && own.lo < own.hi, "SGC's own state: %zu bytes", (size_t)(own.hi - own.lo));
    tap_ok(first >= own.lo && first < own.hi && constant >= own.lo && constant < own.hi,
           "zero and initialised variables are in it");
    bool touched = false;
    for (int i = 0; i < modules.ranges; i++)
        touched = touched || (range[i].lo < own.hi && range[i].hi > own.lo);
    tap_ok(!touched, "and no range contains a byte of it");
}

static void test_own_large(void)
{
    bool touched = false, found = false;

    beside = own_large[0] + 1;
    for (size_t i = 0; sgc_own_large(i).lo != sgc_own_large(i).hi; i++)
        found = found || (sgc_own_large(i).lo == (uintptr_t)own_large &&
                          sgc_own_large(i).hi == (uintptr_t)own_large + sizeof own_large);
    for (int i = 0; i < modules.ranges; i++)
        touched = touched || (range[i].lo < (uintptr_t)own_large + sizeof own_large && range[i].hi > (uintptr_t)own_large);
    tap_ok(found && !touched, "of its large variables no range contains a byte either");
    tap_ok(LISTED(beside) == 1, "but of what lies in .bss with them");
}

static void test_ranges(void)
{
    bool aligned = true, disjoint = true, mapped = true;
    for (int i = 0; i < modules.ranges; i++) {
        aligned = aligned && range[i].lo % sizeof(void *) == 0 && range[i].hi % sizeof(void *) == 0
            && range[i].lo < range[i].hi;
        mapped = mapped && sgc_mem_mapped_from(range[i].lo, range[i].hi) <= range[i].lo;
        for (int j = 0; j < i; j++)
            disjoint = disjoint && (range[i].hi <= range[j].lo || range[i].lo >= range[j].hi);
    }
    tap_ok(aligned, "ranges consist of whole words");
    tap_ok(disjoint, "and are disjoint");
    tap_ok(mapped, "and mapped");
}

/* Each OS page is read: a range that cannot be would end this program. */
__attribute__((no_sanitize("address"), no_sanitize("thread")))
static void test_readable(void)
{
    size_t sum = 0;
    for (int i = 0; i < modules.ranges; i++)
        for (const volatile uintptr_t *at = (uintptr_t *)range[i].lo; at < (uintptr_t *)range[i].hi; at++)
            sum += *at;
    tap_diag("sum of all words: %zx", sum);
    tap_ok(times_listed(&data_variable, 8) == 1, "and readable");
}

/* ---- changes ------------------------------------------------------------------------------------------------ */

static void test_unchanged(void)
{
    struct sgc_range kept = range[0];
    range[0].lo = 1;            /* not an address the loader would give */
    tap_ok(snapshot() && snapshots == 1, "a second snapshot");
    tap_ok(range[0].lo == 1, "does not build the list anew when nothing has changed");
    range[0] = kept;
}

static void test_dlopen(void)
{
    int before = modules.tlses;
    void *module = module_load("module_small");
    char *data = module_symbol(module, "module_data"), *bss = module_symbol(module, "module_bss");
    void *relro = module_symbol(module, "module_relro");
    tap_ok(times_listed(data, 512) == 0, "a module that is loaded is not known before the next snapshot");
    tap_ok(snapshot() && snapshots == 1, "the next snapshot");
    tap_ok(times_listed(data, 512) == 1 && times_listed(bss, 512) == 1, "has its data");
    tap_ok(times_listed(relro, 16) == 0, "but not its constants");
    bool tls_found = false;
    for (int i = 0; i < modules.tlses; i++)
        tls_found = tls_found || tls[i].bytes == MODULE_SMALL_TLS;
    tap_ok(tls_found && modules.tlses == before + 1, "and its thread-local block");
    dlclose(module);
    tap_ok(snapshot() && snapshots == 1 && times_listed(data, 8) == 0 && modules.tlses == before,
           "after dlclose all that is gone");
}

/* tests/lib/sanitizer holds a module that calls itself libtsan.so. */
static void test_sanitizer(void)
{
    void *module = module_load("../sanitizer/.libs/libtsan");
    char *data = module_symbol(module, "module_data"), *bss = module_symbol(module, "module_bss");

    tap_ok(snapshot() && times_listed(data, 8) + times_listed(bss, 8) == 0, "a sanitizer's static data are left out");
    dlclose(module);
}

static void test_storm(void)
{
    bool right = true;
    for (int i = 0; i < 50; i++) {
        void *module = module_load(i % 2 ? "module_small" : "module_large");
        char *data = module_symbol(module, "module_data");
        right = right && snapshot() && times_listed(data, 512) == 1;
        dlclose(module);
        right = right && snapshot() && times_listed(data, 8) == 0;
    }
    tap_ok(right, "through 50 times dlopen and dlclose");
}

/* ---- little room --------------------------------------------------------------------------------------------- */

static void test_overflow(void)
{
    modules.range_capacity = modules.tls_capacity = 1;
    modules.adds = 0;           /* forget, so that the list is built anew */
    tap_ok(!snapshot(), "a list that is too small is reported");
    tap_ok(snapshots == 0, "and the world not stopped");
    tap_ok(modules.ranges == 1 && modules.overflow > 1, "what is missing is counted (%d)", modules.overflow);
    tap_ok(!snapshot() && modules.overflow > 1, "it is not taken for current the next time");
    modules.range_capacity += modules.overflow;
    modules.tls_capacity += modules.overflow;
    tap_ok(snapshot() && snapshots == 1, "with that much more room it succeeds");
    int ranges = 0, tlses = 0, needed = modules.ranges, needed_tls = modules.tlses;
    sgc_modules_count(&ranges, &tlses);
    tap_ok(ranges >= needed && tlses >= needed_tls, "sgc_modules_count: %d and %d are enough for %d and %d",
           ranges, tlses, needed, needed_tls);
    modules.range_capacity = modules.tls_capacity = CAPACITY;
}

/* ---- filters --------------------------------------------------------------------------------------------------- */

static int asked;
static char *skipped_data;

/* A filter is client code: it may call malloc. */
static bool skip_small_module(const char *name, uintptr_t lo, size_t bytes)
{
    char *copy = strdup(name);
    bool skip = strstr(copy, "module_small") != NULL;
    free(copy);
    asked++;
    return skip && (uintptr_t)skipped_data - lo < bytes;
}

static void test_filter(void)
{
    void *module = module_load("module_small");
    skipped_data = module_symbol(module, "module_data");
    tap_ok(sgc_modules_snapshot(&modules, skip_small_module, NULL, NULL) && asked > 2, "a filter is asked (%d times)", asked);
    tap_ok(times_listed(skipped_data, 512) == 0, "what it skips is left out");
    tap_ok(LISTED(data_variable) == 1, "the rest is not");
    modules.adds = 0;
    tap_ok(snapshot() && times_listed(skipped_data, 512) == 1, "without it everything is back");
    dlclose(module);
}

/* ---- the loader's lock -------------------------------------------------------------------------------------------- */

static sgc_a32_t begin_load, loaded;

static void *load_when_told(TEST_UNUSED void *unused)
{
    while (!sgc_a32_load_acq(&begin_load))
        sgc_wait(&begin_load, 0, -1);
    dlclose(module_load("module_small"));
    sgc_a32_store_rel(&loaded, 1);
    return NULL;
}

/* Gives the other thread time to finish dlopen, which it must not be able to. */
static void let_the_other_load(void *early)
{
    sgc_a32_store_rel(&begin_load, 1);
    sgc_wake(&begin_load, 1);
    for (int i = 0; i < 20 && !sgc_a32_load_acq(&loaded); i++)
        sgc_sleep_ns(5000000);
    *(bool *)early = sgc_a32_load_acq(&loaded);
}

static void test_lock(bool changed)
{
    pthread_t thread;
    bool early = true;
    sgc_a32_store(&begin_load, 0);
    sgc_a32_store(&loaded, 0);
    if (changed)
        modules.adds = 0;
    pthread_create(&thread, NULL, load_when_told, NULL);
    bool done = sgc_modules_snapshot(&modules, NULL, let_the_other_load, &early);
    pthread_join(thread, NULL);
    tap_ok(done && !early, "no module comes or goes during a snapshot (%s)", changed ? "new list" : "old list");
    tap_ok(sgc_a32_load(&loaded) == 1, "but afterwards");
}

int main(void)
{
    tap_each(test_program, test_relro, test_own_state, test_own_large, test_ranges, test_readable,
             test_unchanged, test_dlopen, test_sanitizer, test_storm, test_overflow, test_filter);
    test_lock(true);
    test_lock(false);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * libsgc and the drop-in in one process are one heap, whichever comes first and whoever asks, even
 * when both are loaded privately (RTLD_LOCAL), where the usual order of look-ups does not help.
 *
 * The test lays both libraries out as an installation does, by links in a directory of its own, and
 * loads them with dlopen in a child a case.  It is linked with neither.
 */
#include "tests/lib/child.h"
#include "tests/lib/folder.h"

#include <dlfcn.h>
#include <limits.h>

enum {
    ROOTS_MOST = 256 << 10,     /* bytes; each library has more of its own */
    OBJECTS = 40,
};

static char libsgc[PATH_MAX], drop_in[PATH_MAX], filter[PATH_MAX];

static void link_library(char *path, const char *name, const char *build)
{
    char built[PATH_MAX];

    if (snprintf(built, sizeof built, "%s/.libs/%s", build, strrchr(name, '/') + 1) >= PATH_MAX)
        tap_bail("path too long: %s", build);
    if (access(built, R_OK) != 0)
        tap_skip_all("no %s: built without shared libraries", built);
    snprintf(path, PATH_MAX, "%s", folder_path(name));
    if (symlink(built, path) != 0)
        tap_bail("cannot link %s to %s", path, built);
}

static void lay_out(void)
{
    const char *build = getenv("SGC_BUILDDIR");
    char directory[PATH_MAX];

    if (build == NULL)
        tap_bail("SGC_BUILDDIR is not set; run this by make check");
    folder_make();
    mkdir(folder_path("lib"), 0700);
    mkdir(folder_path("lib/sgc"), 0700);
    link_library(libsgc, "lib/libsgc.so.0", build);
    link_library(drop_in, "lib/sgc/libgc.so.1", build);
    snprintf(directory, sizeof directory, "%s/tests/lib/filter", build);
    link_library(filter, "lib/libgc.so", directory);
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (address == NULL)
        _exit(100);
    return address;
}

/* Bits of what differs between the two libraries; 0: one heap. */
static int differences(void *one, void *other)
{
    int bits = 0;
    capture_begin();
    bits |= symbol(one, "GC_malloc") != symbol(other, "GC_malloc");
    bits |= (symbol(one, "GC_dont_gc") != symbol(other, "GC_dont_gc")) << 1;
    void (*init)(void) = (void (*)(void))symbol(one, "GC_init");
    void *(*allocate)(size_t) = (void *(*)(size_t))symbol(one, "GC_malloc");
    void *(*base_of)(void *) = (void *(*)(void *))symbol(other, "GC_base");
    init();
    bits |= (strstr(capture_end(), "another collector") != NULL) << 3;
    char *object = allocate(100);
    bits |= (object == NULL || base_of(object + 50) != object) << 2;
    return bits;
}

/* Is what the libraries keep for themselves no root, neither in the one that runs nor in the other? */
static bool few_roots(void *library, const char *log)
{
    void (*collect)(void) = (void (*)(void))symbol(library, "GC_gcollect");
    char line[4096];
    const char *bytes;
    FILE *f;

    collect();
    f = fopen(log, "r");
    if (f == NULL || fgets(line, sizeof line, f) == NULL || (bytes = strstr(line, "\"root_bytes\":")) == NULL)
        return false;
    fclose(f);
    tap_diag("%.24s", bytes);
    return atol(bytes + strlen("\"root_bytes\":")) < ROOTS_MOST;
}

static void *load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL)
        return handle;
    tap_diag("%s", dlerror());
    _exit(101);
}

static const char *first, *second;

/* In a child. */
static int load_both(void)
{
    const char *log = folder_path("log");
    setenv("SGC_LOG_JSON", log, 1);
    void *one = load(first), *other = load(second);
    int bits = differences(one, other) | differences(other, one) | (few_roots(one, log) ? 0 : 1 << 4);
    unlink(log);
    return bits;
}

/* How many of the objects that only the module's data points at are there after a collection. */
static int kept_by(void *module, void *library)
{
    void *(*allocate)(size_t) = (void *(*)(size_t))symbol(library, "GC_malloc");
    void *(*base_of)(void *) = (void *(*)(void *))symbol(library, "GC_base");
    void (*collect)(void) = (void (*)(void))symbol(library, "GC_gcollect");
    void **data = symbol(module, "module_data");
    int kept = 0;

    for (int i = 0; i < OBJECTS; i++)
        data[i] = allocate(10000);
    collect();
    for (int i = 0; i < OBJECTS; i++)
        kept += base_of(data[i]) == data[i];
    return kept;
}

/* A filter that has the drop-in's name, but leads elsewhere, is another collector, and its data are roots. */
static int load_filter(void)
{
    void *module = load(filter), *library = load(libsgc);
    capture_begin();
    int kept = kept_by(module, library);
    bool told = strstr(capture_end(), "another collector") != NULL;
    tap_diag("%d of %d kept, %s", kept, OBJECTS, told ? "told of" : "not told of");
    return (kept == OBJECTS ? 0 : 1) | (told ? 0 : 2);
}

/* The drop-in where there is no libsgc: it has no code of its own, and what is missing is named. */
static bool drop_in_alone_is_refused(void)
{
    const char *reason;

    unlink(libsgc);
    if (dlopen(drop_in, RTLD_NOW | RTLD_LOCAL) != NULL)
        return false;
    reason = dlerror();
    tap_diag("%s", reason);
    return strstr(reason, "libsgc.so.0") != NULL;
}

int main(void)
{
    const char *sanitizer = getenv("SGC_SANITIZER");
    if (sanitizer != NULL && strcmp(sanitizer, "none") != 0)
        tap_skip_all("sanitized libraries are not loaded with dlopen");
    lay_out();
    tap_plan(4);
    first = libsgc, second = drop_in;
    tap_ok(run_in_child(load_both) == 0, "libsgc first: one heap");
    first = drop_in, second = libsgc;
    tap_ok(run_in_child(load_both) == 0, "the drop-in first: one heap");
    tap_ok(run_in_child(load_filter) == 0, "another filter called libgc.so is another collector, and no idle one");
    tap_ok(drop_in_alone_is_refused(), "the drop-in alone is not loaded, and libsgc is asked for");
    folder_remove();
    return tap_done();
}

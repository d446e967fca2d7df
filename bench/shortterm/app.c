/* SPDX-License-Identifier: MIT */
/* See bench/shortterm/app.h.  The main thread writes `app` and `dates` before it starts others; one thread has the periods. */
#include "bench/shortterm/app.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/shortterm/series.h"

enum memory { BY_MALLOC, BY_GC, BY_GC_FREE, BY_DATES };

enum {
    WRONG = 1,
    NOT_UNDERSTOOD,
    NO_MEMORY,
    STEADY = 20,                /* the period from which on the heap should stay as it is */
    FIRST_ROOM = 1024,
};

#define MB 1048576.0

static struct {
    const char *name;
    enum memory memory;
    bool full, spoil, early, live;
    const char *series;         /* a file, or NULL */
    struct SGC_shortterm wanted;
} app = { .wanted = { SGC_SHORTTERM_FREE, -1, -1, -1, -1 } };

static struct app_dates dates;

static struct {
    double *ns;                 /* of each period */
    size_t number, room;
    uint64_t began;
    size_t heap_steady, heap_most, heap_last, resident_steady, live_steady;
    unsigned long collections_before;
} periods;

/* With --live, of a memory that frees by hand: bytes of blocks, now and the most so far. */
static struct {
    atomic_size_t now, most;
} live;

/* ---- parameters ---- */

void app_refuse(const char *what, const char *text, const char *expected)
{
    fprintf(stderr, "%s: %s \"%s\": %s\n", app.name, what, text, expected);
    exit(NOT_UNDERSTOOD);
}

static long number(const char *name, const char *text, long least, long most)
{
    char expected[96], *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && value >= least && value <= most)
        return value;
    snprintf(expected, sizeof expected, "expected a number from %ld to %ld", least, most);
    app_refuse(name, text, expected);
    return 0;
}

/* The index of one of the words. */
static int word(const char *name, const char *text, const char *const *words, const char *expected)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    app_refuse(name, text, expected);
    return 0;
}

/* Of those that all programs have; false for another. */
static bool common(const char *name, const char *text)
{
    static const char *const memories[] = { "malloc", "gc", "gc-free", "dates", NULL };
    static const char *const ways[] = { "lazy", "eager", NULL };
    static const char *const sets[] = { "quick", "full", NULL };

    if (strcmp(name, "--memory") == 0)
        app.memory = (enum memory)word(name, text, memories, "expected malloc, gc, gc-free or dates");
    else if (strcmp(name, "--collect") == 0)
        app.wanted.collect = word(name, text, ways, "expected lazy or eager");
    else if (strcmp(name, "--set") == 0)
        app.full = word(name, text, sets, "expected quick or full") == 1;
    else if (strcmp(name, "--series") == 0)
        app.series = text;
    else if (strcmp(name, "--extension") == 0)
        app.wanted.extension = (int)number(name, text, 0, 65535);
    else
        return false;
    return true;
}

static void own(struct app_parameter *p, int n, const char *name, const char *text)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(name + 2, p[i].name) != 0)
            continue;
        if (p[i].text != NULL)
            *p[i].text = text;
        else
            p[i].chosen = number(name, text, p[i].least, p[i].most);
        return;
    }
    app_refuse("the option", name, "expected --memory, --collect, --extension, --set, --series, --spoil, --early, --live, or a "
               "parameter of this program");
}

static void read_argument(char **argv, int left, struct app_parameter *p, int n)
{
    if (strncmp(argv[0], "--", 2) != 0 || left < 2)
        app_refuse("the argument", argv[0], "expected --NAME VALUE");
    if (!common(argv[0], argv[1]))
        own(p, n, argv[0], argv[1]);
}

static void read_arguments(int argc, char **argv, struct app_parameter *p, int n)
{
    for (int i = 1; i < argc; i += 2)
        if (strcmp(argv[i], "--spoil") == 0)
            app.spoil = true, i--;
        else if (strcmp(argv[i], "--early") == 0)
            app.early = true, i--;
        else if (strcmp(argv[i], "--live") == 0)
            app.live = true, i--;
        else
            read_argument(argv + i, argc - i, p, n);
}

/* The set first, wherever it stands: what else is said replaces parts of it. */
static void parse(int argc, char **argv, struct app_parameter *p, int n)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--set") == 0)
            common(argv[i], argv[i + 1]);
    for (int i = 0; i < n; i++)
        p[i].chosen = app.full ? p[i].full : p[i].quick;
    read_arguments(argc, argv, p, n);
}

void app_need_extension(int extension)
{
    app.wanted.extension = extension;
}

bool app_spoil(void)
{
    return app.spoil;
}

/* ---- short-term memory ---- */

/* By their names, so that the programs start on a library without them. */
static bool find_dates(void)
{
    static const struct {
        void *place;
        const char *name;
    } wanted[] = {
        { &dates.init, "SGC_shortterm_init" },
        { &dates.mode, "SGC_shortterm_mode" },
        { &dates.refresh, "SGC_refresh" },
        { &dates.refresh_global, "SGC_refresh_global" },
        { &dates.tick, "SGC_tick" },
        { &dates.tick_global, "SGC_tick_global" },
        { &dates.malloc_dated, "SGC_malloc_dated" },
        { &dates.expire, "SGC_expire" },
        { &dates.get_stats, "SGC_get_shortterm_stats" },
        { &dates.hold, "SGC_hold" },
        { &dates.unhold, "SGC_unhold" },
        { &dates.region_new, "SGC_region_new" },
        { &dates.region_malloc, "SGC_region_malloc" },
        { &dates.region_refresh, "SGC_region_refresh" },
        { &dates.region_close, "SGC_region_close" },
    };
    bool all = true;

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = dlsym(RTLD_DEFAULT, wanted[i].name);

        memcpy(wanted[i].place, &found, sizeof found);
        all = all && found != NULL;
    }
    return all;
}

const struct app_dates *app_dates(void)
{
    return app.memory == BY_DATES ? &dates : NULL;
}

static void begin_dates(void)
{
    static const char *const modes[] = { "pin", "free", "hybrid", "verify" };

    if (!find_dates())
        app_refuse("--memory", "dates",
                   "this libgc.so.1 is not SGC's; let LD_LIBRARY_PATH lead to that, which is in .libs of a build");
    if (dates.init(&app.wanted, sizeof app.wanted) != 0)
        app_refuse("--memory", "dates", "short-term memory cannot be set up so");
    printf("mode %s text\n", modes[dates.mode()]);
}

void app_begin(int argc, char **argv, const char *name, struct app_parameter *parameters, int n)
{
    static const char *const memories[] = { "malloc", "gc", "gc-free", "dates" };

    app.name = name;
    app.memory = BY_GC;
    parse(argc, argv, parameters, n);
    case_begin();
    printf("memory %s text\n", memories[app.memory]);
    if (app.memory == BY_DATES)
        begin_dates();
    if (app.series != NULL)
        series_open(app.series, app.memory == BY_MALLOC);
    for (int i = 0; i < n; i++)
        if (parameters[i].text == NULL)
            figure(parameters[i].name, (double)parameters[i].chosen, "number");
}

/* ---- memory ---- */

static void *there(void *object, size_t bytes)
{
    if (object != NULL)
        return object;
    fprintf(stderr, "%s: no memory for %zu bytes; use a larger GC_MAXIMUM_HEAP_SIZE or smaller parameters\n", app.name, bytes);
    exit(NO_MEMORY);
}

static size_t block_bytes(void *object)
{
    return app.memory == BY_MALLOC ? malloc_usable_size(object) : GC_size(object);
}

static void *count_new(void *object)
{
    size_t now, most;

    if (!app.live || !app_frees())
        return object;
    now = atomic_fetch_add(&live.now, block_bytes(object)) + block_bytes(object);
    most = atomic_load(&live.most);
    while (now > most && !atomic_compare_exchange_weak(&live.most, &most, now))
        continue;
    return object;
}

void *app_new(size_t bytes)
{
    return count_new(there(app.memory == BY_MALLOC ? calloc(1, bytes) : GC_malloc(bytes), bytes));
}

void *app_new_plain(size_t bytes)
{
    return count_new(there(app.memory == BY_MALLOC ? malloc(bytes) : GC_malloc_atomic(bytes), bytes));
}

/* What is to be over at the next tick is right even with --early. */
static unsigned given(unsigned extension)
{
    return app.early && extension > 0 ? extension - 1 : extension;
}

void *app_new_dated(size_t bytes, unsigned extension, int flags)
{
    if (app.memory == BY_DATES)
        return there(dates.malloc_dated(bytes, given(extension), flags), bytes);
    return flags & SGC_SHORTTERM_ATOMIC ? app_new_plain(bytes) : app_new(bytes);
}

/* That this is refused is a fault of the program or of the library. */
static void done(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: %s: %s\n", app.name, what, strerror(error));
    exit(error == ENOMEM ? NO_MEMORY : WRONG);
}

void app_refresh(void *object, unsigned extension)
{
    if (app.memory == BY_DATES)
        done(dates.refresh(object, given(extension)), "SGC_refresh");
}

void app_refresh_global(void *object, unsigned extension)
{
    if (app.memory == BY_DATES)
        done(dates.refresh_global(object, given(extension)), "SGC_refresh_global");
}

void app_tick(void)
{
    if (app.memory == BY_DATES)
        done(dates.tick(), "SGC_tick");
}

void app_tick_global(void)
{
    if (app.memory == BY_DATES)
        done(dates.tick_global(), "SGC_tick_global");
}

void app_free(void *object)
{
    if (app.live && app_frees() && object != NULL)
        atomic_fetch_sub(&live.now, block_bytes(object));
    if (app.memory == BY_MALLOC)
        free(object);
    else if (app.memory == BY_GC_FREE)
        GC_free(object);
}

bool app_frees(void)
{
    return app.memory == BY_MALLOC || app.memory == BY_GC_FREE;
}

void app_drop(void *object)
{
    if (object != NULL)
        app_refresh(object, 0);
    app_free(object);
}

/* ---- periods ---- */

void app_period_begin(void)
{
    periods.began = now_ns();
}

static void note_time(double ns)
{
    if (periods.number == periods.room) {
        periods.room = periods.room == 0 ? FIRST_ROOM : 2 * periods.room;
        periods.ns = obtained(realloc(periods.ns, periods.room * sizeof *periods.ns));
    }
    periods.ns[periods.number++] = ns;
}

void app_period_end(void)
{
    double ns = (double)(now_ns() - periods.began);

    note_time(ns);
    series_add(ns);
    periods.heap_last = GC_get_heap_size();
    if (periods.number == STEADY) {
        periods.heap_steady = periods.heap_most = periods.heap_last;
        periods.resident_steady = resident_bytes();
        periods.live_steady = atomic_load(&live.most);
        periods.collections_before = (unsigned long)GC_get_gc_no();
    }
    periods.heap_most = periods.heap_last > periods.heap_most ? periods.heap_last : periods.heap_most;
}

static void report_periods(void)
{
    double all = 0;

    for (size_t i = 0; i < periods.number; i++)
        all += periods.ns[i];
    figure("periods", (double)periods.number, "number");
    figure("seconds", all / 1e9, "s");
    if (periods.number > 0)
        figures("period_ns", periods.ns, periods.number, "ns");
    if (periods.number < STEADY)
        return;
    figure("heap_steady_mb", (double)periods.heap_steady / MB, "MB");
    figure("heap_most_mb", (double)periods.heap_most / MB, "MB");
    figure("heap_last_mb", (double)periods.heap_last / MB, "MB");
    figure("resident_steady_mb", (double)periods.resident_steady / MB, "MB");
    figure("resident_last_mb", (double)resident_bytes() / MB, "MB");
    if (app.live && app_frees()) {
        figure("live_steady_kb", (double)periods.live_steady / 1024, "KB");
        figure("live_most_kb", (double)atomic_load(&live.most) / 1024, "KB");
    }
    figure("collections_steady", (double)((unsigned long)GC_get_gc_no() - periods.collections_before), "times");
}

/* ---- the end ---- */

static void report_dates(void)
{
    struct SGC_shortterm_stats stats;

    if (app.memory != BY_DATES || dates.get_stats(&stats, sizeof stats) < sizeof stats)
        return;
    figure("ticks", (double)(stats.ticks + stats.global_ticks), "number");
    figure("freed_by_dates", (double)stats.freed, "objects");
    figure("dates_left", (double)stats.dates, "number");
    figure("expired_left", (double)stats.expired, "number");
    figure("date_kb", (double)stats.date_bytes / 1024, "KB");
}

int app_end(uint64_t digest)
{
    report_periods();
    report_dates();
    figure("result", (double)(digest >> 24), "digest");
    series_close();
    case_end();
    free(periods.ns);
    return 0;
}

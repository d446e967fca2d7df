/* SPDX-License-Identifier: MIT */
/*
 * Reading the environment, setting, clamping and listing the options.  Runs on the initialising
 * thread before there is another one that reads what it writes (see gc/config/options.h).
 */
#include "gc/config/option_set.h"

#include <string.h>
#include <sys/auxv.h>

#include "platform/text_line.h"
#include "gc/config/option_table.h"
#include "platform/platform.h"
#include "platform/report.h"

extern char **environ;

static unsigned char origins[SGC_OPTIONS] SGC_STATE;    /* enum sgc_origin */
static bool was_read SGC_STATE;

/* ---- names
 * ------------------------------------------------------------------------------------------- */

static const char *const foreign_names[] = {
#define SGC_FOREIGN(name_) #name_,
#include "gc/config/option_table.def"
};

static bool same_name(const char *known, const char *name, size_t length)
{
    sgc_assert(strnlen(name, length) == length);
    return strncmp(known, name, length) == 0 && known[length] == '\0';
}

int sgc_option_find(const char *name, size_t length)
{
    for (int i = 0; i < SGC_OPTIONS; i++)
        if (same_name(sgc_option_table[i].name, name, length))
            return i;
    return -1;
}

/* The index of the unsupported option whose name is the first `length` characters of `name`; -1:
 * none. */
static int unsupported_find(const char *name, size_t length)
{
    for (int i = 0; i < sgc_unsupported_count; i++)
        if (same_name(sgc_unsupported_table[i].name, name, length))
            return i;
    return -1;
}

/* Is it a name that begins with SGC_ but is not the library's? */
static bool is_foreign(const char *name, size_t length)
{
    sgc_assert(length >= 4 && strncmp(name, "SGC_", 4) == 0);       /* nothing else is asked about */
    for (size_t i = 0; i < sizeof foreign_names / sizeof foreign_names[0]; i++)
        if (same_name(foreign_names[i], name, length))
            return true;
    return false;
}

/* ---- the nearest name
 * ------------------------------------------------------------------------------ */

enum { LONGEST = 48 };                  /* no name is longer; longer ones get no suggestion */

static int min_of_three(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many characters must be inserted, removed or replaced to make one of the other (Levenshtein's
 * distance), one row of the table at a time. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[LONGEST + 1];

    sgc_assert(a_length <= LONGEST && b_length <= LONGEST);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int above = row[j];
            row[j] = min_of_three(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    sgc_assert(row[b_length] >= 0 && (size_t)row[b_length] <= (a_length > b_length ? a_length : b_length));
    return row[b_length];
}

/* Behind "SGC_" or "GC_", which are taken for each other. */
static const char *own_part(const char *name)
{
    return strncmp(name, "SGC_", 4) == 0 ? name + 4 : strncmp(name, "GC_", 3) == 0 ? name + 3 : name;
}

enum { FARTHEST = 2 };                  /* letters wrong, and one in three: what is farther away is
                                         * another name */

/* The known name that is most like this one; NULL if none is near. */
static const char *nearest(const char *name, size_t length)
{
    const char *best = NULL, *part = own_part(name);
    size_t part_length = length - (size_t)(part - name);
    int best_distance = (part_length / 3 < FARTHEST ? (int)(part_length / 3) : FARTHEST) + 1;

    sgc_assert(strnlen(name, length) == length);
    if (length > LONGEST)
        return NULL;
    for (int i = 0; i < SGC_OPTIONS; i++) {
        const char *known = own_part(sgc_option_table[i].name);
        int d = distance(part, part_length, known, strlen(known));

        if (d < best_distance) {
            best_distance = d;
            best = sgc_option_table[i].name;
        }
    }
    return best;
}

/* ---- messages
 * ---------------------------------------------------------------------------------------- */

enum { QUOTED = 64 };

static void report_bad_value(enum sgc_option_id id, const char *value, const char *wrong)
{
    const struct sgc_option_row *row = &sgc_option_table[id];
    char quoted[QUOTED], range[SGC_OPTION_WORDS], current[SGC_OPTION_WORDS];

    sgc_warn("%s=%s: %s; accepted: %s; the %s %s is used", row->name,
             sgc_quote(value, strlen(value), quoted, QUOTED), wrong, sgc_option_range(row, range, sizeof range),
             origins[id] == SGC_ORIGIN_DEFAULT ? "default" : "earlier value",
             sgc_option_current(row, current, sizeof current));
}

static void report_unknown_name(const char *name, size_t length)
{
    const char *near = nearest(name, length);
    char quoted[QUOTED];

    sgc_assert(sgc_option_find(name, length) < 0);
    sgc_warn("%s: no such option, ignored%s%s; SGC_PRINT_OPTIONS=1 lists all options",
             sgc_quote(name, length, quoted, QUOTED),
             near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

/* ---- setting
 * ----------------------------------------------------------------------------------------- */

static bool assign(enum sgc_option_id id, const char *text, enum sgc_origin origin)
{
    const struct sgc_option_row *row = &sgc_option_table[id];
    int64_t value = 0;
    const char *wrong = sgc_option_parse(row, text, &value);

    sgc_assert((unsigned)id < SGC_OPTIONS && origin != SGC_ORIGIN_DEFAULT);
    if (wrong != NULL) {
        report_bad_value(id, text, wrong);
        return false;
    }
    sgc_assert(row->type != SGC_OPTION_TEXT || strlen(text) < SGC_OPTION_TEXT_BYTES);
    if (row->type == SGC_OPTION_TEXT)
        strcpy(sgc_option_text(row), text);         /* its length was checked */
    else
        sgc_option_store(row, value);
    origins[id] = (unsigned char)origin;
    return true;
}

void sgc_option_clamp(enum sgc_option_id id, int64_t value, const char *why)
{
    const struct sgc_option_row *row = &sgc_option_table[id];
    char before[SGC_OPTION_WORDS], after[SGC_OPTION_WORDS];

    sgc_assert((unsigned)id < SGC_OPTIONS);
    sgc_assert(sgc_option_accepts(row, value));
    sgc_option_current(row, before, sizeof before);
    if (why != NULL)
        sgc_warn("%s=%s: %s is used: %s", row->name, before, sgc_option_show(row, value, after, sizeof after), why);
    sgc_option_store(row, value);
    origins[id] = SGC_ORIGIN_CLAMPED;
}

static bool stop_mode_is_wanted(void)
{
    enum sgc_origin origin = sgc_option_origin(SGC_OPT_SGC_MODE);

    return sgc_options.mode == SGC_MODE_STOP && (origin == SGC_ORIGIN_ENVIRONMENT || origin == SGC_ORIGIN_PROGRAM);
}

/* Clamps each value that is in the accepted range but that another option does not allow. */
static void clamp_all(void)
{
    if (sgc_options.enable_incremental && sgc_options.disable_incremental)
        sgc_option_clamp(SGC_OPT_GC_ENABLE_INCREMENTAL, 0, NULL);
    if (sgc_options.enable_incremental && stop_mode_is_wanted())
        sgc_option_clamp(SGC_OPT_GC_ENABLE_INCREMENTAL, 0, "SGC_MODE=stop is set");
    if (sgc_options.enable_incremental)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_CONCURRENT, NULL);
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.disable_incremental)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "GC_DISABLE_INCREMENTAL is set");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.service == SGC_SERVICE_OFF)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "SGC_BACKGROUND_THREAD=off leaves nobody to mark beside the program");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.find_leak)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "GC_FIND_LEAK looks at all objects in a stop");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.huge_pages == SGC_HUGE_AUTO)
        sgc_option_clamp(SGC_OPT_SGC_HUGE_PAGES, SGC_HUGE_OFF, NULL);
    if (sgc_options.maximum_heap != 0 && sgc_options.initial_heap > sgc_options.maximum_heap)
        sgc_option_clamp(SGC_OPT_GC_INITIAL_HEAP_SIZE, (int64_t)sgc_options.maximum_heap,
                         "GC_MAXIMUM_HEAP_SIZE allows no more");
    sgc_assert(sgc_options.maximum_heap == 0 || sgc_options.initial_heap <= sgc_options.maximum_heap);
}

bool sgc_option_set(const char *name, const char *value)
{
    int id = sgc_option_find(name, strlen(name));

    if (id < 0) {
        report_unknown_name(name, strlen(name));
        return false;
    }
    if (!assign((enum sgc_option_id)id, value, SGC_ORIGIN_PROGRAM))
        return false;
    clamp_all();
    return true;
}

enum sgc_origin sgc_option_origin(enum sgc_option_id id)
{
    sgc_assert((unsigned)id < SGC_OPTIONS);
    return (enum sgc_origin)origins[id];
}

/* ---- the environment
 * --------------------------------------------------------------------------------- */

/* One entry NAME=VALUE.  A name that occurs twice counts the first time, as for getenv. */
static void read_entry(const char *entry, uint64_t *seen)
{
    _Static_assert(SGC_OPTIONS <= 64, "one bit an option");
    size_t length = strcspn(entry, "=");
    int id, unsupported;

    sgc_assert(strncmp(entry, "GC_", 3) == 0 || strncmp(entry, "SGC_", 4) == 0);
    if (entry[length] == '\0')
        return;                                     /* no '=': the environment is damaged, not ours
                                                     * to repair */
    if ((id = sgc_option_find(entry, length)) >= 0) {
        if ((*seen & UINT64_C(1) << id) == 0)
            assign((enum sgc_option_id)id, entry + length + 1, SGC_ORIGIN_ENVIRONMENT);
        *seen |= UINT64_C(1) << id;
    } else if ((unsupported = unsupported_find(entry, length)) >= 0) {
        sgc_warn("%s: not supported, ignored; %s", sgc_unsupported_table[unsupported].name,
                 sgc_unsupported_table[unsupported].advice);
    } else if (strncmp(entry, "SGC_", 4) == 0 && !is_foreign(entry, length) &&
               nearest(entry, length) != NULL) {
        report_unknown_name(entry, length);         /* what is near no option is somebody else's,
                                                     * such as SGC_PREFIX */
    }
}

void sgc_options_read_from(char *const *environment, bool secure)
{
    uint64_t seen = 0;

    if (was_read)
        return;
    was_read = true;
    if (!secure && environment != NULL)
        for (; *environment != NULL; environment++)
            if (strncmp(*environment, "GC_", 3) == 0 || strncmp(*environment, "SGC_", 4) == 0)
                read_entry(*environment, &seen);
    clamp_all();
}

void sgc_options_read(void)
{
    /* A program with more rights than whoever started it must not write files or change its
     * signals because of the starter's environment. */
    sgc_options_read_from(environ, getauxval(AT_SECURE) != 0);
}

void sgc_options_reset(void)
{
    for (int i = 0; i < SGC_OPTIONS; i++) {
        const struct sgc_option_row *row = &sgc_option_table[i];
        if (row->type == SGC_OPTION_TEXT)
            sgc_option_text(row)[0] = '\0';
        else
            sgc_option_store(row, row->initial);
        origins[i] = SGC_ORIGIN_DEFAULT;
    }
    was_read = false;
}

void sgc_options_print(void)
{
    for (int i = 0; i < SGC_OPTIONS; i++) {
        const struct sgc_option_row *row = &sgc_option_table[i];
        char range[SGC_OPTION_WORDS], current[512];    /* the whole line must fit into a message */

        sgc_print("%s=%s (%s; accepted: %s) %s", row->name, sgc_option_current(row, current, sizeof current),
                sgc_origin_name(sgc_option_origin((enum sgc_option_id)i)),
                sgc_option_range(row, range, sizeof range), row->help);
    }
}

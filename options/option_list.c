/* SPDX-License-Identifier: MIT */
/*
 * Finding, reading, setting, clamping and listing the options of a list.  Runs on the thread that
 * the library of the list names (see options/option_table.h); writes the values and states of that
 * list alone.
 */
#include "options/option_table.h"

#include <string.h>

#include "platform/text_line.h"
#include "platform/report.h"

static const struct sgc_option_row *row_of(const struct sgc_option_list *list, int id)
{
    sgc_assert(sgc_option_list_ok(list));
    sgc_assert(0 <= id && id < list->count);
    sgc_assert(sgc_option_row_ok(&list->rows[id]));
    return &list->rows[id];
}

/* ---- names
 * ------------------------------------------------------------------------------------------- */

static bool same_name(const char *known, const char *name, size_t length)
{
    sgc_assert(strnlen(name, length) == length);
    return strncmp(known, name, length) == 0 && known[length] == '\0';
}

int sgc_option_list_find(const struct sgc_option_list *list, const char *name, size_t length)
{
    for (int i = 0; i < list->count; i++)
        if (same_name(row_of(list, i)->name, name, length))
            return i;
    return -1;
}

/* The unsupported option whose name is the first `length` characters of `name`; NULL: none. */
static const struct sgc_unsupported_row *unsupported_find(const struct sgc_option_list *list, const char *name,
                                                          size_t length)
{
    sgc_assert(sgc_option_list_ok(list));
    for (int i = 0; i < list->unsupported_count; i++)
        if (same_name(list->unsupported[i].name, name, length))
            return &list->unsupported[i];
    return NULL;
}

/* Is it a name that begins with SGC_ but is another library's, or a tool's? */
static bool is_foreign(const struct sgc_option_list *list, const char *name, size_t length)
{
    sgc_assert(length >= 4 && strncmp(name, "SGC_", 4) == 0);       /* nothing else is asked about */
    for (int i = 0; i < list->foreign_count; i++)
        if (same_name(list->foreign[i], name, length))
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

/* The option's name that is most like this one; NULL if none is near. */
static const char *nearest(const struct sgc_option_list *list, const char *name, size_t length)
{
    const char *best = NULL, *part = own_part(name);
    size_t part_length = length - (size_t)(part - name);
    int best_distance = (part_length / 3 < FARTHEST ? (int)(part_length / 3) : FARTHEST) + 1;

    sgc_assert(strnlen(name, length) == length);
    if (length > LONGEST)
        return NULL;
    for (int i = 0; i < list->count; i++) {
        const char *known = own_part(row_of(list, i)->name);
        int d = distance(part, part_length, known, strlen(known));

        if (d < best_distance) {
            best_distance = d;
            best = list->rows[i].name;
        }
    }
    return best;
}

/* ---- messages
 * ---------------------------------------------------------------------------------------- */

enum { QUOTED = 64 };

static void report_bad_value(const struct sgc_option_list *list, int id, const char *value, const char *wrong)
{
    const struct sgc_option_row *row = row_of(list, id);
    char quoted[QUOTED], range[SGC_OPTION_WORDS], current[SGC_OPTION_WORDS];

    sgc_warn("%s=%s: %s; accepted: %s; the %s %s is used", row->name,
             sgc_quote(value, strlen(value), quoted, QUOTED), wrong, sgc_option_range(row, range, sizeof range),
             list->states[id].origin == SGC_ORIGIN_DEFAULT ? "default" : "earlier value",
             sgc_option_current(row, current, sizeof current));
}

static void report_unknown_name(const struct sgc_option_list *list, const char *name, size_t length)
{
    const char *near = nearest(list, name, length);
    char quoted[QUOTED];

    sgc_assert(sgc_option_list_find(list, name, length) < 0);
    sgc_warn("%s: no such option, ignored%s%s; SGC_PRINT_OPTIONS=1 lists all options",
             sgc_quote(name, length, quoted, QUOTED),
             near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

/* ---- setting
 * ----------------------------------------------------------------------------------------- */

/* The advice for a word that the option does not have any more; NULL for any other word. */
static const char *word_advice(const struct sgc_option_list *list, const char *name, const char *word)
{
    sgc_assert(sgc_option_list_ok(list));
    for (int i = 0; i < list->word_count; i++)
        if (strcmp(list->words[i].name, name) == 0 && strcmp(list->words[i].word, word) == 0)
            return list->words[i].advice;
    return NULL;
}

/* Reads a value as sgc_option_parse does; of a word that an ENUM had the error is the advice. */
static const char *parse(const struct sgc_option_list *list, const struct sgc_option_row *row, const char *text,
                         int64_t *value)
{
    const char *wrong = sgc_option_parse(row, text, value);
    const char *advice = wrong != NULL && row->type == SGC_OPTION_ENUM ? word_advice(list, row->name, text) : NULL;

    return advice != NULL ? advice : wrong;
}

static bool assign(const struct sgc_option_list *list, int id, const char *text, enum sgc_origin origin)
{
    const struct sgc_option_row *row = row_of(list, id);
    int64_t value = 0;
    const char *wrong = parse(list, row, text, &value);

    sgc_assert(origin != SGC_ORIGIN_DEFAULT);
    if (wrong != NULL) {
        report_bad_value(list, id, text, wrong);
        return false;
    }
    sgc_assert(row->type != SGC_OPTION_TEXT || strlen(text) <= (size_t)row->max);
    if (row->type == SGC_OPTION_TEXT)
        strcpy(sgc_option_text(row), text);         /* its length was checked */
    else
        sgc_option_store(row, value);
    list->states[id].origin = (unsigned char)origin;
    return true;
}

bool sgc_option_list_set(const struct sgc_option_list *list, const char *name, const char *value)
{
    int id = sgc_option_list_find(list, name, strlen(name));

    if (id < 0) {
        report_unknown_name(list, name, strlen(name));
        return false;
    }
    return assign(list, id, value, SGC_ORIGIN_PROGRAM);
}

void sgc_option_list_clamp(const struct sgc_option_list *list, int id, int64_t value, const char *why)
{
    const struct sgc_option_row *row = row_of(list, id);
    char before[SGC_OPTION_WORDS], after[SGC_OPTION_WORDS];

    sgc_assert(sgc_option_accepts(row, value));
    sgc_option_current(row, before, sizeof before);
    if (why != NULL)
        sgc_warn("%s=%s: %s is used: %s", row->name, before, sgc_option_show(row, value, after, sizeof after), why);
    sgc_option_store(row, value);
    list->states[id].origin = SGC_ORIGIN_CLAMPED;
}

void sgc_option_list_reset(const struct sgc_option_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct sgc_option_row *row = row_of(list, i);

        if (row->type == SGC_OPTION_TEXT)
            sgc_option_text(row)[0] = '\0';
        else
            sgc_option_store(row, row->initial);
        list->states[i] = (struct sgc_option_state){ SGC_ORIGIN_DEFAULT, false };
    }
}

/* ---- the environment
 * --------------------------------------------------------------------------------- */

/* One entry NAME=VALUE.  A name that occurs twice counts the first time, as for getenv. */
static void read_entry(const struct sgc_option_list *list, const char *entry)
{
    size_t length = strcspn(entry, "=");
    const struct sgc_unsupported_row *unsupported;
    int id;

    sgc_assert(strncmp(entry, "GC_", 3) == 0 || strncmp(entry, "SGC_", 4) == 0);
    if (entry[length] == '\0')
        return;                                     /* no '=': the environment is damaged, not ours
                                                     * to repair */
    if ((id = sgc_option_list_find(list, entry, length)) >= 0) {
        if (!list->states[id].seen)
            assign(list, id, entry + length + 1, SGC_ORIGIN_ENVIRONMENT);
        list->states[id].seen = true;
    } else if ((unsupported = unsupported_find(list, entry, length)) != NULL) {
        sgc_warn("%s: not supported, ignored; %s", unsupported->name, unsupported->advice);
    } else if (strncmp(entry, "SGC_", 4) == 0 && !is_foreign(list, entry, length) &&
               nearest(list, entry, length) != NULL) {
        report_unknown_name(list, entry, length);   /* what is near no option is somebody else's,
                                                     * such as SGC_PREFIX */
    }
}

void sgc_option_list_read(const struct sgc_option_list *list, char *const *environment, bool secure)
{
    sgc_assert(sgc_option_list_ok(list));
    if (secure || environment == NULL)
        return;
    for (int i = 0; i < list->count; i++)
        list->states[i].seen = false;
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, "GC_", 3) == 0 || strncmp(*environment, "SGC_", 4) == 0)
            read_entry(list, *environment);
}

/* ---- the listing
 * ------------------------------------------------------------------------------------- */

void sgc_option_list_print(const struct sgc_option_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct sgc_option_row *row = row_of(list, i);
        char range[SGC_OPTION_WORDS], current[512];    /* the whole line must fit into a message */

        sgc_print("%s=%s (%s; accepted: %s) %s", row->name, sgc_option_current(row, current, sizeof current),
                sgc_origin_name((enum sgc_origin)list->states[i].origin), sgc_option_range(row, range, sizeof range),
                row->help);
    }
}

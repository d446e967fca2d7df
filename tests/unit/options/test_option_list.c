/* SPDX-License-Identifier: MIT */
/*
 * Lists of options: more rows than a word has bits, names of others, fields of each type, and two lists that do not disturb
 * each other.  What a value of each type may be, and how it is shown, tests/unit/gc/config/test_options.c asks of the
 * collector's list.
 *
 * Also: options/option_table.c.
 */
#include "options/option_table.h"
#include "tests/lib/capture.h"

/* ---- a list of many --------------------------------------------------------------------------------------- */

enum { MANY = 70 };

static int numbers[MANY];
static char names[MANY][24];
static struct sgc_option_row many_rows[MANY];
static struct sgc_option_state many_states[MANY];

static const struct sgc_option_list many = { .rows = many_rows, .states = many_states, .count = MANY };

static void make_many(void)
{
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "SGC_NUMBER_%02d", i);
        many_rows[i] = (struct sgc_option_row){ .name = names[i], .help = "a number", .initial = 1, .max = 1000,
                                                .special = SGC_NONE, .type = SGC_OPTION_INT, .field = &numbers[i] };
    }
    sgc_option_list_reset(&many);
}

/* ---- a list of each sort of row --------------------------------------------------------------------------- */

static struct {
    bool quiet;
    size_t room;
    int way;
    char file[9];
} values;

enum { QUIET, ROOM, WAY, FILE_NAME, ROWS };

static const struct sgc_option_row rows[ROWS] = {
    { .name = "SGC_QUIET", .help = "say nothing", .max = 1, .special = SGC_NONE, .type = SGC_OPTION_BOOL,
      .field = &values.quiet },
    { .name = "SGC_ROOM", .help = "bytes", .initial = 4096, .min = 1024, .max = 1 << 20, .special = 0, .type = SGC_OPTION_SIZE,
      .field = &values.room },
    { .name = "SGC_WAY", .words = "up|down", .help = "where to", .max = 1, .special = SGC_NONE, .type = SGC_OPTION_ENUM,
      .field = &values.way },
    { .name = "SGC_FILE", .help = "a file", .min = 1, .max = sizeof values.file - 1, .special = SGC_NONE,
      .type = SGC_OPTION_TEXT, .field = &values.file },
};

static struct sgc_option_state states[ROWS];
static const struct sgc_unsupported_row unsupported[] = { { .name = "SGC_LOUD", .advice = "leave SGC_QUIET out" } };
static const struct sgc_unsupported_word words[] = { { .name = "SGC_WAY", .word = "left", .advice = "it is called up now" } };
static const char *const foreign[] = { "SGC_QUIETS", "SGC_ROOMS" };

static const struct sgc_option_list list = {
    .rows = rows,
    .states = states,
    .count = ROWS,
    .unsupported = unsupported,
    .unsupported_count = 1,
    .words = words,
    .word_count = 1,
    .foreign = foreign,
    .foreign_count = 2,
};

/* ---- helpers ---------------------------------------------------------------------------------------------- */

static const char *read_environment(const struct sgc_option_list *which, char *const *environment, bool secure)
{
    sgc_option_list_reset(which);
    return capture_said(sgc_option_list_read(which, environment, secure));
}

static const char *read_one(const char *entry)
{
    static char text[200];
    char *const environment[] = { text, NULL };

    snprintf(text, sizeof text, "%s", entry);
    return read_environment(&list, environment, false);
}

static bool all_default(const struct sgc_option_list *which)
{
    for (int i = 0; i < which->count; i++)
        if (which->states[i].origin != SGC_ORIGIN_DEFAULT)
            return false;
    return true;
}

/* ---- the checks ------------------------------------------------------------------------------------------- */

static void check_many(void)
{
    static char entries[2 * MANY][40];
    static char *environment[2 * MANY + 1];
    bool right = true;

    for (int i = 0; i < 2 * MANY; i++) {
        snprintf(entries[i], sizeof entries[i], "%s=%d", names[i % MANY], 100 + i);
        environment[i] = entries[i];
    }
    tap_ok(read_environment(&many, environment, false)[0] == '\0', "more options than a word has bits are read");
    for (int i = 0; i < MANY; i++)
        right &= numbers[i] == 100 + i && many_states[i].origin == SGC_ORIGIN_ENVIRONMENT &&
                 sgc_option_list_find(&many, names[i], strlen(names[i])) == i;
    tap_ok(right, "and of each name that occurs twice the first counts");
    environment[1] = NULL;
    right = read_environment(&many, environment, false)[0] == '\0' && numbers[0] == 100 && numbers[64] == 1;
    environment[0] = entries[64];
    right &= read_environment(&many, environment, false)[0] == '\0' && numbers[0] == 1 && numbers[64] == 164;
    tap_ok(right, "options that lie 64 rows apart are two");
    const char *text = capture_said(sgc_option_list_print(&many));
    tap_ok(capture_count(text, "\n") == MANY &&
           strstr(text, "SGC: SGC_NUMBER_64=164 (environment; accepted: 0 to 1000) a number\n") != NULL &&
           strstr(text, "SGC: SGC_NUMBER_69=1 (default; accepted: 0 to 1000) a number\n") != NULL, "and all are printed");
}

static void check_fields(void)
{
    char *const environment[] = { "SGC_QUIET=on", "SGC_ROOM=64k", "SGC_WAY=down", "SGC_FILE=12345678", NULL };

    tap_ok(read_environment(&list, environment, false)[0] == '\0' && values.quiet && values.room == 65536 && values.way == 1 &&
           strcmp(values.file, "12345678") == 0, "a field of each type is written");
    tap_ok(sgc_option_number(&rows[QUIET]) == 1 && sgc_option_number(&rows[ROOM]) == 65536 &&
           sgc_option_number(&rows[WAY]) == 1 && sgc_option_text(&rows[FILE_NAME]) == values.file, "and read");
    tap_ok(sgc_option_list_ok(&list) && sgc_option_list_ok(&many) && sgc_option_row_ok(&rows[WAY]),
           "lists and rows are right");
    sgc_option_list_reset(&list);
    tap_ok(all_default(&list) && !values.quiet && values.room == 4096 && values.way == 0 && values.file[0] == '\0',
           "each goes back to its default");
    tap_ok(strcmp(capture_said(sgc_option_list_print(&list)),
                  "SGC: SGC_QUIET=0 (default; accepted: 0|1|off|on|no|yes|false|true) say nothing\n"
                  "SGC: SGC_ROOM=4k (default; accepted: 1k to 1m, or 0) bytes\n"
                  "SGC: SGC_WAY=up (default; accepted: up|down) where to\n"
                  "SGC: SGC_FILE=none (default; accepted: a file name of 1 to 8 bytes) a file\n") == 0,
           "which is printed, names of others are not");
}

static void check_names(void)
{
    tap_ok(strstr(read_one("SGC_QUIETE=1"), "SGC_QUIETE: no such option, ignored; did you mean SGC_QUIET;") != NULL,
           "a name that is like an option's is reported");
    tap_ok(read_one("SGC_QUIETS=1")[0] == '\0' && read_one("SGC_ROOMS=1")[0] == '\0',
           "one of others is not, though it is as like");
    tap_ok(read_one("SGC_SOMETHING=1")[0] == '\0' && read_one("GC_QUIETE=1")[0] == '\0', "nor is any other");
    tap_ok(strcmp(read_one("SGC_LOUD=1"), "SGC: warning: SGC_LOUD: not supported, ignored; leave SGC_QUIET out\n") == 0,
           "what is not supported is answered");
    tap_ok(strcmp(read_one("SGC_WAY=left"),
                  "SGC: warning: SGC_WAY=left: it is called up now; accepted: up|down; the default up is used\n") == 0,
           "so is a word that an option had");
    tap_ok(strstr(read_one("SGC_WAY=right"), "SGC_WAY=right: not one of the known words; ") != NULL, "but not any word");
}

static void check_environments(void)
{
    char *const one[] = { "SGC_ROOM=8k", NULL };
    char *const other[] = { "SGC_ROOM=16k", "SGC_ROOM=32k", NULL };

    tap_ok(read_environment(&list, NULL, false)[0] == '\0' && all_default(&list), "there may be no environment");
    tap_ok(read_environment(&list, one, true)[0] == '\0' && all_default(&list),
           "with more rights than the starter nothing is read");
    tap_ok(read_environment(&list, one, false)[0] == '\0' && values.room == 8192, "without, it is");
    sgc_option_list_read(&list, other, false);
    tap_ok(values.room == 16384, "an environment that is read later counts, of it the first entry");
}

static void check_program(void)
{
    const char *said;
    bool set;

    sgc_option_list_reset(&list);
    said = capture_said(set = sgc_option_list_set(&list, "SGC_FILE", "a") && sgc_option_list_set(&list, "SGC_ROOM", "2k"));
    tap_ok(said[0] == '\0' && set && strcmp(values.file, "a") == 0 && values.room == 2048 &&
           states[ROOM].origin == SGC_ORIGIN_PROGRAM, "the program sets options");
    said = capture_said(set = sgc_option_list_set(&list, "SGC_FILE", "123456789") ||
                              sgc_option_list_set(&list, "SGC_ROOMS", "2k"));
    tap_ok(!set && strstr(said, "SGC_FILE=123456789: too long; ") != NULL &&
           strstr(said, "the earlier value a is used\n") != NULL && strstr(said, "SGC_ROOMS: no such option, ") != NULL,
           "but none that there is not, and to no other value");
    tap_ok(strcmp(capture_said(sgc_option_list_clamp(&list, ROOM, 1024, "there is no more")),
                  "SGC: warning: SGC_ROOM=2k: 1k is used: there is no more\n") == 0 && values.room == 1024 &&
           states[ROOM].origin == SGC_ORIGIN_CLAMPED, "a value is clamped, and says why");
}

/* As two libraries of one process have them. */
static void check_two_lists(void)
{
    char *const environment[] = { "SGC_QUIET=1", "SGC_NUMBER_65=7", NULL };

    sgc_option_list_reset(&many);
    tap_ok(read_environment(&list, environment, false)[0] == '\0' && values.quiet && numbers[65] == 1 && all_default(&many),
           "a list takes its own options");
    tap_ok(read_environment(&many, environment, false)[0] == '\0' && numbers[65] == 7 &&
           states[QUIET].origin == SGC_ORIGIN_ENVIRONMENT && states[ROOM].origin == SGC_ORIGIN_DEFAULT,
           "and another list its own");
}

int main(void)
{
    make_many();
    return tap_all(check_many, check_fields, check_names, check_environments, check_program, check_two_lists);
}

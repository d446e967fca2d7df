/* SPDX-License-Identifier: MIT */
/*
 * Options: every row of the table with every sort of value, the messages, who has the last word, and
 * what a privileged program ignores.
 *
 * Also: options/option_signal.c, options/option_text.c, gc/config/public_vars.c.
 */
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <sys/auxv.h>

#include "gc/config/option_set.h"
#include "platform/report.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"
#include "tests/lib/sanitized.h"

/* ---- helpers ------------------------------------------------------------------------------------------ */

static const char *read_environment(char *const *environment, bool secure)
{
    sgc_options_reset();
    return capture_said(sgc_options_read_from(environment, secure));
}

/* Reads an environment of one entry; returns what was said. */
static const char *read_one(const char *name, const char *value)
{
    static char entry[8192];
    char *environment[] = { entry, NULL };

    snprintf(entry, sizeof entry, "%s=%s", name, value);
    return read_environment(environment, false);
}

static enum sgc_option_id id_of(const struct sgc_option_row *row)
{
    return (enum sgc_option_id)(row - sgc_option_table);
}

static bool is_default(const struct sgc_option_row *row)
{
    if (sgc_option_origin(id_of(row)) != SGC_ORIGIN_DEFAULT)
        return false;
    if (row->type == SGC_OPTION_TEXT)
        return sgc_option_text(row)[0] == '\0';
    return sgc_option_number(row) == row->initial;
}

/* The value is taken, without a message unless it is clamped. */
static bool accepts(const struct sgc_option_row *row, const char *text, int64_t value)
{
    const char *said = read_one(row->name, text);
    int64_t wanted = value;
    enum sgc_origin origin = wanted == value ? SGC_ORIGIN_ENVIRONMENT : SGC_ORIGIN_CLAMPED;
    bool right = sgc_option_number(row) == wanted && sgc_option_origin(id_of(row)) == origin &&
                 (said[0] == '\0') == (wanted == value);

    if (!right)
        tap_diag("%s=%s: value %ld, wanted %ld, said: %s", row->name, text, (long)sgc_option_number(row),
                 (long)wanted, said);
    return right;
}

/* The value is refused with one line that has the value, what is accepted and what is used. */
static bool refuses(const struct sgc_option_row *row, const char *text)
{
    const char *said = read_one(row->name, text);
    char range[SGC_OPTION_WORDS], used[SGC_OPTION_WORDS], begin[80], current[SGC_OPTION_WORDS];

    snprintf(begin, sizeof begin, "SGC: warning: %s=%.60s: ", row->name, text);
    if (strlen(text) > 60)                          /* long ones are cut */
        begin[40] = '\0';
    sgc_option_range(row, range, sizeof range);
    snprintf(used, sizeof used, "the default %s is used\n", sgc_option_current(row, current, sizeof current));
    bool right = is_default(row) && strncmp(said, begin, strlen(begin)) == 0 && strstr(said, range) != NULL &&
                 strstr(said, used) != NULL && capture_count(said, "\n") == 1;
    if (!right)
        tap_diag("%s=%s: said: %s", row->name, text, said);
    return right;
}

static const char *number(int64_t value)
{
    static char text[32];
    snprintf(text, sizeof text, "%ld", (long)value);
    return text;
}

/* ---- every row ---------------------------------------------------------------------------------------- */

static const char *const nonsense[] = {
    "", "x", " 1", "1 ", "+1", "-", "1x", "0x10", "1.5", "1,000", "99999999999999999999", "-99999999999999999999",
    "9223372036854775808", "\xff", "1\n", "--1", "all|", "|", "SIG", "SIGRTMIN+", "yes please",
};

static bool row_refuses_nonsense(const struct sgc_option_row *row)
{
    bool right = true;

    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        const char *text = nonsense[i];
        if (row->type == SGC_OPTION_RATIO && strcmp(text, "1.5") == 0)
            continue;
        if (text[0] == '\xff' || strchr(text, '\n'))
            right &= read_one(row->name, text)[0] != '\0' && is_default(row);   /* shown as '?' */
        else
            right &= refuses(row, text);
    }
    return right;
}

static void check_interval(const struct sgc_option_row *row)
{
    char text[SGC_OPTION_WORDS];

    tap_ok(accepts(row, number(row->min), row->min) && accepts(row, number(row->max), row->max),
           "%s: lowest and highest", row->name);
    tap_ok(accepts(row, sgc_option_show(row, row->min, text, sizeof text), row->min) &&
           accepts(row, sgc_option_show(row, row->max, text, sizeof text), row->max),
           "%s: both as SGC_PRINT_OPTIONS writes them", row->name);
    if (row->special == SGC_NONE)
        tap_ok(refuses(row, number(row->min - 1)), "%s: below the lowest", row->name);
    else
        tap_ok(accepts(row, number(row->special), row->special), "%s: the special value", row->name);
    tap_ok(refuses(row, number((row->special == row->min - 1 ? row->special : row->min) - 1)) &&
           refuses(row, number(row->max + 1)) && refuses(row, number(-123456789)),
           "%s: beyond both ends", row->name);
}

/* As SGC_PRINT_OPTIONS writes it, a ratio is read again as what it was. */
static bool ratios_return(const struct sgc_option_row *row)
{
    char text[SGC_OPTION_WORDS];
    bool right = true;

    for (int64_t value = row->min; value <= row->max && right; value += value < 2000 ? 1 : 977) {
        int64_t again = 0;
        right = sgc_option_parse(row, sgc_option_show(row, value, text, sizeof text), &again) == NULL && again == value;
        if (!right)
            tap_diag("%ld is shown as %s, which is %ld", (long)value, text, (long)again);
    }
    return right;
}

static bool shows(const struct sgc_option_row *row, int64_t value, const char *wanted)
{
    char text[SGC_OPTION_WORDS];

    return strcmp(sgc_option_show(row, value, text, sizeof text), wanted) == 0;
}

/* Ints that may be 0 for what is found out have the word for it. */
static void check_automatic(void)
{
    const struct sgc_option_row *markers = &sgc_option_table[SGC_OPT_GC_MARKERS];
    const struct sgc_option_row *divisor = &sgc_option_table[SGC_OPT_GC_FREE_SPACE_DIVISOR];

    tap_ok(accepts(markers, "auto", 0) && accepts(markers, "0", 0), "GC_MARKERS=auto is 0");
    tap_ok(refuses(markers, "AUTO") && refuses(markers, "auto0") && refuses(divisor, "auto"), "but not where 0 is none");
}

static void check_ratio(const struct sgc_option_row *row)
{
    static const char *const beyond[] = { "0", "0.999999999", "-1", "-1.5", "-0.5", "65536.5", "65537", "1000000000" };
    static const char *const refused[] = { "1e9", "1,5", "1.", ".5", "1.5.", "1.5x", "1.-5", "1. 5", "1.0000000000", "0x1.8",
                                           "nan", "inf", "AUTO", "auto ", "autos", "36028797018963968", "-36028797018963969" };
    bool right = true;

    tap_ok(accepts(row, "1", 256) && accepts(row, "65536", row->max) && accepts(row, "auto", 0), "%s: lowest, highest, auto",
           row->name);
    tap_ok(accepts(row, "1.5", 384) && accepts(row, "1.50", 384) && accepts(row, "01.500000000", 384) &&
           accepts(row, "2.0", 512), "%s: decimals", row->name);
    tap_ok(accepts(row, "1.3", 332) && accepts(row, "1.999999999", 511) && accepts(row, "1.003", 256),
           "%s: parts below a 256th are cut off", row->name);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        right &= refuses(row, beyond[i]) && strstr(read_one(row->name, beyond[i]), ": out of range;") != NULL;
    tap_ok(right, "%s: beyond both ends", row->name);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        right &= refuses(row, refused[i]);
    tap_ok(right, "%s: what is no decimal number", row->name);
    tap_ok(shows(row, 384, "1.5") && shows(row, 332, "1.3") && shows(row, 257, "1.004") && shows(row, 512, "2") &&
           shows(row, 0, "auto"), "%s: shown with as few places as needed", row->name);
    tap_ok(ratios_return(row), "%s: what is shown is read as the same", row->name);
}

static void check_bool(const struct sgc_option_row *row)
{
    static const char *const words[2][4] = { { "0", "off", "no", "false" }, { "1", "on", "yes", "true" } };

    for (int value = 0; value < 2; value++)
        for (int i = 0; i < 4; i++)
            tap_ok(accepts(row, words[value][i], value), "%s=%s", row->name, words[value][i]);
    tap_ok(refuses(row, "2") && refuses(row, "-1") && refuses(row, "ON") && refuses(row, "tru"),
           "%s: other words", row->name);
}

static void check_enum(const struct sgc_option_row *row)
{
    char text[SGC_OPTION_WORDS];

    for (int64_t value = row->min; value <= row->max; value++) {
        sgc_option_show(row, value, text, sizeof text);
        tap_ok(text[0] != '\0' && accepts(row, text, value), "%s=%s", row->name, text);
    }
    sgc_option_show(row, row->max, text, sizeof text);
    text[strlen(text) - 1] = '\0';
    tap_ok(refuses(row, text) && refuses(row, "0") && refuses(row, row->words), "%s: other words", row->name);
}

static void check_text(const struct sgc_option_row *row)
{
    static char longest[SGC_OPTION_TEXT_BYTES + 1];

    memset(longest, 'n', sizeof longest);
    longest[SGC_OPTION_TEXT_BYTES] = '\0';
    tap_ok(read_one(row->name, "a b;c")[0] == '\0' && strcmp(sgc_option_text(row), "a b;c") == 0,
           "%s: a name", row->name);
    tap_ok(refuses(row, longest), "%s: one byte too long", row->name);
    longest[SGC_OPTION_TEXT_BYTES - 1] = '\0';
    tap_ok(read_one(row->name, longest)[0] == '\0' && strcmp(sgc_option_text(row), longest) == 0,
           "%s: the longest name", row->name);
    tap_ok(refuses(row, ""), "%s: empty", row->name);
}

static void check_row(const struct sgc_option_row *row)
{
    static char *const nothing[] = { NULL };

    tap_ok(read_environment(nothing, false)[0] == '\0' && is_default(row), "%s: default", row->name);
    if (row->type == SGC_OPTION_TEXT) {
        check_text(row);
        return;
    }
    tap_ok((row->min <= row->initial && row->initial <= row->max) || row->initial == row->special,
           "%s: the default is an accepted value", row->name);
    tap_ok(row_refuses_nonsense(row), "%s: nonsense", row->name);
    if (row->type == SGC_OPTION_BOOL)
        check_bool(row);
    else if (row->type == SGC_OPTION_ENUM)
        check_enum(row);
    else if (row->type == SGC_OPTION_RATIO)
        check_ratio(row);
    else
        check_interval(row);
}

/* Each row has a field of its own. */
static void check_fields(void)
{
    bool apart = true;

    for (int i = 0; i < SGC_OPTIONS; i++)
        for (int j = 0; j < i; j++)
            apart &= sgc_option_table[i].field != sgc_option_table[j].field &&
                     strcmp(sgc_option_table[i].name, sgc_option_table[j].name) != 0;
    tap_ok(apart, "names and fields occur once");
    for (int i = 0; i < sgc_unsupported_count; i++)
        apart &= sgc_option_find(sgc_unsupported_table[i].name, strlen(sgc_unsupported_table[i].name)) < 0;
    tap_ok(apart, "no option is both supported and not");
}

/* ---- sizes and signals -------------------------------------------------------------------------------- */

static void check_sizes(void)
{
    const struct sgc_option_row *row = &sgc_option_table[SGC_OPT_GC_INITIAL_HEAP_SIZE];

    tap_ok(accepts(row, "65536", 65536) && accepts(row, "64k", 65536) && accepts(row, "64K", 65536), "k is 1024");
    tap_ok(accepts(row, "3m", 3 << 20) && accepts(row, "3M", 3 << 20), "m is 1024 k");
    tap_ok(accepts(row, "5g", INT64_C(5) << 30) && accepts(row, "5G", INT64_C(5) << 30), "g is 1024 m");
    tap_ok(accepts(row, "1t", INT64_C(1) << 40) && accepts(row, "1T", INT64_C(1) << 40), "t is 1024 g");
    tap_ok(refuses(row, "64kb") && refuses(row, "64 k") && refuses(row, "k") && refuses(row, "64b") &&
           refuses(row, "64kk") && refuses(row, "-64k") && refuses(row, "0"), "other suffixes and forms");
    tap_ok(refuses(row, "9223372036854775807k") && refuses(row, "17179869184g"), "sizes that overflow");
}

static void check_signals(void)
{
    const struct sgc_option_row *row = &sgc_option_table[SGC_OPT_SGC_SUSPEND_SIGNAL];
    static const char *const refused[] = { "SIGKILL", "STOP", "SIGSEGV", "BUS", "FPE", "SIGILL", "9", "11", "19",
                                           "CONT", "32", "33", "RTMIN+31", "RTMIN-1", "RTMAX+1", "RTMIN+x",
                                           "RTMIN+001", "sigusr1", "SIGSIGUSR1", "0", "65" };
    bool right = true;

    tap_ok(accepts(row, "SIGUSR1", SIGUSR1) && accepts(row, "USR2", SIGUSR2) && accepts(row, "SIGXCPU", SIGXCPU),
           "signals by name");
    tap_ok(accepts(row, "RTMIN", SIGRTMIN) && accepts(row, "SIGRTMIN+3", SIGRTMIN + 3) &&
           accepts(row, "RTMAX-1", SIGRTMAX - 1) && accepts(row, "SIGRTMAX", SIGRTMAX), "real-time signals by name");
    tap_ok(accepts(row, number(SIGUSR1), SIGUSR1) && accepts(row, number(SIGRTMIN + 1), SIGRTMIN + 1),
           "signals by number");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        right &= refuses(row, refused[i]);
    tap_ok(right, "signals that cannot stop threads, and words that are none");
    for (int signal = 1; signal <= 31; signal++) {
        const char *name = sgc_signal_name(signal);
        right &= name != NULL && sgc_signal_number(name) == signal && sgc_signal_number(name + 3) == signal;
    }
    tap_ok(right && sgc_signal_name(SIGRTMIN) == NULL, "names and numbers agree");
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool suggests(const char *name, const char *wanted)
{
    const char *said = read_one(name, "1");
    char part[120];

    snprintf(part, sizeof part, "%s: no such option, ignored; did you mean %s;", name, wanted);
    return strstr(said, part) != NULL && capture_count(said, "\n") == 1;
}

/* Projects have variables of such names for themselves. */
static void check_others_names(void)
{
    static const char *const names[] = {
        "SGC_", "SGC_X", "SGC_PREFIX", "SGC_HOME", "SGC_ROOT", "SGC_DIR", "SGC_PATH", "SGC_VERSION", "SGC_INCLUDE_DIR",
        "SGC_CFLAGS", "SGC_LIBS", "SGC_BUILD", "SGC_DEBUG_LEVEL", "SGC_CONFIG", "SGC_USER", "SGC_TOKEN", "SGC_URL",
        "SGC_QQQQQQQQQQQQQ", "SGC_ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ",
    };
    size_t reported = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (read_one(names[i], "1")[0] != '\0') {
            tap_diag("%s is reported", names[i]);
            reported++;
        }
    tap_ok(reported == 0, "names that are near no option are somebody else's");
}

static const char *set_one(const char *name)
{
    sgc_options_reset();
    return capture_said(sgc_option_set(name, "1"));
}

static void check_unknown_names(void)
{
    const char *said;

    tap_ok(suggests("SGC_DECAYMS", "SGC_DECAY_MS"), "a letter too few");
    tap_ok(suggests("SGC_DECAY_MSS", "SGC_DECAY_MS"), "a letter too many");
    tap_ok(suggests("SGC_MARKERS", "GC_MARKERS"), "the wrong prefix");
    tap_ok(suggests("SGC_TORTURE_SEDE", "SGC_TORTURE_SEED"), "letters changed");
    tap_ok(suggests("SGC_LOG_FI", "GC_LOG_FILE"), "the first of the nearest, not a later one");
    tap_ok(suggests("SGC_MOD", "SGC_MODE"), "a short name, and a letter too few");
    check_others_names();
    said = set_one("SGC_QQQQQQQQQQQQQ");
    tap_ok(strstr(said, "SGC_QQQQQQQQQQQQQ: no such option, ignored; SGC_PRINT_OPTIONS=1 lists") != NULL,
           "what the program itself sets is said to be none, without a suggestion when nothing is near");
    said = set_one("SGC_\x1b[31mLOG_ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ");
    tap_ok(strchr(said, '\x1b') == NULL && strstr(said, "SGC_?[31mLOG_A") != NULL && strstr(said, "...: no such"),
           "a strange long name is shown harmlessly");
    tap_ok(read_one("GC_NO_SUCH_THING", "1")[0] == '\0' && read_one("XSGC_LOG", "1")[0] == '\0',
           "names without SGC_ are not ours");
    tap_ok(read_one("SGC_TEST_TIMEOUT", "1")[0] == '\0', "the test suite's own names are not reported");
    tap_ok(read_one("SGC_MALLOC", "1")[0] == '\0' && read_one("SGC_MALLOC_STATS", "1")[0] == '\0' &&
           read_one("SGC_HARDEN", "2")[0] == '\0' && read_one("SGC_HARDEN_ACTION", "report")[0] == '\0', "nor are malloc's");
}

static void check_unsupported(void)
{
    bool right = sgc_unsupported_count > 10;

    for (int i = 0; i < sgc_unsupported_count; i++) {
        const struct sgc_unsupported_row *row = &sgc_unsupported_table[i];
        const char *said = read_one(row->name, "1");
        right &= strstr(said, row->name) != NULL && strstr(said, "not supported") != NULL &&
                 strstr(said, row->advice) != NULL && capture_count(said, "\n") == 1;
    }
    tap_ok(right, "each option of bdwgc that is not supported is answered");
    tap_ok(read_one("GC_LARGE_ALLOC_WARN_INTERVAL", "30000")[0] == '\0' && read_one("GC_NO_BLACKLIST_WARNING", "1")[0] == '\0',
           "one that asks for fewer warnings of a kind that there is not is fulfilled without a word");
    tap_ok(strcmp(read_one("SGC_PAGE_POLICY", "as"),
                  "SGC: warning: SGC_PAGE_POLICY=as: AS of the thesis shares the free objects, too, and is not considered "
                  "further there; what was called as here is ps; accepted: ps|al|lps; the default lps is used\n") == 0,
           "and a word that an option had: %s", read_one("SGC_PAGE_POLICY", "as"));
}

static void check_odd_environments(void)
{
    char *const twice[] = { "GC_NPROCS=3", "GC_NPROCS=4", "GC_NPROCS=x", NULL };
    char *const damaged[] = { "SGC_LOG_JSON", "SGC_", "", "=", "GC_NPROCS=5", NULL };

    tap_ok(read_environment(twice, false)[0] == '\0' && sgc_options.processors == 3,
           "a name that occurs twice counts the first time");
    tap_ok(read_environment(damaged, false)[0] == '\0' && sgc_options.processors == 5,
           "entries without = are passed over");
    tap_ok(read_environment(NULL, false)[0] == '\0', "there may be no environment");
    read_environment(twice, false);
    sgc_options_read_from(damaged, false);
    tap_ok(sgc_options.processors == 3, "the environment is read once");
}

/* ---- who has the last word ---------------------------------------------------------------------------- */

static void check_program(void)
{
    char *const environment[] = { "GC_NPROCS=7", "SGC_MARK_BATCH=oops", NULL };
    const char *said;

    sgc_options_reset();
    bool set;
    said = capture_said(set = sgc_option_set("GC_NPROCS", "2") && sgc_option_set("SGC_MARK_BATCH", "9") &&
                              sgc_option_set("SGC_LOG_JSON", "x.log"));
    tap_ok(set && said[0] == '\0' && sgc_options.processors == 2 && strcmp(sgc_options.log, "x.log") == 0 &&
           sgc_option_origin(SGC_OPT_GC_NPROCS) == SGC_ORIGIN_PROGRAM, "the program sets options");
    said = capture_said(sgc_options_read_from(environment, false));
    tap_ok(sgc_options.processors == 7 && sgc_option_origin(SGC_OPT_GC_NPROCS) == SGC_ORIGIN_ENVIRONMENT,
           "read later, the environment wins");
    tap_ok(sgc_options.prefetch == 9 && strstr(said, "the earlier value 9 is used") != NULL,
           "a bad value in it leaves what the program set");
    tap_ok(sgc_option_set("GC_NPROCS", "4") && sgc_options.processors == 4, "set after that, the program wins");
    said = capture_said(set = sgc_option_set("GC_NPROCS", "-4") || sgc_option_set("GC_NPROC", "4") ||
                              sgc_option_set("SGC_LOG_JSON", ""));
    tap_ok(!set && sgc_options.processors == 4 && strcmp(sgc_options.log, "x.log") == 0 &&
           capture_count(said, "\n") == 3 && strstr(said, "did you mean GC_NPROCS") != NULL,
           "the program's bad values and names are refused with a message");
}

static void check_clamping(void)
{
    char *const heap[] = { "GC_INITIAL_HEAP_SIZE=64m", "GC_MAXIMUM_HEAP_SIZE=32m", NULL };
    char *const small[] = { "GC_MAXIMUM_HEAP_SIZE=2m", NULL };
    char *const both[] = { "GC_ENABLE_INCREMENTAL=1", "GC_DISABLE_INCREMENTAL=1", NULL };
    char *const against[] = { "SGC_MODE=concurrent", "GC_DISABLE_INCREMENTAL=1", NULL };
    char *const alone[] = { "SGC_MODE=concurrent", "SGC_BACKGROUND_THREAD=off", NULL };
    const char *said = read_one("GC_ENABLE_INCREMENTAL", "1");

    tap_ok(said[0] == '\0' && sgc_options.mode == SGC_MODE_CONCURRENT, "incremental is another word for concurrent");
    tap_ok(read_environment(both, false)[0] == '\0' && sgc_options.mode == SGC_MODE_STOP, "and not when it is disabled too");
    said = read_environment(against, false);
    tap_ok(strstr(said, "SGC_MODE=concurrent: stop is used: GC_DISABLE_INCREMENTAL") != NULL &&
           sgc_options.mode == SGC_MODE_STOP, "a mode that is disabled is said not to be used");
    said = read_environment(alone, false);
    tap_ok(strstr(said, "SGC_BACKGROUND_THREAD=off") != NULL && sgc_options.mode == SGC_MODE_STOP,
           "nor is it without a thread to mark");
    said = read_environment(heap, false);
    tap_ok(strstr(said, "GC_INITIAL_HEAP_SIZE=64m: 32m is used: ") != NULL && sgc_options.initial_heap == 32 << 20 &&
           sgc_option_origin(SGC_OPT_GC_INITIAL_HEAP_SIZE) == SGC_ORIGIN_CLAMPED,
           "an initial heap above the maximum is clamped");
    tap_ok(read_environment(small, false)[0] == '\0' && sgc_options.initial_heap == 64 << 10,
           "what nobody asked for is below any maximum");
    tap_ok(capture_said(sgc_option_clamp(SGC_OPT_SGC_MARK_BATCH, 3, NULL))[0] == '\0' && sgc_options.prefetch == 3 &&
           sgc_option_origin(SGC_OPT_SGC_MARK_BATCH) == SGC_ORIGIN_CLAMPED, "clamping without a reason says nothing");
}

/* ---- the listing -------------------------------------------------------------------------------------- */

static bool listed(const char *text, const struct sgc_option_row *row)
{
    char line[1024], range[SGC_OPTION_WORDS], current[SGC_OPTION_WORDS];

    snprintf(line, sizeof line, "SGC: %s=%s (%s; accepted: %s) %s\n", row->name,
             sgc_option_current(row, current, sizeof current), sgc_origin_name(sgc_option_origin(id_of(row))),
             sgc_option_range(row, range, sizeof range), row->help);
    return capture_count(text, line) == 1;
}

static void check_listing(void)
{
    char *const environment[] = { "GC_NPROCS=7", "GC_MARKERS=8", "SGC_LOG_JSON=some file", "SGC_SUSPEND_SIGNAL=RTMIN+6",
                                  "SGC_END_BYTE=roots", NULL };
    bool all = true;

    read_environment(environment, false);
    sgc_option_set("SGC_DECAY_MS", "-1");
    const char *text = capture_said(sgc_options_print());
    for (int i = 0; i < SGC_OPTIONS; i++)
        all &= listed(text, &sgc_option_table[i]);
    tap_ok(all && capture_count(text, "\n") == SGC_OPTIONS, "each option is listed once, on a line");
    tap_ok(strstr(text, "GC_NPROCS=7 (environment; accepted: 1 to 65536, or 0)") != NULL &&
           strstr(text, "GC_MARKERS=8 (environment; ") != NULL && strstr(text, "SGC_LOG_JSON=some file (environment; ") &&
           strstr(text, "SGC_DECAY_MS=-1 (program; accepted: 0 to 86400000, or -1)") != NULL &&
           strstr(text, "GC_LOG_FILE=none (default; ") != NULL && strstr(text, "SGC_SUSPEND_SIGNAL=40 (env") &&
           strstr(text, "SGC_END_BYTE=roots (") && strstr(text, "GC_INITIAL_HEAP_SIZE=64k (default; accepted: 64k to 64t)"),
           "with value, origin and range");
}

/* ---- the real environment ----------------------------------------------------------------------------- */

/* The child's part: "child" reads its environment and says what it found.  It ends without the work of a sanitizer, which
 * finds that it may not look into a setuid process and says so. */
static _Noreturn void child_main(void)
{
    sgc_options_read();
    fprintf(stderr, "secure=%d processors=%d files=%s%s%s\n", getauxval(AT_SECURE) != 0, sgc_options.processors,
            sgc_options.log_file, sgc_options.log, sgc_options.snapshot);
    _exit(0);
}

static const char *program;

static int run_program(void)
{
    char *const arguments[] = { "test_options", "child", NULL };
    char *const environment[] = { "GC_NPROCS=6",   "SGC_MARK_BATCHES=1",  "SGC_MARK_BATCH=99", "GC_LOG_FILE=a",
                                 "SGC_LOG_JSON=b", "SGC_SNAPSHOT=c", NULL };

    return execve(program, arguments, environment);
}

static const char *said_by(const char *name)
{
    program = name;
    return capture_said(run_in_child(run_program));
}

static void check_processes(void)
{
    char command[400], copy[300];
    const char *said = said_by("/proc/self/exe");

    tap_ok(strstr(said, "secure=0 processors=6 files=abc\n") != NULL && strstr(said, "SGC_MARK_BATCHES: no such option") &&
           strstr(said, "SGC_MARK_BATCH=99: out of range"), "a program reads its own environment");
    if (geteuid() != 0) {
        tap_skip("only root can make a setuid program of somebody else's");
        return;
    }
    folder_make();
    snprintf(copy, sizeof copy, "%s/program", folder);
    snprintf(command, sizeof command, "cp /proc/%d/exe '%s'", (int)getpid(), copy);
    bool made = chmod(folder, 0711) == 0 && system(command) == 0 && chown(copy, 65534, 65534) == 0 && chmod(copy, 04755) == 0;
    said = made ? said_by(copy) : "";
    if (strstr(said, "secure=1") == NULL)
        tap_skip("the system does not run setuid programs there: %s", said);
    else
        tap_ok(strcmp(said, "secure=1 processors=0 files=\n") == 0,
               "a setuid program ignores it, names of files, too, and says nothing");
    folder_remove();
}

static void check_secure(void)
{
    char *const environment[] = { "GC_NPROCS=6", "SGC_MARK_BATCHES=1", "SGC_MARK_BATCH=99", "GC_FIND_LEAK=1", NULL };

    tap_ok(read_environment(environment, true)[0] == '\0' && sgc_options.processors == 0,
           "with more rights than the starter, nothing is read and nothing said");
}

static void check_no_malloc(void)
{
    char *const environment[] = { "GC_NPROCS=x", "SGC_MARK_BATCHES=1", "GC_FIND_LEAK=1", "SGC_LOG_JSON=f", "GC_MARKERS=9",
                                  NULL };

    if (TEST_SANITIZED) {
        tap_skip("a sanitizer's malloc does not count");
        return;
    }
    sgc_options_reset();
    capture_begin();
    struct mallinfo2 before = mallinfo2();
    sgc_options_read_from(environment, false);
    sgc_options_print();
    struct mallinfo2 after = mallinfo2();
    void *volatile control = malloc(100);
    struct mallinfo2 controlled = mallinfo2();
    capture_end();
    free(control);
    tap_ok(before.uordblks == after.uordblks && before.fordblks == after.fordblks &&
           after.fordblks != controlled.fordblks, "no memory is allocated");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        child_main();
    check_fields();
    for (int i = 0; i < SGC_OPTIONS; i++)
        check_row(&sgc_option_table[i]);
    return tap_all(check_automatic, check_sizes, check_signals, check_unknown_names, check_unsupported,
                   check_odd_environments, check_program, check_clamping, check_listing, check_secure,
                   check_processes, check_no_malloc);
}

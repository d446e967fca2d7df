/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the collector's options: an input is a list of environment entries, most of them of options that there are, with names
 * of which a letter is wrong, values near a bound, texts of any bytes.
 *
 * Each entry is read alone, set by the program, and read together with the others.  It is accepted, and then has the value that
 * a small model of the formats says, or is answered by one message, and then nothing has changed; each option's value is in its
 * range afterwards.  The texts also go through the parser of PATTERN,key=value.
 *
 * Also: options/option_text.c, options/option_list.c, options/option_signal.c, gc/config/preset.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc/config/option_set.h"
#include "options/option_file.h"
#include "platform/faults.h"
#include "platform/report.h"
#include "tests/fuzz/entries.h"

enum { ENTRIES = 12 };

static char entry[ENTRIES][ENTRY_BYTES];
static int entries, messages, nowhere = -1;

static const char *const words[] = {
    "auto", "none", "off", "on", "yes", "no", "=", ",every=", ",rate=", ",signal=", "%p", "%n", "SGC_", "GC_", "SIG", "RTMIN+",
    "RTMAX-", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "0.5", "1.",
    "65536.0", "1k", "1T", "-1", "00", "+1", "0x10", NULL,
};

static const char *const faults[] = { "an option's bound", NULL };

static void plant(unsigned fault)
{
    (void)fault;
    sgc_fault_plant(SGC_FAULT_OPTION_BOUND);
}

const struct fuzz_subject fuzz_subject = {
    .name = "options", .longest = 2048, .batch = 20000, .words = words, .faults = faults, .plant = plant,
};

/* ---- the model: which texts are values, and what they mean ---- */

enum verdict { REFUSED, ACCEPTED, UNKNOWN };

static bool is_word_of(const char *list, const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || strchr(text, '|') != NULL)
        return false;
    for (const char *at = list; (at = strstr(at, text)) != NULL; at++)
        if ((at == list || at[-1] == '|') && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

/* Digits that a 64-bit number has room for, and a unit of sizes. */
static bool is_number(const char *text, bool size, __int128 *value)
{
    static const char units[] = "kmgt";
    bool negative = *text == '-';
    size_t digits = strspn(text += negative, "0123456789");
    const char *unit = text[digits] != '\0' ? strchr(units, text[digits] | 0x20) : units;

    *value = 0;
    for (size_t i = 0; i < digits && *value < (__int128)1 << 64; i++)
        *value = *value * 10 + (text[i] - '0');
    if (negative)
        *value = -*value;
    if (digits == 0 || unit == NULL || (text[digits] != '\0' && (!size || text[digits + 1] != '\0')))
        return false;
    if (text[digits] != '\0')
        *value *= (__int128)1 << 10 * (unit - units + 1);
    return true;
}

static enum verdict judge_number(const struct sgc_option_row *row, const char *text, int64_t *wanted)
{
    __int128 value;

    *wanted = 0;
    if (row->type == SGC_OPTION_INT && row->special == 0 && strcmp(text, "auto") == 0)
        return ACCEPTED;
    if (!is_number(text, row->type == SGC_OPTION_SIZE, &value))
        return REFUSED;
    *wanted = (int64_t)value;
    return (value >= row->min && value <= row->max) || (row->special != SGC_NONE && value == row->special) ? ACCEPTED : REFUSED;
}

/* What a text is for an option; a number's value. */
static enum verdict judge(const struct sgc_option_row *row, const char *text, int64_t *wanted)
{
    *wanted = INT64_MIN;
    switch (row->type) {
    case SGC_OPTION_BOOL: return is_word_of("0|1|off|on|no|yes|false|true", text) ? ACCEPTED : REFUSED;
    case SGC_OPTION_ENUM: return is_word_of(row->words, text) ? ACCEPTED : REFUSED;
    case SGC_OPTION_TEXT: return text[0] != '\0' && strlen(text) <= (size_t)row->max ? ACCEPTED : REFUSED;
    case SGC_OPTION_INT: case SGC_OPTION_SIZE: case SGC_OPTION_MS: return judge_number(row, text, wanted);
    default: return text[0] == '\0' ? REFUSED : UNKNOWN;
    }
}

/* ---- what is true at all times ---- */

static void check_row(int id)
{
    const struct sgc_option_row *row = &sgc_option_table[id];

    if (row->type == SGC_OPTION_TEXT) {
        fuzz_expect(strnlen(sgc_option_text(row), SGC_OPTION_TEXT_BYTES) <= (size_t)row->max, "%s: its text is too long",
                    row->name);
        return;
    }
    int64_t value = sgc_option_number(row);
    bool in_range = (value >= row->min && value <= row->max) || (row->special != SGC_NONE && value == row->special);

    fuzz_expect(in_range || value == row->initial, "%s is %lld, which is out of its range", row->name, (long long)value);
}

static void check_rows(void)
{
    for (int i = 0; i < SGC_OPTIONS; i++)
        check_row(i);
}

static bool all_default_but(int id)
{
    for (int i = 0; i < SGC_OPTIONS; i++)
        if (i != id && sgc_option_origin((enum sgc_option_id)i) != SGC_ORIGIN_DEFAULT &&
            sgc_option_origin((enum sgc_option_id)i) != SGC_ORIGIN_CLAMPED)
            return false;
    return true;
}

/* A value that is shown can be read, and is the same then; a ratio is shown rounded. */
static void check_shown(int id)
{
    const struct sgc_option_row *row = &sgc_option_table[id];
    char shown[SGC_OPTION_TEXT_BYTES];
    int64_t again = INT64_MIN;
    const char *text = sgc_option_current(row, shown, sizeof shown);

    fuzz_expect(strlen(text) < sizeof shown, "%s: what is shown has no end", row->name);
    if (row->type == SGC_OPTION_TEXT || row->type == SGC_OPTION_RATIO)
        return;
    const char *wrong = sgc_option_parse(row, text, &again);
    fuzz_expect(wrong == NULL && again == sgc_option_number(row), "%s is shown as %s, which is not what it is", row->name,
                text);
}

/* ---- one entry ---- */

static void count_message(const char *line)
{
    (void)line;
    messages++;
}

static int read_entries(char *const *environment)
{
    sgc_options_reset();
    messages = 0;
    sgc_options_read_from(environment, false);
    return messages;
}

static void check_value(int id, const char *value, bool accepted)
{
    const struct sgc_option_row *row = &sgc_option_table[id];
    int64_t wanted;
    enum verdict verdict = judge(row, value, &wanted);

    fuzz_expect(verdict == UNKNOWN || (verdict == ACCEPTED) == accepted, "%s=%.200s is %s", row->name, value,
                accepted ? "accepted" : "refused");
    if (accepted && wanted != INT64_MIN && sgc_option_origin((enum sgc_option_id)id) != SGC_ORIGIN_CLAMPED)
        fuzz_expect(sgc_option_number(row) == wanted, "%s=%.200s makes it %lld", row->name, value,
                    (long long)sgc_option_number(row));
    if (accepted && row->type == SGC_OPTION_TEXT)
        fuzz_expect(strcmp(sgc_option_text(row), value) == 0, "%s=%.200s: its text is another one", row->name, value);
}

static void check_known(int id, const char *value)
{
    bool accepted = sgc_option_origin((enum sgc_option_id)id) != SGC_ORIGIN_DEFAULT;

    fuzz_expect(accepted ? messages <= 1 : messages == 1, "%s=%.200s: %d messages", sgc_option_table[id].name, value, messages);
    fuzz_expect(all_default_but(id), "%s=%.200s sets another option, too", sgc_option_table[id].name, value);
    check_value(id, value, accepted);
    check_shown(id);
}

static bool is_unsupported(const char *name, size_t length)
{
    for (int i = 0; i < sgc_unsupported_count; i++)
        if (strlen(sgc_unsupported_table[i].name) == length && memcmp(sgc_unsupported_table[i].name, name, length) == 0)
            return true;
    return false;
}

static void read_alone(const char *text)
{
    char *const environment[] = { (char *)(uintptr_t)text, NULL };
    const char *equals = strchr(text, '=');
    bool ours = strncmp(text, "GC_", 3) == 0 || strncmp(text, "SGC_", 4) == 0;

    read_entries(environment);
    check_rows();
    int id = equals != NULL && ours ? sgc_option_find(text, (size_t)(equals - text)) : -1;
    if (id >= 0) {
        check_known(id, equals + 1);
        return;
    }
    fuzz_expect(all_default_but(-1), "%.200s sets an option", text);
    if (equals == NULL || !ours)
        fuzz_expect(messages == 0, "%.200s: a message, although it is nobody's option", text);
    else if (is_unsupported(text, (size_t)(equals - text)))
        fuzz_expect(messages == 1, "%.200s: %d messages", text, messages);
    else
        fuzz_expect(messages <= (text[0] == 'S'), "%.200s: %d messages", text, messages);
}

/* A name of which one letter is wrong is answered, unless it is another's. */
static bool is_foreign(const char *name)
{
    static const char *const names[] = {
#define SGC_FOREIGN(name_) #name_,
#include "gc/config/option_table.def"
        NULL
    };

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void misspell(struct fuzz_input in)
{
    const struct sgc_option_row *row = entry_row(&in);
    char name[ENTRY_BYTES], text[ENTRY_BYTES + 8];
    char *const environment[] = { text, NULL };

    snprintf(name, sizeof name, "%s", row->name);
    if (strncmp(name, "SGC_", 4) != 0 || strlen(name) < 8)
        return;
    size_t at = 4 + fuzz_below(&in, (unsigned)strlen(name) - 4);
    name[at] = name[at] == 'X' ? 'Y' : 'X';
    snprintf(text, sizeof text, "%s=1", name);
    if (sgc_option_find(name, strlen(name)) >= 0 || is_unsupported(name, strlen(name)) || is_foreign(name))
        return;
    fuzz_expect(read_entries(environment) == 1, "%s: %d messages, though a letter is wrong", text, messages);
}

/* ---- all of them ---- */

/* By the program: the value counts, or is as before. */
static void set_each(void)
{
    sgc_options_reset();
    for (int i = 0; i < entries; i++) {
        char name[ENTRY_BYTES];
        const char *equals = strchr(entry[i], '=');

        if (equals == NULL)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - entry[i]), entry[i]);
        int id = sgc_option_find(name, strlen(name));
        int64_t before = id >= 0 && sgc_option_table[id].type != SGC_OPTION_TEXT ? sgc_option_number(&sgc_option_table[id]) : 0;
        messages = 0;
        bool set = sgc_option_set(name, equals + 1);

        fuzz_expect(set || messages == 1, "%.200s is not set, with %d messages", entry[i], messages);
        fuzz_expect(id >= 0 || !set, "%.200s is set, and is no option", entry[i]);
        if (id < 0)
            continue;
        check_value(id, equals + 1, set);
        if (!set && sgc_option_table[id].type != SGC_OPTION_TEXT)
            fuzz_expect(sgc_option_number(&sgc_option_table[id]) == before, "%.200s is refused, and changes it", entry[i]);
        check_rows();
    }
}

static void apply_all(bool print)
{
    if (sgc_options.markers == 0)
        sgc_options.markers = 1;
    sgc_preset_apply();
    check_rows();
    if (print) {
        sgc_report_to(nowhere);
        sgc_options_print();
        sgc_report_to(2);
    }
}

static void read_together(void)
{
    char *environment[ENTRIES + 1];

    for (int i = 0; i < entries; i++)
        environment[i] = entry[i];
    environment[entries] = NULL;
    read_entries(environment);
    check_rows();
}

static void parse_file(const char *text)
{
    struct sgc_option_file option;
    size_t rate;
    int every, signal;
    const struct sgc_option_row keys[] = {
        { "every", NULL, "", 1, 1, INT32_MAX, SGC_NONE, SGC_OPTION_INT, &every },
        { "rate", NULL, "", 1 << 19, 1, INT64_C(1) << 40, SGC_NONE, SGC_OPTION_SIZE, &rate },
        { "signal", NULL, "", 0, 1, 64, SGC_NONE, SGC_OPTION_SIGNAL, &signal },
    };
    bool accepted = sgc_option_file_parse(text, keys, 3, &option);

    fuzz_expect(accepted == (option.pattern[0] != '\0') && accepted == (option.wrong[0] == '\0') &&
                strlen(option.pattern) < sizeof option.pattern && strlen(option.wrong) < sizeof option.wrong,
                "a text of files, %.200s", text);
    fuzz_expect(1 <= every && 1 <= rate && rate <= (size_t)1 << 40 && 0 <= signal && signal <= 64, "its keys, %.200s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, data + size };

    sgc_report_hooks(count_message, NULL);
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    entries = 0;
    misspell(in);
    while (fuzz_more(&in) && entries < ENTRIES)
        make_entry(entry[entries++], &in);
    for (int i = 0; i < entries; i++) {
        read_alone(entry[i]);
        parse_file(strchrnul(entry[i], '=')[0] != '\0' ? strchr(entry[i], '=') + 1 : entry[i]);
    }
    set_each();
    apply_all(false);
    read_together();
    apply_all(size > 0 && data[size - 1] % 16 == 0);
    return 0;
}

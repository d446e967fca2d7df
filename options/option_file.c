/* SPDX-License-Identifier: MIT */
/* See options/option_file.h. */
#include "options/option_file.h"

#include <string.h>

#include "platform/report.h"
#include "platform/text_line.h"

enum { SGC_FILE_KEYS = 8 };             /* the most that an option may have: the bits of `seen` */

/* One key and its value, in the text. */
struct setting {
    const char *key, *value;
    size_t key_length, value_length;
};

static size_t word_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz");
}

/* Where the settings begin: at a comma, or the end. */
static const char *pattern_end(const char *text)
{
    const char *comma;

    for (comma = strchr(text, ','); comma != NULL; comma = strchr(comma + 1, ',')) {
        size_t word = word_length(comma + 1);
        if (word != 0 && comma[1 + word] == '=')
            return comma;
    }
    return text + strlen(text);
}

/* Takes the first setting off *at, which is at a comma.  A setting without "=" has no value. */
static struct setting take_setting(const char **at)
{
    const char *key = *at + 1;
    size_t length = strcspn(key, ","), word = strcspn(key, "=,");

    sgc_assert(**at == ',');
    *at = key + length;
    return (struct setting){ key, key + word + (word < length), word, word < length ? length - word - 1 : 0 };
}

static int find_key(const struct setting *setting, const struct sgc_option_row *keys, int count)
{
    for (int i = 0; i < count; i++)
        if (strlen(keys[i].name) == setting->key_length && strncmp(keys[i].name, setting->key, setting->key_length) == 0)
            return i;
    return -1;
}

/* "every=0 is out of range (1 to 2147483647)" */
static void refuse_value(const struct setting *setting, const struct sgc_option_row *row, const char *why,
                         struct sgc_option_file *option)
{
    char quoted[64], range[SGC_OPTION_WORDS];

    sgc_format(option->wrong, sizeof option->wrong, "%s=%s is %s (%s)", row->name,
               sgc_quote(setting->value, setting->value_length, quoted, sizeof quoted), why,
               sgc_option_range(row, range, sizeof range));
}

/* "there is no key evry, only every, signal" */
static void refuse_key(const struct setting *setting, const struct sgc_option_row *keys, int count,
                       struct sgc_option_file *option)
{
    char quoted[64];

    sgc_format(option->wrong, sizeof option->wrong, "there is no key \"%s\", %s",
               sgc_quote(setting->key, setting->key_length, quoted, sizeof quoted), count > 0 ? "only" : "as there are none");
    for (int i = 0; i < count; i++) {
        size_t used = strlen(option->wrong);
        sgc_format(option->wrong + used, sizeof option->wrong - used, "%s %s", i > 0 ? "," : "", keys[i].name);
    }
}

static bool store_value(const struct setting *setting, const struct sgc_option_row *row, struct sgc_option_file *option)
{
    char value[64];
    int64_t number = 0;
    const char *why = "too long";

    sgc_assert(sgc_option_row_ok(row) && row->type != SGC_OPTION_TEXT);
    if (setting->value_length < sizeof value) {
        memcpy(value, setting->value, setting->value_length);
        value[setting->value_length] = '\0';
        why = sgc_option_parse(row, value, &number);
    }
    if (why != NULL)
        refuse_value(setting, row, why, option);
    else
        sgc_option_store(row, number);
    return why == NULL;
}

static bool take_settings(const char *at, const struct sgc_option_row *keys, int count, struct sgc_option_file *option)
{
    uint32_t seen = 0;

    while (*at != '\0') {
        struct setting setting = take_setting(&at);
        int key = find_key(&setting, keys, count);

        if (key < 0) {
            refuse_key(&setting, keys, count, option);
            return false;
        }
        if ((seen & UINT32_C(1) << key) != 0) {
            sgc_format(option->wrong, sizeof option->wrong, "%s is there twice", keys[key].name);
            return false;
        }
        seen |= UINT32_C(1) << key;
        if (!store_value(&setting, &keys[key], option))
            return false;
    }
    return true;
}

static void store_initial(const struct sgc_option_row *keys, int count)
{
    for (int i = 0; i < count; i++)
        sgc_option_store(&keys[i], keys[i].initial);
}

bool sgc_option_file_parse(const char *text, const struct sgc_option_row *keys, int count, struct sgc_option_file *option)
{
    const char *end = pattern_end(text);
    size_t length = (size_t)(end - text);

    sgc_assert(0 <= count && count <= SGC_FILE_KEYS);
    option->pattern[0] = option->wrong[0] = '\0';
    store_initial(keys, count);
    if (length == 0 || length >= sizeof option->pattern) {
        sgc_format(option->wrong, sizeof option->wrong, "%s",
                   length == 0 ? "there is no file name" : "the file name is too long");
        return false;
    }
    if (!take_settings(end, keys, count, option)) {
        store_initial(keys, count);
        return false;
    }
    memcpy(option->pattern, text, length);
    option->pattern[length] = '\0';
    return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * Reading, finding and writing machine files.  machine_check.c checks that the values of one go
 * together.
 */
#include "perfmodel/machine/machine_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmodel/machine/machine_check.h"

/* ---- the keys ---- */

#define NEEDED NAN

struct key {
    const char *name, *words, *says; /* words: NULL for numbers */
    size_t variable;
    double min, max, absent; /* absent: NaN if the key is needed */
    bool whole;
};

#define SGC_KEY(key, variable, min, max, whole, need, says) \
    { #key, NULL, says, offsetof(struct sgc_machine, variable), min, max, need, whole },
#define SGC_WORD(key, variable, words, says) { #key, words, says, offsetof(struct sgc_machine, variable), 0, 0, NEEDED, true },
static const struct key keys[] = {
#include "perfmodel/machine/keys.def"
};
#undef SGC_KEY
#undef SGC_WORD

enum { KEYS = sizeof keys / sizeof keys[0], NAME = KEYS };

static double *variable_of(struct sgc_machine *m, const struct key *key)
{
    sgc_assert(key->variable % sizeof(double) == 0 && key->variable < sizeof *m);
    return (double *)(void *)((char *)m + key->variable);
}

/* ---- reading ---- */

struct reading {
    struct sgc_machine *machine;
    const char *path;
    int line;
    int line_of[KEYS + 1]; /* 0: the key was not there; the last is the name's */
    char *message;
};

static bool refuse(const struct reading *r, const char *format, ...) SGC_PRINTF(2, 3);

static bool refuse(const struct reading *r, const char *format, ...)
{
    size_t used = (size_t)snprintf(r->message, SGC_MACHINE_MESSAGE, "%s:%d: ", r->path, r->line);
    va_list args;

    va_start(args, format);
    if (used < SGC_MACHINE_MESSAGE)
        vsnprintf(r->message + used, SGC_MACHINE_MESSAGE - used, format, args);
    va_end(args);
    return false;
}

/* Numbers as people write them: strtod also takes "nan", "inf" and hexadecimal ones. */
static bool parse_number(const char *text, double *number)
{
    char *end;

    if (strspn(text, "0123456789.eE+-") != strlen(text))
        return false;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

static bool take_number(struct reading *r, const struct key *key, const char *text)
{
    double number;

    sgc_assert(key->words == NULL && key->min <= key->max);
    if (!parse_number(text, &number) || (key->whole && number != floor(number)))
        return refuse(r, "%s %s: expected %s; write only the number, the unit is in the key's name", key->name, text,
                      key->whole ? "a whole number" : "a number");
    if (number < key->min || number > key->max)
        return refuse(r, "%s %s: expected from %.10g to %.10g; is the unit that of the key's name?", key->name, text,
                      key->min, key->max);
    *variable_of(r->machine, key) = number;
    return true;
}

static bool take_word(struct reading *r, const struct key *key, const char *text)
{
    size_t length = strlen(text);
    int which = 0;

    sgc_assert(key->words != NULL);
    for (const char *at = key->words; at != NULL; which++) {
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || at[length] == '\0') && length > 0) {
            *variable_of(r->machine, key) = which;
            return true;
        }
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    return refuse(r, "%s %s: expected one of %s; see doc/studies/perfmodel.md for what they mean", key->name, text, key->words);
}

static bool take_name(struct reading *r, const char *text)
{
    if (strlen(text) >= sizeof r->machine->name)
        return refuse(r, "name %.40s...: expected at most %zu characters; shorten it", text, sizeof r->machine->name - 1);
    strcpy(r->machine->name, text);
    return strcmp(sgc_make_shown(r->machine->name), text) == 0 ||
           refuse(r, "name %s: expected a name without controls; take them out", text);
}

static int find_key(const char *name)
{
    sgc_assert(name != NULL);
    for (int k = 0; k < KEYS; k++)
        if (strcmp(keys[k].name, name) == 0)
            return k;
    return strcmp(name, "name") == 0 ? NAME : -1;
}

static bool take_line(struct reading *r, char *text)
{
    char *rest, *name = strtok_r(text, " \t\r\n", &rest), *value, *more;
    int k;

    if (name == NULL)
        return true;
    sgc_assert(strpbrk(name, " \t#") == NULL);
    value = strtok_r(NULL, " \t\r\n", &rest);
    more = strtok_r(NULL, " \t\r\n", &rest);
    k = find_key(name);
    if (k < 0)
        return refuse(r, "%.60s: unknown key; expected one of those in doc/studies/perfmodel.md, with the unit at its end",
                      name);
    if (value == NULL || more != NULL)
        return refuse(r, "%s: expected one value; write \"%s VALUE # where it is from\"", name, name);
    if (r->line_of[k] != 0)
        return refuse(r, "%s %.60s: the key stands in line %d already; leave one of the two out", name, value, r->line_of[k]);
    sgc_assert(r->line >= 1);
    r->line_of[k] = r->line;
    if (k == NAME)
        return take_name(r, value);
    return keys[k].words != NULL ? take_word(r, &keys[k], value) : take_number(r, &keys[k], value);
}

static bool take_lines(struct reading *r, FILE *file)
{
    char text[1024];

    while (fgets(text, sizeof text, file) != NULL) {
        r->line++;
        if (strchr(text, '\n') == NULL && !feof(file))
            return refuse(r, "a line of more than %zu characters; is this a machine file?", sizeof text - 2);
        text[strcspn(text, "#")] = '\0';
        if (!take_line(r, text))
            return false;
    }
    return !ferror(file) || refuse(r, "cannot be read: %s; look at the file", strerror(errno));
}

/* Gives keys that are not in the file their defaults.  False, with a message, if one has none, or
 * there is no name. */
static bool fill(struct reading *r)
{
    for (int k = 0; k < KEYS; k++) {
        if (r->line_of[k] != 0)
            continue;
        if (isnan(keys[k].absent))
            return refuse(r, "the file ends without %s (%s); add \"%s VALUE\", with \"# assumed\" if you do not know it",
                          keys[k].name, keys[k].says, keys[k].name);
        *variable_of(r->machine, &keys[k]) = keys[k].absent;
    }
    if (r->line_of[NAME] == 0)
        return refuse(r, "the file ends without a name; add \"name NAME\", which stands above predictions");
    return true;
}

bool sgc_machine_read_text(struct sgc_machine *m, FILE *file, const char *path, char *message)
{
    struct reading r = { .machine = m, .path = path, .message = message };
    const char *key;
    char wrong[SGC_MACHINE_MESSAGE / 2];

    sgc_assert(file != NULL && message != NULL);
    memset(m, 0, sizeof *m);
    message[0] = '\0';
    if (!take_lines(&r, file) || !fill(&r))
        return false;
    key = sgc_machine_wrong(m, wrong, sizeof wrong);
    if (key == NULL)
        return true;
    if (find_key(key) >= 0 && r.line_of[find_key(key)] != 0)
        r.line = r.line_of[find_key(key)];
    return refuse(&r, "%s", wrong);
}

bool sgc_machine_read(struct sgc_machine *m, const char *path, char *message)
{
    FILE *file = fopen(path, "re");
    bool read;

    sgc_assert(message != NULL);
    if (file == NULL) {
        snprintf(message, SGC_MACHINE_MESSAGE, "%s: %s; expected a machine file: see sgc-machine(1)", path, strerror(errno));
        return false;
    }
    read = sgc_machine_read_text(m, file, path, message);
    fclose(file);
    return read;
}

bool sgc_machine_find(const char *name, const char *folder, char *path, size_t size, char *message)
{
    bool cut = (size_t)snprintf(path, size, "%s", name) >= size;

    sgc_assert(size > 0 && message != NULL);
    if (!cut && (strchr(name, '/') != NULL || access(path, F_OK) == 0))
        return true;
    cut = (size_t)snprintf(path, size, "%s/%s.machine", folder, name) >= size;
    if (!cut && access(path, F_OK) == 0)
        return true;
    snprintf(message, SGC_MACHINE_MESSAGE, "%.60s: unknown machine; expected a machine file, or the name of one in %.300s",
             name, folder);
    return false;
}

/* ---- writing ---- */

static void write_value(const struct sgc_machine *m, const struct key *key, FILE *file)
{
    struct sgc_machine copy = *m;
    double value = *variable_of(&copy, key);
    const char *word = key->words;

    if (word == NULL) {
        fprintf(file, "%s %.*g", key->name, key->whole ? 15 : 6, value);
        return;
    }
    for (; value > 0; value--) {
        sgc_assert(strchr(word, '|') != NULL);
        word = strchr(word, '|') + 1;
    }
    fprintf(file, "%s %.*s", key->name, (int)strcspn(word, "|"), word);
}

void sgc_machine_write(const struct sgc_machine *m, FILE *file, const char *(*source)(void *arg, const char *key), void *arg)
{
    struct sgc_machine copy = *m;

    sgc_assert(m->name[0] != '\0');
    fprintf(file, "name %s\n", m->name);
    for (int k = 0; k < KEYS; k++) {
        const char *from = source != NULL ? source(arg, keys[k].name) : NULL;

        if (keys[k].words == NULL && *variable_of(&copy, &keys[k]) == keys[k].absent)
            continue;
        write_value(m, &keys[k], file);
        fprintf(file, from != NULL && from[0] != '\0' ? "    # %s\n" : "\n", from);
    }
}

/* SPDX-License-Identifier: MIT */
/* See snapshot/view/text.h. */
#include "snapshot/view/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/report.h"

static const char replacement[] = "\xef\xbf\xbd";

/* A character, and how many bytes it has. */
struct character {
    uint32_t code;
    size_t bytes;
    bool valid;
};

static struct character invalid(void)
{
    return (struct character){ 0xfffd, 1, false };
}

/* The text ends with a zero byte, which continues nothing. */
static struct character character_at(const char *text)
{
    static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    uint32_t code = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);

    sgc_assert(at[0] != '\0');
    if (at[0] >= 0xf8 || (at[0] >= 0x80 && at[0] < 0xc0))
        return invalid();
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return invalid();
        code = code << 6 | (at[i] & 0x3fu);
    }
    if (code < lowest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return invalid();
    return (struct character){ code, bytes, true };
}

/* Besides what JSON needs, what ends a script, and what ends a line in one. */
static bool is_escaped(uint32_t code)
{
    return code < 0x20 || code == '"' || code == '\\' || code == '<' || code == '>' || code == '&' || code == 0x7f ||
           code == 0x2028 || code == 0x2029;
}

void sgc_text_json(FILE *out, const char *text)
{
    struct character c;

    putc('"', out);
    for (; *text != '\0'; text += c.bytes) {
        c = character_at(text);
        sgc_assert(c.bytes >= 1 && c.bytes <= strlen(text));
        if (!c.valid)
            fputs(replacement, out);
        else if (is_escaped(c.code))
            fprintf(out, "\\u%04x", (unsigned)c.code);
        else
            fwrite(text, 1, c.bytes, out);
    }
    putc('"', out);
}

char *sgc_text_line(const char *text, char without)
{
    char *line = malloc(strlen(text) * (sizeof replacement - 1) + 1), *to = line;
    struct character c;

    if (line == NULL)
        return NULL;
    for (; *text != '\0'; text += c.bytes) {
        c = character_at(text);
        if (!c.valid)
            to = stpcpy(to, replacement);
        else if (c.code < 0x20 || c.code == 0x7f || c.code == 0x2028 || c.code == 0x2029 || c.code == (unsigned char)without)
            *to++ = ' ';
        else
            to = mempcpy(to, text, c.bytes);
    }
    *to = '\0';
    return line;
}

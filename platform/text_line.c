/* SPDX-License-Identifier: MIT */
/*
 * Lines of text.  The buffer belongs to the caller; no state, any thread.
 */
#include "platform/text_line.h"

#include <string.h>

void sgc_line_start(struct sgc_line *line)
{
    line->used = 0;
    line->text[0] = '\0';
}

void sgc_line_add(struct sgc_line *line, const char *format, ...)
{
    size_t room = sizeof line->text - line->used;
    va_list args;

    sgc_assert(line->used < sizeof line->text && line->text[line->used] == '\0');
    va_start(args, format);
    size_t wanted = sgc_vformat(line->text + line->used, room, format, args);
    va_end(args);
    line->used += wanted < room ? wanted : room - 1;
    sgc_assert(line->used < sizeof line->text && line->text[line->used] == '\0');
}

void sgc_line_fixed(struct sgc_line *line, uint64_t value, uint64_t unit, int digits)
{
    uint64_t scale = 1;

    sgc_assert(unit > 0 && digits >= 0 && digits <= 9);
    for (int i = 0; i < digits; i++)
        scale *= 10;
    /* The rest is less than the unit, so scaling it cannot overflow (units are below 2^34). */
    uint64_t whole = value / unit;
    uint64_t places = (value % unit * scale + unit / 2) / unit;
    whole += places / scale;
    places %= scale;
    sgc_line_add(line, "%lu", (unsigned long)whole);
    if (digits > 0)
        sgc_line_add(line, ".");
    for (scale /= 10; scale > 0; scale /= 10)
        sgc_line_add(line, "%c", (int)('0' + places / scale % 10));
}

const char *sgc_quote(const char *text, size_t length, char *buffer, size_t size)
{
    static const char cut[] = "...";

    sgc_assert(text != NULL && buffer != NULL && size > sizeof cut);
    size_t shown = length < size - sizeof cut ? length : size - sizeof cut;
    memcpy(buffer, text, shown);
    strcpy(buffer + shown, shown < length ? cut : "");
    return sgc_make_shown(buffer);
}

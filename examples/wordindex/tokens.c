/* SPDX-License-Identifier: MIT */
/* Cuts text into words; see tokens.h. */
#include "examples/wordindex/tokens.h"

#include <stdbool.h>

#include "memory.h"

/* Setting this bit turns A-Z into a-z, and nothing else into a letter. */
enum { LOWER = 0x20 };

static bool is_letter(char c)
{
    unsigned char lower = (unsigned char)c | LOWER;

    return lower >= 'a' && lower <= 'z';
}

static char *lower_copy(const char *from, size_t length)
{
    char *copy = mem_bytes(length + 1);

    for (size_t i = 0; i < length; i++)
        copy[i] = (char)(from[i] | LOWER);
    copy[length] = '\0';
    return copy;
}

char *next_word(struct tokens *text)
{
    while (text->next < text->end && !is_letter(*text->next))
        text->next++;
    const char *first = text->next;
    while (text->next < text->end && is_letter(*text->next))
        text->next++;
    if (text->next == first)
        return NULL;
    return lower_copy(first, (size_t)(text->next - first));
}

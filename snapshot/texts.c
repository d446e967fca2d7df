/* SPDX-License-Identifier: MIT */
/* See snapshot/texts.h. */
#include "snapshot/texts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "platform/report.h"

struct numbered {
    uint32_t number;
    char text[];
};

static int compare_numbered(const void *a, const void *b)
{
    return strcmp(((const struct numbered *)a)->text, ((const struct numbered *)b)->text);
}

static bool grow(struct sgc_texts *texts)
{
    uint32_t capacity = texts->capacity == 0 ? 64 : 2 * texts->capacity;
    struct sgc_text *of;

    sgc_assert(texts->count <= texts->capacity);
    if (texts->count < texts->capacity)
        return true;
    of = realloc(texts->of, capacity * sizeof *of);
    if (of == NULL)
        return false;
    texts->of = of;
    texts->capacity = capacity;
    return true;
}

static void note_owner(struct sgc_text *text, const void *owner)
{
    sgc_assert(text->text != NULL && (!text->shared || text->owner != NULL));
    if (text->owner == NULL)
        text->owner = owner;
    text->shared |= owner != NULL && text->owner != owner;
}

uint32_t sgc_texts_number(struct sgc_texts *texts, const char *text, const void *owner)
{
    struct numbered *entry = malloc(sizeof *entry + strlen(text) + 1), **found;
    uint32_t number;

    sgc_assert(text[0] != '\0');
    if (entry == NULL || !grow(texts)) {
        free(entry);
        return SGC_TEXTS_NONE;
    }
    strcpy(entry->text, text);
    entry->number = texts->count;
    found = tsearch(entry, &texts->tree, compare_numbered);
    number = found != NULL ? (*found)->number : SGC_TEXTS_NONE;
    if (found != NULL && *found == entry)
        texts->of[texts->count++] = (struct sgc_text){ .text = entry->text };
    else
        free(entry);
    sgc_assert(number == SGC_TEXTS_NONE || number < texts->count);
    if (number != SGC_TEXTS_NONE)
        note_owner(&texts->of[number], owner);
    return number;
}

void sgc_texts_release(struct sgc_texts *texts)
{
    sgc_assert((texts->tree == NULL) == (texts->count == 0));
    tdestroy(texts->tree, free);
    free(texts->of);
}

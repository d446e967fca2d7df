/* SPDX-License-Identifier: MIT */
/*
 * Copies of strings, pointer-free.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "gc/collect/allocate.h"

/* The object that the out-of-memory hook returns is somebody's: nothing is copied there. */
void *sgc_api_fill_copy(char *copy, const void *text, size_t bytes, size_t end)
{
    if (copy == NULL) {
        sgc_out_of_memory(bytes + end);
        errno = ENOMEM;
        return NULL;
    }
    sgc_assert(sgc_heap_contains((uintptr_t)copy) && bytes + end >= bytes);
    memcpy(copy, text, bytes);
    memset(copy + bytes, 0, end);
    return copy;
}

static void *copy_of(const void *text, size_t bytes, size_t end)
{
    return sgc_api_fill_copy(sgc_allocate_or_null(bytes + end, SGC_KIND_POINTER_FREE), text, bytes, end);
}

char *GC_strdup(const char *string)
{
    return string == NULL ? NULL : copy_of(string, strlen(string), 1);
}

char *GC_strndup(const char *string, size_t limit)
{
    return copy_of(string, strnlen(string, limit), 1);
}

wchar_t *GC_wcsdup(const wchar_t *string)
{
    return copy_of(string, wcslen(string) * sizeof *string, sizeof *string);
}

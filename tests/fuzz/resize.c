/* SPDX-License-Identifier: MIT */
/* Calls that resize objects.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <string.h>

#include "tests/lib/bytes.h"

static bool can_be_resized(int h)
{
    return handle[h].how != STRING && handle[h].how != FINALIZED;
}

/* Words that no mark has followed may be pointers then. */
static void clear_unfollowed(int h)
{
    for (int e = 0; e < EDGES && has_edges(h); e++)
        if (!follows(h, e))
            set_edge(h, e, NONE);
}

static void resized(int h, void *p, size_t size)
{
    size_t old = handle[h].size;

    if (p != address_of(h)) {
        lose_registrations(h);
        links_lose_target(h);
        fuzz_expect(handle_at(p) == NONE || !kept[handle_at(p)], "GC_realloc gives an object that is alive");
        forget_before((char *)p - handle[h].offset);
    }
    fuzz_expect(GC_size(p) >= size, "GC_realloc to %zu bytes: it has %zu", size, GC_size(p));
    if (is_scanned(handle[h].how) && size > old)
        fuzz_expect(all_zero((char *)p + old, size - old), "GC_realloc from %zu to %zu bytes: what is added is not zero", old,
                    size);
    handle[h].hidden = ~(uintptr_t)p;
    handle[h].resized = true;
}

void op_resize(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    size_t size = size_of(in), smaller;
    void *p;

    if (h == NONE || !can_be_resized(h) || used_bytes() > (size_t)64 << 20)
        return;
    smaller = (EDGES + 2) * sizeof(uintptr_t);
    if (has_edges(h) && size < smaller)
        size = smaller;
    if (size == 0)
        size = 1;
    if (is_data(h))
        return;
    bool edges = has_edges(h);
    size_t old = handle[h].size;
    check_contents(h);
    clear_unfollowed(h);
    clear_edges_to(h);
    unlink_in(h);
    if (handle[h].places == 0 && !is_uncollectable(handle[h].how))
        set_place(h, IN_STATIC, 0);
    p = is_debug(handle[h].how) ? GC_debug_realloc(address_of(h), size, __FILE__, __LINE__) : GC_realloc(address_of(h), size);
    if (p == NULL) {
        fuzz_expect(limited || size > PTRDIFF_MAX / 2, "GC_realloc to %zu bytes: NULL", size);
        check_contents(h);
        return;
    }
    resized(h, p, size);
    check_prefix(h, old < size ? old : size);
    handle[h].size = size;
    for (unsigned place = 1; place <= ON_STACK; place <<= 1)
        if ((handle[h].places & place) != 0)
            set_place(h, (enum place)place, 0);
    if (!edges && has_edges(h))
        memset(p, 0, EDGES * sizeof(uintptr_t));
    fill(h, handle[h].seal + size);
}

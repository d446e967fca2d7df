/* SPDX-License-Identifier: MIT */
/*
 * Disappearing links as the interface has them.  On any mutator.
 */
#include "gc/api/internal.h"

#include "gc/config/public_vars.h"
#include "gc/finalize/finalize.h"

static const int codes[] = {
    [SGC_REGISTERED] = GC_SUCCESS, [SGC_REGISTERED_AGAIN] = GC_DUPLICATE, [SGC_REGISTERED_NOT] = GC_NO_MEMORY,
    [SGC_REGISTERED_NO_OBJECT] = GC_NOT_FOUND, [SGC_REGISTERED_NO_LINK] = GC_NOT_FOUND,
    [SGC_REGISTERED_TAKEN] = GC_DUPLICATE,
};

static bool is_word(void *const *link)
{
    return link != NULL && (uintptr_t)link % sizeof *link == 0 &&
           (uintptr_t)link >> SGC_TREE_ADDRESS_BITS == 0;
}

static bool check_word(const char *function, void *const *link)
{
    if (is_word(link))
        return true;
    sgc_warn("%s(%p): expected the address of a word, a multiple of %zu; nothing is registered. Pass the address of a "
             "pointer variable", function, (const void *)link, sizeof *link);
    return false;
}

static int register_slowly(const char *function, enum sgc_link kind, void **link, const void *object)
{
    struct sgc_mutator *self = sgc_api_self();
    enum sgc_registered result;

    if (!check_word(function, link))
        return GC_NOT_FOUND;
    if (sgc_finding_leaks())
        return GC_UNIMPLEMENTED;
    if (self == NULL)
        return GC_NO_MEMORY;
    result = sgc_link_set(self, kind, (uintptr_t)link, sgc_api_untagged(object));
    if (result == SGC_REGISTERED_NOT && sgc_api_memory_made(function, link))
        result = sgc_link_set(self, kind, (uintptr_t)link, sgc_api_untagged(object));
    if (result == SGC_REGISTERED_NO_OBJECT)
        sgc_api_no_object(function, object);
    sgc_assert((unsigned)result < sizeof codes / sizeof codes[0] && result != SGC_REGISTERED_NO_LINK);
    return codes[result];
}

static inline int register_link(const char *function, enum sgc_link kind, void **link, const void *object)
{
    struct sgc_mutator *self = sgc_mutator_self();
    enum sgc_registered result;

    if (__builtin_expect(self != NULL && is_word(link) && !sgc_finding_leaks(), 1)) {
        result = sgc_link_set(self, kind, (uintptr_t)link, (uintptr_t)object);
        if (__builtin_expect(result <= SGC_REGISTERED_AGAIN, 1))
            return result == SGC_REGISTERED ? GC_SUCCESS : GC_DUPLICATE;
    }
    return register_slowly(function, kind, link, object);
}

static int move_link(const char *function, enum sgc_link kind, void **from, void **to)
{
    struct sgc_mutator *self = sgc_api_self();
    enum sgc_registered result;

    if (!is_word(from) || !check_word(function, to))
        return GC_NOT_FOUND;
    if (self == NULL)
        return GC_NO_MEMORY;
    result = sgc_link_move(self, kind, (uintptr_t)from, (uintptr_t)to);
    if (result == SGC_REGISTERED_NOT && sgc_api_memory_made(function, to))
        result = sgc_link_move(self, kind, (uintptr_t)from, (uintptr_t)to);
    sgc_assert((unsigned)result < sizeof codes / sizeof codes[0] && result != SGC_REGISTERED_NO_OBJECT);
    return codes[result];
}

static int unregister_link(enum sgc_link kind, void **link)
{
    struct sgc_mutator *self = sgc_api_self();

    return self != NULL && is_word(link) && sgc_link_remove(self, kind, (uintptr_t)link);
}

#define LINKS(kind, to_object, move, unregister) \
    int to_object(void **link, const void *object) { return register_link(#to_object, kind, link, object); } \
    int move(void **from, void **to) { return move_link(#move, kind, from, to); } \
    int unregister(void **link) { return unregister_link(kind, link); }

LINKS(SGC_LINK_SHORT, GC_general_register_disappearing_link, GC_move_disappearing_link, GC_unregister_disappearing_link)
LINKS(SGC_LINK_LONG, GC_register_long_link, GC_move_long_link, GC_unregister_long_link)

int GC_register_disappearing_link(void **link)
{
    struct sgc_object o;

    if (sgc_heap_contains((uintptr_t)link) && sgc_object_find((uintptr_t)link, &o))
        return register_link("GC_register_disappearing_link", SGC_LINK_SHORT, link, (const void *)o.start);
    sgc_warn("GC_register_disappearing_link(%p): the link does not lie in an object of the heap; nothing is "
             "registered. GC_general_register_disappearing_link takes links anywhere", (void *)link);
    return GC_NOT_FOUND;
}

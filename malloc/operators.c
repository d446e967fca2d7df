/* SPDX-License-Identifier: MIT */
/*
 * C++'s operators, in C and without its library: malloc/family.h.  All forms are exported: were one
 * left to another library, that could be a second malloc's, and its counterpart ours.
 *
 * As the standard says ([new.delete]), all reach what the program has put in the place of the four
 * that take bytes, or a block, with an alignment or without one; and these reach a malloc and free
 * of its own.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "malloc/family.h"
#include "malloc/paths.h"
#include "platform/atomics.h"
#include "platform/platform.h"
#include "platform/report.h"

/* For SGC_IS_OURS. */
SGC_INNER void *sgc_own_new(size_t bytes);
SGC_INNER void *sgc_own_new_array(size_t bytes);
SGC_INNER void *sgc_own_new_aligned(size_t bytes, size_t align);
SGC_INNER void *sgc_own_new_array_aligned(size_t bytes, size_t align);

#define CALLER __builtin_return_address(0)

/* ---- the C++ library ----
 *
 * What throws is its own, as is the program's handler.  The next operator may be a second malloc's:
 * the library's is the one in the object of what throws.  There may be no memory, and then dlopen
 * finds nothing. */

#define THROWS "_ZSt17__throw_bad_allocv"
#define HANDLER "_ZSt15get_new_handlerv"

static bool in_one_object(const void *a, const void *b)
{
    Dl_info of_a, of_b;

    sgc_assert(a != NULL && b != NULL);
    return dladdr(a, &of_a) != 0 && dladdr(b, &of_b) != 0 && of_a.dli_fbase == of_b.dli_fbase;
}

/* A handle of the object that `inside` lies in; NULL: there is none to be had. */
static void *object_of(const void *inside)
{
    Dl_info file;

    sgc_assert(inside != NULL);
    return dladdr(inside, &file) != 0 ? dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* The function as that object finds it; NULL: it finds none but ours. */
static void *found_by(void *object, const char *function)
{
    void *found = dlsym(object, function);

    sgc_assert(object != NULL);
    return found == NULL || in_one_object(found, (const void *)(uintptr_t)in_one_object) ? NULL : found;
}

/* As the object finds it that `inside` lies in. */
static void *seen_from(const void *inside, const char *function)
{
    void *object = object_of(inside), *found = NULL;

    if (object != NULL) {
        found = found_by(object, function);
        dlclose(object);
    }
    return found;
}

/* The next definition; if there is none, that of an object that has its C++ library for itself, as
 * one loaded with RTLD_LOCAL.  NULL: there is none. */
static void *next(const char *function, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, function);

    sgc_assert(function[0] == '_' && function[1] == 'Z');
    return found != NULL ? found : seen_from(caller, function);
}

/* NULL: there is none, or no memory to find it.  A module that is linked with the archive of a C++
 * library may have the handler without what throws. */
__attribute__((cold, noinline))
static void *library_form(const char *operator, const void *caller)
{
    void *throws = next(THROWS, caller), *in_library = throws != NULL ? throws : next(HANDLER, caller);
    void *found = in_library != NULL ? seen_from(in_library, operator) : NULL;

    if (found != NULL)
        return found;
    found = next(operator, caller);
    return found == NULL || in_library == NULL || in_one_object(found, in_library) ? found : NULL;
}

/* The library's forms that do not throw, kept once they are found: programs that have replaced what
 * throws come here for each block, and a thread that has the loader's lock may wait for them.
 * Their library stays, since nobody closes what was opened here.  Any thread writes, and all write
 * the same. */
enum { ONE, ARRAY, ONE_ALIGNED, ARRAY_ALIGNED, FORMS };
static const char *const nothrow_names[FORMS] = {
    "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
};
SGC_STATE static sgc_aw_t nothrow_forms[FORMS];

/* Those of the process, if it has any, and memory for the loader. */
static void keep_nothrow(void)
{
    const void *throws = dlsym(RTLD_NEXT, THROWS);
    void *object = throws != NULL ? object_of(throws) : NULL;

    for (int form = 0; object != NULL && form < FORMS; form++)
        sgc_aw_store_rel(&nothrow_forms[form], (uintptr_t)found_by(object, nothrow_names[form]));
}

static void *nothrow_form(int form, const void *caller)
{
    sgc_assert(form >= 0 && form < FORMS);
    if (sgc_aw_load(&nothrow_forms[form]) == 0)
        keep_nothrow();
    if (sgc_aw_load_acq(&nothrow_forms[form]) == 0)
        return library_form(nothrow_names[form], caller);
    return (void *)sgc_aw_load_acq(&nothrow_forms[form]);
}

/* Before anything may hold the loader's lock; other programs need these where memory is short. */
__attribute__((constructor))
static void keep_early(void)
{
    if (!SGC_IS_OURS(new) || !SGC_IS_OURS(new_array) || !SGC_IS_OURS(new_aligned) || !SGC_IS_OURS(new_array_aligned))
        keep_nothrow();
}

static void *library_nothrow(size_t bytes, const void *tag, int form, const void *caller)
{
    void *found = nothrow_form(form, caller);

    return found != NULL ? ((void *(*)(size_t, const void *))found)(bytes, tag) : NULL;
}

static void *library_aligned_nothrow(size_t bytes, size_t align, const void *tag, int form, const void *caller)
{
    void *found = nothrow_form(form, caller);

    return found != NULL ? ((void *(*)(size_t, size_t, const void *))found)(bytes, align, tag) : NULL;
}

/* ---- new ---- */

/* Without memory: the program's handler runs, and may have freed some, or this throws.  False: the
 * process shows neither of the two. */
static bool handle(const void *caller)
{
    void *throws = next(THROWS, caller), *get = next(HANDLER, caller);
    void (*handler)(void);

    sgc_assert(throws == NULL || throws != get);
    if (throws == NULL || get == NULL)
        return false;
    handler = ((void (*(*)(void))(void))get)();
    ((void (*)(void))(handler != NULL ? (void *)(uintptr_t)handler : throws))();
    sgc_assert(handler != NULL);
    return true;
}

static void *form_to_throw(const char *operator, const void *caller)
{
    void *found = library_form(operator, caller);

    if (found == NULL)
        sgc_fatal("%s: there is no memory, and no C++ library to say so to the program; free memory or raise the limit",
                  operator);
    return found;
}

/* A malloc of the program's own may have no block of 0 bytes, and its aligned_alloc may take only
 * whole multiples, as C11 has it, and alignments of a pointer or more: the C++ libraries ask for
 * nothing else. */
__attribute__((always_inline))
static inline void *allocate(size_t bytes)
{
    return SGC_MALLOC_IS_OURS() ? sgc_block_new(bytes) : sgc_malloc(bytes != 0 ? bytes : 1);
}

static void *allocate_aligned(size_t bytes, size_t align)
{
    sgc_assert(align != 0 && (align & (align - 1)) == 0);
    if (SGC_MALLOC_IS_OURS())
        return sgc_block_new_aligned(bytes, align);
    if (align < sizeof(void *))
        align = sizeof(void *);
    return bytes <= SIZE_MAX - align ? sgc_aligned_alloc(align, bytes != 0 ? sgc_round_up(bytes, align) : align) : NULL;
}

__attribute__((cold, noinline))
static void *new_again(size_t bytes, const void *caller)
{
    void *block = NULL;

    while (block == NULL) {
        if (!handle(caller))
            return ((void *(*)(size_t))form_to_throw("_Znwm", caller))(bytes);
        block = allocate(bytes);
    }
    return block;
}

__attribute__((cold, noinline))
static void *new_aligned_again(size_t bytes, size_t align, const void *caller)
{
    void *block = NULL;

    sgc_assert(align != 0 && (align & (align - 1)) == 0);
    while (block == NULL) {
        if (!handle(caller))
            return ((void *(*)(size_t, size_t))form_to_throw("_ZnwmSt11align_val_t", caller))(bytes, align);
        block = allocate_aligned(bytes, align);
    }
    sgc_assert(!SGC_MALLOC_IS_OURS() || (uintptr_t)block % align == 0);
    return block;
}

void *sgc_new(size_t bytes)
{
    void *block = allocate(bytes);

    return __builtin_expect(block != NULL, 1) ? block : new_again(bytes, CALLER);
}
SGC_OWN(new, _Znwm);

void *sgc_new_aligned(size_t bytes, size_t align)
{
    void *block = allocate_aligned(bytes, align);

    return block != NULL ? block : new_aligned_again(bytes, align, CALLER);
}
SGC_OWN(new_aligned, _ZnwmSt11align_val_t);

/* Not by name if it is ours, since the caller would be this library. */
void *sgc_new_array(size_t bytes)
{
    void *block;

    if (!SGC_IS_OURS(new))
        return sgc_new(bytes);
    block = allocate(bytes);
    return __builtin_expect(block != NULL, 1) ? block : new_again(bytes, CALLER);
}
SGC_OWN(new_array, _Znam);

void *sgc_new_array_aligned(size_t bytes, size_t align)
{
    void *block;

    if (!SGC_IS_OURS(new_aligned))
        return sgc_new_aligned(bytes, align);
    block = allocate_aligned(bytes, align);
    return block != NULL ? block : new_aligned_again(bytes, align, CALLER);
}
SGC_OWN(new_array_aligned, _ZnamSt11align_val_t);

/* ---- new that does not throw ----
 *
 * What has replaced the form that throws may do so, as may the program's handler: the C++ library's
 * form catches that. */

void *sgc_new_nothrow(size_t bytes, const void *tag)
{
    void *block = SGC_IS_OURS(new) ? allocate(bytes) : NULL;

    return block != NULL ? block : library_nothrow(bytes, tag, ONE, CALLER);
}

void *sgc_new_array_nothrow(size_t bytes, const void *tag)
{
    void *block = SGC_IS_OURS(new_array) && SGC_IS_OURS(new) ? allocate(bytes) : NULL;

    return block != NULL ? block : library_nothrow(bytes, tag, ARRAY, CALLER);
}

void *sgc_new_aligned_nothrow(size_t bytes, size_t align, const void *tag)
{
    void *block = SGC_IS_OURS(new_aligned) ? allocate_aligned(bytes, align) : NULL;

    return block != NULL ? block : library_aligned_nothrow(bytes, align, tag, ONE_ALIGNED, CALLER);
}

void *sgc_new_array_aligned_nothrow(size_t bytes, size_t align, const void *tag)
{
    bool ours = SGC_IS_OURS(new_array_aligned) && SGC_IS_OURS(new_aligned);
    void *block = ours ? allocate_aligned(bytes, align) : NULL;

    return block != NULL ? block : library_aligned_nothrow(bytes, align, tag, ARRAY_ALIGNED, CALLER);
}

/* ---- delete ---- */

__attribute__((always_inline))
static inline void give(void *block)
{
    if (SGC_MALLOC_IS_OURS())
        sgc_block_free(block, "operator delete");
    else
        sgc_free(block);
}

void sgc_delete(void *block)
{
    give(block);
}

void sgc_delete_aligned(void *block, size_t align)
{
    sgc_assert(align != 0 && (align & (align - 1)) == 0);
    give(block);
}

void sgc_delete_array(void *block)
{
    sgc_delete(block);
}

void sgc_delete_sized(void *block, size_t bytes)
{
    (void)bytes;
    sgc_delete(block);
}

void sgc_delete_array_sized(void *block, size_t bytes)
{
    (void)bytes;
    sgc_delete_array(block);
}

void sgc_delete_nothrow(void *block, const void *tag)
{
    (void)tag;
    sgc_delete(block);
}

void sgc_delete_array_nothrow(void *block, const void *tag)
{
    (void)tag;
    sgc_delete_array(block);
}

void sgc_delete_array_aligned(void *block, size_t align)
{
    sgc_delete_aligned(block, align);
}

void sgc_delete_aligned_sized(void *block, size_t bytes, size_t align)
{
    (void)bytes;
    sgc_delete_aligned(block, align);
}

void sgc_delete_array_aligned_sized(void *block, size_t bytes, size_t align)
{
    (void)bytes;
    sgc_delete_array_aligned(block, align);
}

void sgc_delete_aligned_nothrow(void *block, size_t align, const void *tag)
{
    (void)tag;
    sgc_delete_aligned(block, align);
}

void sgc_delete_array_aligned_nothrow(void *block, size_t align, const void *tag)
{
    (void)tag;
    sgc_delete_array_aligned(block, align);
}

/* SPDX-License-Identifier: MIT */
/* The family: malloc/family.h. */
#include "malloc/family.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "alloc/small/remote_free.h"
#include "malloc/paths.h"
#include "malloc/slow.h"
#include "platform/platform.h"

void *sgc_malloc(size_t bytes)
{
    return sgc_block_new(bytes);
}

void sgc_free(void *block)
{
    sgc_block_free(block, "free");
}
SGC_OWN(free, free);

/* ---- whose malloc is the process's? ---- */

SGC_STATE bool sgc_free_is_entry;

/* Does a small block begin there? */
static bool is_block(const void *block)
{
    size_t granule = sgc_exact_granule(block);

    return granule < sgc_aw_load(&sgc_heap.granules) &&
           (sgc_aw_load(sgc_slot_word(granule)) & sgc_bit_mask(granule)) != 0;
}

/* Only an object that does not define `free` has an undefined symbol with an address for it. */
static bool free_is_entry(void)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info program;

    return dladdr1((const void *)(uintptr_t)sgc_free, &program, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
           symbol != NULL && symbol->st_shndx == SHN_UNDEF;
}

/* A library before this one may define malloc: whose block is it that the process gets? */
__attribute__((constructor))
static void find_out(void)
{
    void *block;

    if (SGC_IS_OURS(free) || !free_is_entry())
        return;
    block = sgc_malloc(1);
    sgc_free_is_entry = is_block(block);
    sgc_assert(block != NULL || !sgc_free_is_entry);
    sgc_free(block);
}

/* ---- products ---- */

/* False, with ENOMEM, where it is too large for a size. */
static bool multiply(size_t count, size_t bytes, size_t *product)
{
    if (!__builtin_mul_overflow(count, bytes, product))
        return true;
    errno = ENOMEM;
    return false;
}

void *sgc_calloc(size_t count, size_t bytes)
{
    size_t all;
    void *block;

    if (!multiply(count, bytes, &all))
        return NULL;
    if (all > SGC_SMALL_MAX)
        return sgc_block_new_zeroed(all);
    block = sgc_block_new(all);
    sgc_assert(bytes == 0 || all / bytes == count);
    return block != NULL ? memset(block, 0, all) : NULL;
}

/* ---- other sizes ---- */

/* Bytes of the small block that begins there, whoever allocated it; 0: there is none, or blocks are
 * checked.  Pages without small blocks have no bits, so the bit alone tells. */
__attribute__((always_inline))
static inline size_t small_bytes(const void *block)
{
    size_t granule = sgc_exact_granule(block);
    const struct sgc_page *d;

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0) || __builtin_expect(sgc_checks(), 0) ||
        __builtin_expect((sgc_aw_load(sgc_slot_word(granule)) & sgc_bit_mask(granule)) == 0, 0))
        return 0;
    d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL);
    return __builtin_expect(sgc_freed_remotely(d, granule), 0) ? 0 : (size_t)d->granules * SGC_GRANULE;
}

/* Does a small block of `has` bytes serve as one of `bytes`, without wasting more than half?  Of
 * none, and for none, the answer is no. */
__attribute__((always_inline))
static inline bool serves(size_t has, size_t bytes)
{
    return bytes - 1 < has && (bytes > has / 2 || has <= 2 * SGC_GRANULE);
}

static void *move(void *block, const struct sgc_object *o, size_t bytes, const char *function)
{
    void *fresh = sgc_block_new(bytes);

    sgc_assert(o->start == (uintptr_t)block && bytes != 0);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, block, bytes < o->bytes ? bytes : o->bytes);
    sgc_block_free(block, function);
    return fresh;
}

__attribute__((noinline))
static void *resize_slowly(void *block, size_t bytes, const char *function)
{
    struct sgc_object o;

    if (block == NULL)
        return sgc_block_new(bytes);
    if (bytes == 0) {
        sgc_block_free(block, function);
        return NULL;
    }
    if (!sgc_block_find(block, function, &o))
        return NULL;
    sgc_assert(o.start == (uintptr_t)block && !serves(small_bytes(block), bytes));
    return o.span && sgc_block_resize_span(&o, bytes) ? block : move(block, &o, bytes, function);
}

/* A small block that serves stays where it is, whoever has allocated it. */
__attribute__((always_inline))
static inline void *resize(void *block, size_t bytes, const char *function)
{
    return serves(small_bytes(block), bytes) ? block : resize_slowly(block, bytes, function);
}

void *sgc_realloc(void *block, size_t bytes)
{
    return resize(block, bytes, "realloc");
}

/* A program that defines malloc seldom defines this: the block is for its free. */
void *sgc_reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;

    if (!multiply(count, bytes, &all))
        return NULL;
    return SGC_MALLOC_IS_OURS() ? resize(block, all, "reallocarray") : sgc_realloc(block, all);
}

size_t sgc_malloc_usable_size(void *block)
{
    size_t bytes = small_bytes(block);
    struct sgc_object o;

    if (bytes != 0)
        return bytes;
    return block != NULL && sgc_block_find(block, "malloc_usable_size", &o) ? o.bytes : 0;
}

/* ---- alignments ---- */

static bool is_power(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

void *sgc_aligned_alloc(size_t align, size_t bytes)
{
    if (is_power(align))
        return sgc_block_new_aligned(bytes, align);
    errno = EINVAL;
    return NULL;
}

/* It says by its result what others say by errno, which it leaves alone. */
int sgc_posix_memalign(void **block, size_t align, size_t bytes)
{
    int saved = errno;
    void *fresh;

    if (!is_power(align) || align % sizeof(void *) != 0)
        return EINVAL;
    fresh = sgc_block_new_aligned(bytes, align);
    errno = saved;
    sgc_assert((uintptr_t)fresh % align == 0);
    if (fresh == NULL)
        return ENOMEM;
    *block = fresh;
    return 0;
}

void *sgc_memalign(size_t align, size_t bytes)
{
    size_t power = 1;

    while (power < align && power <= SIZE_MAX / 2)
        power *= 2;
    sgc_assert(is_power(power));
    if (power < align) {
        errno = EINVAL;
        return NULL;
    }
    return sgc_block_new_aligned(bytes, power);
}

void *sgc_valloc(size_t bytes)
{
    return sgc_block_new_aligned(bytes, sgc_os_page_size());
}

void *sgc_pvalloc(size_t bytes)
{
    size_t page = sgc_os_page_size();

    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return sgc_block_new_aligned(bytes == 0 ? page : sgc_round_up(bytes, page), page);
}

/* ---- with sizes: programs that work pass wrong ones, so only level 2 compares them ---- */

static void free_of(void *block, size_t bytes, const char *function)
{
    sgc_assert(function != NULL);
    if (SGC_MALLOC_IS_OURS())
        sgc_block_free_sized(block, bytes, function);
    else
        sgc_free(block);
}

void sgc_free_sized(void *block, size_t bytes)
{
    free_of(block, bytes, "free_sized");
}

void sgc_free_aligned_sized(void *block, size_t align, size_t bytes)
{
    (void)align;
    free_of(block, bytes, "free_aligned_sized");
}

/* ---- the C library's own names, which programs use to avoid a look for the next malloc ---- */

SGC_ALIAS(malloc, __libc_malloc);
SGC_ALIAS(free, __libc_free);
SGC_ALIAS(calloc, __libc_calloc);
SGC_ALIAS(realloc, __libc_realloc);
SGC_ALIAS(memalign, __libc_memalign);
SGC_ALIAS(valloc, __libc_valloc);
SGC_ALIAS(pvalloc, __libc_pvalloc);
SGC_ALIAS(posix_memalign, __posix_memalign);

/* ---- what no program is linked with any more, but old ones ask for ---- */

SGC_ALIAS(free, cfree);

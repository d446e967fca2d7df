/* SPDX-License-Identifier: MIT */
/*
 * Thread-local variables of every module, seen from another thread: through glibc's dynamic thread
 * vectors.
 *
 * Owns the answer of the verification, computed by sgc_platform_init.  sgc_tls_block runs on the
 * collecting thread while the vector's own thread is stopped.
 *
 * Each thread has a vector, whose address lies at a fixed place relative to its thread pointer.  An
 * entry has two words:
 *
 *     vector[-1]    how many modules it has room for
 *     vector[0]     the loader's generation it was made for
 *     vector[m]     the address of module m's block (-1 or 0: none yet); what free() wants
 *
 * None of this is promised by glibc, so sgc_tls_layout_verified compares it with what the loader
 * says about each module of the calling thread.
 *
 * A stopped thread's vector may be in one of two bad states:
 *  - Old.  Module numbers are used again after dlclose, and a thread learns of that only when it
 *    next asks for a block.  Its entry then still leads to the old module's block (not freed yet,
 *    as the same step frees it), which may be smaller than the new module's.  Words behind it are
 *    not the module's, which a conservative scan may bear, but they may be not mapped, which it may
 *    not.
 *  - Being replaced.  The loader enlarges a vector with realloc when a module number exceeds its
 *    room, 14 more than the process had when the thread began.  If the thread is stopped there
 *    between freeing the old one and noting the new, the old one is all there is: its blocks are
 *    the thread's still.  malloc writes its links over the first words of what is freed, up to
 *    four, so the room may be absurd, or 0, which no vector has; but the modules' entries are as
 *    they were, and are read.  Behind them, and if the memory is somebody else's already, any word
 *    may come out.
 * Therefore nothing is believed: each OS page is asked about before it is read, and a block ends
 * where the readable memory ends.
 *
 * That costs system calls for each thread and module, and is needed for few modules.  The blocks of
 * all that the program starts with, and of some loaded later, lie at the same distance from every
 * thread's thread pointer: in the static area, which libc allocates together with the thread's
 * control block, of one size for all threads.  Such a module stays there until it is unloaded.  No
 * interface tells which those are; it is concluded (sgc_tls_learn) from two facts:
 *  - the loader said, when the list was made, that the calling thread has the block at distance d.
 *    That is true of the module loaded now, whereas a vector may be old;
 *  - the vector of some thread leads to a block of its own at distance d inside its own stack's
 *    mapping, where it has its static area.  Memory that libc allocates for a block lies in no
 *    thread's stack.
 * The second fact says that d lies in the static area, be the entry old or not.  So the first block
 * lies in the static area of its thread, and the module is one of those.  Both are needed: the
 * first thread's static area is not in its stack, and from an old entry alone it would follow that
 * a new module with the number of a static one that was unloaded is static.
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>

#include "platform/platform.h"
#include "platform/registers.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { SGC_TLS_UNKNOWN, SGC_TLS_GOOD, SGC_TLS_BAD };

struct dtv_entry {
    uintptr_t value;
    uintptr_t to_free;
};

static SGC_STATE sgc_a32_t verified;    /* SGC_TLS_*; every thread would compute the same */

/* Can the word be read?  It often lies in the same OS page as the last one that could. */
static bool is_readable_after(uintptr_t *last, uintptr_t address)
{
    sgc_assert(last != NULL && address % sizeof(uintptr_t) == 0);
    if (((*last ^ address) & ~(sgc_os_page_size() - 1)) == 0 && *last != 0)
        return true;
    *last = address;
    return sgc_mem_readable(address);
}

/* Both words of an entry. */
__attribute__((no_sanitize("address"), no_sanitize("thread")))
static bool read_entry(uintptr_t *last, uintptr_t address, struct dtv_entry *entry)
{
    if ((address & 7) || !is_readable_after(last, address) || !is_readable_after(last, address + 8))
        return false;
    const volatile struct dtv_entry *from = (const volatile struct dtv_entry *)address;
    entry->value = from->value;
    entry->to_free = from->to_free;
    return true;
}

__attribute__((no_sanitize("address"), no_sanitize("thread")))
static bool find_block(uintptr_t thread_pointer, size_t module, uintptr_t *start)
{
    struct dtv_entry head, entry;
    uintptr_t vector = *(volatile uintptr_t *)sgc_arch_dtv(thread_pointer);
    uintptr_t last = 0;
    if (!read_entry(&last, vector - sizeof head, &head))
        return false;
    if (module == 0 || (head.value != 0 && module > head.value))
        return false;
    if (!read_entry(&last, vector + module * sizeof entry, &entry))
        return false;
    *start = entry.value;
    return entry.value != 0 && entry.value != UINTPTR_MAX;
}

bool sgc_tls_block(uintptr_t thread_pointer, struct sgc_module_tls tls, struct sgc_range *block)
{
    uintptr_t start = thread_pointer + tls.offset;

    sgc_assert(thread_pointer != 0 && block != NULL);
    sgc_assert(tls.place == SGC_TLS_ASK || tls.place == SGC_TLS_GUESSED || tls.place == SGC_TLS_FIXED);
    if (tls.place == SGC_TLS_FIXED) {
        *block = (struct sgc_range){ start, start + tls.bytes };
        return true;
    }
    if (!find_block(thread_pointer, tls.module, &start))
        return false;
    block->lo = start;          /* if the end wraps around, the block is empty */
    block->hi = sgc_mem_readable_until(start, start + tls.bytes);
    return block->lo < block->hi;
}

void sgc_tls_learn(struct sgc_module_tls *tls, uintptr_t thread_pointer, struct sgc_stack_bounds stack,
                   struct sgc_range block)
{
    bool ours = thread_pointer >= stack.low && thread_pointer < stack.high
             && block.lo >= stack.low && block.hi <= stack.high;

    sgc_assert(thread_pointer != 0 && block.lo <= block.hi);
    if (tls->place == SGC_TLS_GUESSED && ours && block.lo - thread_pointer == tls->offset
        && block.hi - block.lo == tls->bytes)
        tls->place = SGC_TLS_FIXED;
}

uintptr_t sgc_tls_thread_pointer(void)
{
    return sgc_arch_thread_pointer();
}

/* ---- verification ---------------------------------------------------------------------------- */

struct verification {
    bool contradicted;          /* a block is not where the loader says */
    bool found_errno;           /* a block contains a variable whose address we know */
};

static void verify_block(struct verification *verification, size_t module, size_t bytes, uintptr_t expected)
{
    struct sgc_range block;

    sgc_assert(module != 0 && bytes != 0 && expected != 0);
    if (!sgc_tls_block(sgc_tls_thread_pointer(), (struct sgc_module_tls){ .module = module, .bytes = bytes }, &block)
        || block.lo != expected || block.hi != expected + bytes)
        verification->contradicted = true;
    else if ((uintptr_t)&errno - block.lo < bytes)
        verification->found_errno = true;
}

static int verify_module(struct dl_phdr_info *info, size_t size, void *verification)
{
    if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data && info->dlpi_phdr[i].p_memsz)
            verify_block(verification, info->dlpi_tls_modid, info->dlpi_phdr[i].p_memsz,
                         (uintptr_t)info->dlpi_tls_data);
    return 0;
}

bool sgc_tls_layout_verified(void)
{
    uint32_t known = sgc_a32_load(&verified);
    if (known == SGC_TLS_UNKNOWN) {
        struct verification verification = { false, false };
        dl_iterate_phdr(verify_module, &verification);
        known = verification.found_errno && !verification.contradicted ? SGC_TLS_GOOD : SGC_TLS_BAD;
        sgc_a32_store(&verified, known);
    }
    sgc_assert(known == SGC_TLS_GOOD || known == SGC_TLS_BAD);
    return known == SGC_TLS_GOOD;
}

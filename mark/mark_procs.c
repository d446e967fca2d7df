/* SPDX-License-Identifier: MIT */
/* The table of mark procedures, and complaints about them: mark/mark_procs.h. */
#include "mark/mark_procs.h"

#include "platform/platform.h"
#include "platform/report.h"

struct procs {
    sgc_a32_t count;
    sgc_aw_t of[SGC_MARK_PROCS];
};

SGC_STATE static struct procs procs = { .count = SGC_ATOMIC_INIT(SGC_MARK_PROCS_RESERVED) };

uint32_t sgc_mark_proc_add(sgc_mark_proc_t proc)
{
    uint32_t n;

    do {
        n = sgc_a32_load(&procs.count);
        if (n == SGC_MARK_PROCS_OWN)
            return SGC_MARK_PROCS;
    } while (!sgc_a32_cas(&procs.count, n, n + 1));
    sgc_aw_store_rel(&procs.of[n], (uintptr_t)proc);
    return n;
}

bool sgc_mark_proc_set(uint32_t number, sgc_mark_proc_t proc)
{
    if (number >= sgc_a32_load(&procs.count))
        return false;
    sgc_aw_store_rel(&procs.of[number], (uintptr_t)proc);
    return true;
}

sgc_mark_proc_t sgc_mark_proc_at(uint32_t number)
{
    return number < SGC_MARK_PROCS ? (sgc_mark_proc_t)sgc_aw_load_acq(&procs.of[number]) : NULL;
}

/* ---- complaints ---- */

struct complaint {
    sgc_a32_t what;             /* enum sgc_mark_fault, or BUSY */
    sgc_aw_t start, descriptor;
    uint32_t reported;          /* those that have been reported, a bit each; the collecting
                                   thread's */
};

enum { BUSY = SGC_MARK_FAULTS };

SGC_STATE static struct complaint complaint;

void sgc_record_fault(enum sgc_mark_fault what, uintptr_t start, uintptr_t descriptor)
{
    sgc_assert(what > SGC_FINE && what < SGC_MARK_FAULTS);
    if (sgc_a32_load(&complaint.what) != SGC_FINE || !sgc_a32_cas(&complaint.what, SGC_FINE, BUSY))
        return;
    sgc_aw_store(&complaint.start, start);
    sgc_aw_store(&complaint.descriptor, descriptor);
    sgc_a32_store_rel(&complaint.what, (uint32_t)what);
}

static const char *const fault_texts[SGC_MARK_FAULTS] = {
    [SGC_NO_PROCEDURE] =
        "names a mark procedure that there is not; each word of the object counts as a pointer. Pass GC_MAKE_PROC what "
        "GC_new_proc returned",
    [SGC_BAD_LENGTH] =
        "is a length beyond the object's end; the object is scanned up to its end. Pass a length in bytes up to its "
        "size",
    [SGC_BAD_PLACE] =
        "says that the real descriptor is where none can be; each word of the object counts as a pointer. It must lie "
        "inside the object at a multiple of 8, or, if negative, where the first word points",
    [SGC_BAD_STACK] =
        "belongs to a mark procedure that returned something else than the mark stack pointer; what it pushed is lost, "
        "and each word of the object counts as a pointer. Return mark_stack_ptr, or what GC_mark_and_push returned",
    [SGC_BAD_ENTRY] =
        "was pushed by a mark procedure for an address where nothing can be; the entry is ignored. Push addresses of "
        "objects, or of readable memory",
    [SGC_UNEVEN_ENTRY] =
        "was pushed by a mark procedure for an address between two words, where only a length makes sense; each word "
        "from there to the object's end counts as a pointer. Push multiples of 8",
    [SGC_NO_ROOM] =
        "was pushed with a procedure, for memory outside the heap, when there was no room; it is ignored. Push at most 128 of "
        "those in one call",
    [SGC_NO_LAYOUT] =
        "is of a typed object, but GC_make_descriptor never returned it; each word of the object counts as a pointer. "
        "Pass what GC_make_descriptor returned",
};

void sgc_report_faults(void)
{
    uint32_t what = sgc_a32_load_acq(&complaint.what);

    if (what == SGC_FINE || what == BUSY)
        return;
    if ((complaint.reported & 1u << what) == 0)
        sgc_warn("the descriptor %p of the object at %p %s", (void *)sgc_aw_load(&complaint.descriptor),
                 (void *)sgc_aw_load(&complaint.start), fault_texts[what]);
    complaint.reported |= 1u << what;
    sgc_a32_store_rel(&complaint.what, SGC_FINE);
}

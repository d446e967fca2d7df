/* SPDX-License-Identifier: MIT */
/*
 * The operating system and the processor, as the rest of SGC sees them.
 *
 * Every layer above calls only what stands here; behind it there is one file an operating system or
 * architecture, chosen by the build.  Nothing here knows of the heap.  Each function says where it
 * may be called:
 *
 *   [any]     anywhere: inside a section, in a signal handler, while the world is stopped.  Such a
 *             function takes no lock, calls no malloc and makes only raw system calls.
 *   [outside] only outside sections and with the world running: it may call the loader, stdio,
 *             malloc or wait.
 */
#ifndef SGC_PLATFORM_PLATFORM_H
#define SGC_PLATFORM_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/types.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

/* ---- rounding to multiples of a power of two ----------------------------------------------- */

static inline size_t sgc_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

static inline size_t sgc_round_down(size_t n, size_t unit)
{
    return n & ~(unit - 1);
}

/* ---- memory (memory_linux.c) ---------------------------------------------------------------- */

/* The size of an OS page, bytes.  [any] after the first call, which sgc_platform_init makes. */
size_t sgc_os_page_size(void);

/* Reserves `bytes` of address space without access and without backing, at an address that is a
 * multiple of `align` (a power of two).  Left out of core dumps.  NULL if the system refuses.
 * [any] */
void *sgc_mem_reserve(size_t bytes, size_t align);

/* Makes [start, start+bytes) of a reservation readable and writable.  False when the system has no
 * memory to promise; the range is then still not committed.  Bounds are multiples of the OS page.
 * Committed memory goes into core dumps.  [any] */
bool sgc_mem_commit(void *start, size_t bytes);

/* Makes a part of a committed range inaccessible, with its contents, until sgc_mem_commit.  False:
 * the system refuses, and nothing is changed.  [any] */
bool sgc_mem_close(void *start, size_t bytes);

/* Obtains zeroed memory of our own, `bytes` rounded up to OS pages; for sgc_mem_release.  NULL, and
 * nothing is kept, if the system refuses.  [any] */
void *sgc_mem_obtain(size_t bytes);

/* Obtains memory as sgc_mem_obtain does, but a fork zeroes the child's copy, whatever a thread that
 * the child does not have was doing to it.  NULL, too, if the system cannot do that (Linux before
 * 4.14).  [any] */
void *sgc_mem_obtain_wiped(size_t bytes);

/* Gives the backing of a committed range back; it stays committed and reads as zero.  False when
 * the system cannot (a locked mapping): the contents are then undefined but the range is usable.
 * [any] */
bool sgc_mem_discard(void *start, size_t bytes);

/* Obtains zeroed memory that a fork shares with the child: all of a family of processes read what
 * one of them writes.  NULL if the system refuses.  [any] */
void *sgc_mem_obtain_shared(size_t bytes);

/* The size of the huge pages that the system makes of anonymous memory where it is asked to, bytes;
 * 0 if it makes none.  `root`: "/sys".  [any] */
size_t sgc_mem_huge_page(const char *root);

/* From now on the system is to make huge pages of a part of a reservation when it is touched, or
 * none.  A hint.  [any] */
void sgc_mem_use_huge(void *start, size_t bytes, bool wanted);

/* Has the system back the OS pages of [start, end) now, which is committed: in one call instead of
 * a fault for each.  A hint: old systems (Linux before 5.14) and those without memory back them
 * when they are touched.  The contents stay.  [any] */
void sgc_mem_populate(void *start, void *end);

/* Zeroes memory that nobody is about to read: where the processor can, without bringing it into the
 * caches.  Both are multiples of SGC_CACHE_LINE.  In registers_<arch>.c.  [any] */
void sgc_mem_zero_streaming(void *start, size_t bytes);

/* Has the system show a committed range under that name in /proc/PID/maps.  Mappings of different
 * names are never one, so whoever names a part names what grows from it, too.  A hint: kernels
 * before 5.17, and those that were built without it, show none.  [any] */
void sgc_mem_name(void *start, size_t bytes, const char *name);

/* Ends a reservation.  [any] */
void sgc_mem_release(void *start, size_t bytes);

/* Memory whose words keep blocks of malloc's: LeakSanitizer, where the program has it, looks
 * through what of it can be read when it looks for leaks.  For good.  [any] */
void sgc_sanitizer_root(const void *start, size_t bytes);

/* Resident bytes of [start, start+bytes), all of it reserved, by mincore.  [any] */
size_t sgc_mem_resident(void *start, size_t bytes);

/* The lowest address a, lo <= a <= hi, such that [a, hi) is mapped without a hole (by mincore).
 * Bounds are rounded to OS pages.  For stacks whose lower end the kernel grows.  [any] */
uintptr_t sgc_mem_mapped_from(uintptr_t lo, uintptr_t hi);

/* Fills the range with random bytes of the system's, without waiting for them.  False: it has none.
 * [any] */
bool sgc_mem_randomize(void *start, size_t bytes);

/* ---- what can be read (readable_linux.c) ----------------------------------------------------- */

/* Does the system answer the questions below now?  A filter of system calls may refuse them.  Then
 * they answer what their callers rely on where memory is known to be in use: that it can be read.
 * [any] */
bool sgc_mem_answers(void);

/* Can the word at the address be read?  [any] */
bool sgc_mem_readable(uintptr_t address);

/* The end of the readable memory that begins at `lo`, at most `hi`; `lo` if its OS page cannot be
 * read.  A system call for each OS page.  [any] */
uintptr_t sgc_mem_readable_until(uintptr_t lo, uintptr_t hi);

/* The lowest address a, lo <= a <= hi, such that all of [a, hi) can be read.  Does not make a stack
 * grow.  [any] */
uintptr_t sgc_mem_readable_from(uintptr_t lo, uintptr_t hi);

/* Copies whole words out of one OS page, which another thread may unmap meanwhile.  False if they
 * cannot be read.  [any] */
bool sgc_mem_copy(void *to, uintptr_t from, size_t bytes);

/* ---- descriptors (file_linux.c) -------------------------------------------------------------- */

/* Moves a descriptor above those that programs count on getting from open, closed on exec; the new
 * one, or the same where a limit leaves no room above.  [any] */
int sgc_descriptor_above(int fd);

/* ---- limits (limits_linux.c) ----------------------------------------------------------------- */

/* Bytes of address space RLIMIT_AS leaves this process; bytes that it may map for writing at most,
 * by that and by RLIMIT_DATA; SIZE_MAX without a limit.  [any] */
size_t sgc_limit_address_space(void);
size_t sgc_limit_mapped(void);

/* Mappings that a process may have.  Is there a limit on data, which is memory that can be written
 * to?  [any] */
size_t sgc_limit_mappings(void);
bool sgc_limit_data(void);

/* Physical memory of the machine and the cgroup's limit (v1 or v2, the tightest up the hierarchy)
 * in bytes; SIZE_MAX when there is no cgroup limit.  [outside] */
size_t sgc_limit_physical_memory(void);
size_t sgc_limit_cgroup_memory(void);

/* Bytes that the cgroup has left until it meets its limit (the tightest up the hierarchy), not
 * counting file pages that the kernel drops easily; SIZE_MAX without a limit, and if the group does
 * not say.  Reads files each time.  [outside] */
size_t sgc_limit_cgroup_remaining(void);

/* Processors this process may use: the affinity mask, bounded by the cgroup's CPU quota (rounded
 * up).  At least 1.  [outside] */
int sgc_limit_cpus(void);

/* The cgroup's readings from a directory that looks like /sys/fs/cgroup and a file that looks like
 * /proc/self/cgroup: for tests.  Without a limit SIZE_MAX and INT_MAX. */
size_t sgc_limit_cgroup_memory_at(const char *root, const char *self_file);
size_t sgc_limit_cgroup_remaining_at(const char *root, const char *self_file);
int sgc_limit_cgroup_cpus_at(const char *root, const char *self_file);

/* ---- time (wait_linux.c) --------------------------------------------------------------------- */

uint64_t sgc_clock_ns(void);                 /* monotonic, nanoseconds.  [any] */
uint64_t sgc_clock_thread_cpu_ns(void);      /* processor time of the calling thread.  [any] */
void sgc_sleep_ns(uint64_t ns);              /* sleeps the whole time, signals or not.  [outside] */

/* ---- waiting (wait_linux.c) ------------------------------------------------------------------ */

/* Sleeps while *word == expected, until woken, a signal or the timeout (ns; negative: none).
 * Returns for any reason: callers loop.  False only when the time is over.  [any] */
bool sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns);

/* Wakes up to `count` sleepers (INT_MAX: all).  [any] */
void sgc_wake(sgc_a32_t *word, int count);

/* Lets another thread run, or tells the processor that we spin.  [any] */
void sgc_yield(void);
void sgc_spin_hint(void);

/* ---- a barrier of all threads (wait_linux.c) ------------------------------------------------- */

/* Each thread of the process passes a full memory barrier between the call and its return, whatever
 * it is doing: the caller afterwards sees its stores before the barrier, and its loads after the
 * barrier see all that the caller did before the call.  Some microseconds.  False: the system
 * refuses, and nothing is ordered.  [any] */
bool sgc_barrier_all_threads(void);

/* ---- threads and signals (threads_linux.c) --------------------------------------------------- */

typedef int32_t sgc_tid_t;

sgc_tid_t sgc_thread_id(void);                                  /* kernel thread id.  [any] */
/* The calling thread's name, as the system has it; ends with a zero byte.  [any] */
enum { SGC_THREAD_NAME = 16 };
void sgc_thread_name(char name[SGC_THREAD_NAME]);

sgc_tid_t sgc_process_id(void);                                 /* ask again after a fork.  [any] */

/* Sends to a thread of this process.  0, or why not: ESRCH, there is none of that number; EAGAIN,
 * the user's queue of real-time signals is full; anything else, the system refuses.  [any] */
int sgc_thread_kill(sgc_tid_t process, sgc_tid_t tid, int signal);

/* Does the thread block `signal` (from /proc/self/task/TID/status)?  Raw system calls only; false
 * also when it cannot be read.  [any] */
bool sgc_thread_blocks_signal(sgc_tid_t tid, int signal);

/* Has the thread ended, though the system still knows its number?  The first thread is in this
 * state while others go on, and so is one whose debugger has not looked yet.  Raw system calls
 * only; false also when /proc cannot be read.  [any] */
bool sgc_thread_is_over(sgc_tid_t tid);

/* The signals that wait for the calling thread, or for whichever takes them, while it blocks them:
 * bit n - 1 for signal n.  [any] */
uint64_t sgc_signals_pending(void);

/* Blocks every signal of the calling thread except those that a fault raises; puts them back.
 * [any] */
void sgc_signals_block(sigset_t *saved);

/* The set of those signals without `open`; and blocking a set in addition to what is blocked.
 * [any] */
void sgc_signals_all_but(int open, sigset_t *set);
void sgc_signals_change(const sigset_t *more, sigset_t *saved);
void sgc_signals_restore(const sigset_t *saved);

/* Unblocks one signal in the calling thread.  [any] */
void sgc_signal_unblock(int signal);

/* A handler that gets the signal's context.  Installed with SA_RESTART | SA_SIGINFO and all signals
 * but SIGSEGV masked while it runs.  False with errno if the system refuses.  [outside] */
typedef void (*sgc_signal_handler_t)(int signal, siginfo_t *info, void *context);
bool sgc_signal_install(int signal, sgc_signal_handler_t handler);

/* The present disposition of a signal; SGC_SIGNAL_HANDLED, too, if the system does not tell.
 * [any] */
enum sgc_signal_fate {
    SGC_SIGNAL_HANDLED,         /* this handler runs */
    SGC_SIGNAL_PLAIN,           /* the system's default, or it is ignored */
    SGC_SIGNAL_TAKEN,           /* another handler runs */
};
enum sgc_signal_fate sgc_signal_fate(int signal, sgc_signal_handler_t handler);

/* Starts a thread of SGC's own: every signal blocked, small stack, detached, named `name`.  False
 * when the system refuses.  [outside] */
bool sgc_thread_start_service(void (*body)(void *), void *argument, const char *name);

/* Sets the function that starts service threads: pthread_create, unless the layers above define a
 * function of that name themselves and know the real one. */
typedef int (*sgc_thread_creator_t)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
void sgc_thread_set_creator(sgc_thread_creator_t creator);

/* ---- stacks and registers (stack_linux.c, registers_<arch>.c) -------------------------------- */

/* The maker of a stack decides which of its pages can be read. */
enum sgc_stack_maker {
    SGC_STACK_UNKNOWN,      /* the program, perhaps, with guards wherever it likes */
    SGC_STACK_LIBRARY,      /* the C library: all of it; its guard lies below */
    SGC_STACK_KERNEL,       /* the kernel, for the first thread: as far as it has grown */
};

struct sgc_stack_bounds {
    uintptr_t low;          /* lowest address the stack may ever use */
    uintptr_t high;         /* just past the highest; holds the first frames (and static TLS) */
    enum sgc_stack_maker maker;
};

/* Have they a byte in common?  [any] */
static inline bool sgc_stack_overlap(const struct sgc_stack_bounds *a, const struct sgc_stack_bounds *b)
{
    return a->low < b->high && b->low < a->high;
}

/* Does the address lie in it?  NULL: there is no such stack.  [any] */
static inline bool sgc_stack_within(const struct sgc_stack_bounds *bounds, uintptr_t address)
{
    return bounds != NULL && address >= bounds->low && address < bounds->high;
}

/* The program's environment, which ends with NULL: `environ`, or, before the C library has set
 * that, the words behind the program's arguments on the first stack.  NULL: not known.  [any] */
char *const *sgc_environment(void);

/* The calling thread's own stack.  False if the system does not know.  [outside] */
bool sgc_stack_bounds_self(struct sgc_stack_bounds *bounds);

/* The lowest address of the stack that the interrupted code was using, its red zone included: with
 * a stack almost used up it may lie below the stack's lowest address.  [any] */
uintptr_t sgc_context_sp(const void *context);

/* Where the code stands that a handler interrupted: the context's stack pointer, or, in builds
 * whose handlers run late, the handler's own, which is never above it.  [any] */
uintptr_t sgc_interrupted_sp(const void *context);

/* The alternate signal stack that was set up when a handler came, wherever the interrupted code and
 * the handler run.  If it lies in the thread's own stack its memory may be something else by now.
 * One that was set up with SS_AUTODISARM is unknown to the kernel while it is in use.  [any] */
bool sgc_context_altstack_set(const void *context, struct sgc_stack_bounds *bounds);

/* That stack, if the interrupted code or its handler runs on it: the kernel does not note that in
 * the context, but if they do the context lies there, too.  Where the interrupted code ran on it,
 * its handler does.  [any] */
static inline bool sgc_context_altstack(const void *context, struct sgc_stack_bounds *bounds)
{
    return sgc_context_altstack_set(context, bounds) && sgc_stack_within(bounds, (uintptr_t)context);
}

/* The alternate signal stack that the calling thread has set up, whether or not it runs on it.
 * False if there is none, or one with SS_AUTODISARM is in use.  [any] */
bool sgc_altstack_self(struct sgc_stack_bounds *bounds);

/* Does a signal handler run in a frame between the caller's and `address` further up the same
 * stack?  By unwinding: needs unwind tables, which both architectures' compilers emit.
 * [outside] */
bool sgc_stack_handler_below(uintptr_t address);

/* Does `address` further up the same stack lie in a frame of SGC's own code (or, statically linked,
 * of the program's)?  From a handler on an alternate stack also of the stack that was interrupted:
 * the frames on the alternate one are then to be skipped.  By unwinding; also from a signal
 * handler.  [outside] */
bool sgc_stack_frame_ours(uintptr_t address, const struct sgc_stack_bounds *skip);

/* Is it surely in none of them?  False, too, if the frames cannot be followed that far: code
 * without unwind tables. */
bool sgc_stack_frame_gone(uintptr_t address, const struct sgc_stack_bounds *skip);

/* The program counters of the calls in the thread's frames, the innermost first, as far as unwind
 * tables lead, but for frames that begin below `above` and those of our own on top.  Returns how
 * many, at most `max`.  [outside] */
int sgc_stack_trace(uintptr_t above, uintptr_t *place, int max);

/* Calls fn(arg, sp) with every callee-saved register (vector registers too, where the ABI saves
 * any) stored on the stack above sp, so that scanning upward from sp sees them all.  [any] */
void sgc_with_registers(void (*fn)(void *arg, uintptr_t sp), void *arg);

/* Zeroes the vector registers that no call preserves.  Loops over words leave addresses there, and
 * of a thread that a signal stops all registers are scanned.  [any] */
void sgc_forget_vectors(void);

/* Zeroes the stack right below the caller's frame, where calls that are over have left words: as
 * far as a claim, as the slow way of allocating, as a collection uses it.  The first two return
 * what they are given, so that they can be the last thing a function does: then they zero what that
 * function's own frame was.  The last one forgets vector registers, too.  [any] */
void *sgc_stack_clear_little(void *result);
void *sgc_stack_clear_more(void *result);
void sgc_stack_clear_deep(void);

/* sgc_stack_pointer(), the current stack pointer, is inline: platform/registers.h. */

struct sgc_range { uintptr_t lo, hi; };

/* Where AddressSanitizer, if the program has it, puts local variables of the calling thread, so
 * that it sees uses of them after their function has returned; NULL: nowhere.  [any] */
void *sgc_fake_stack_self(void);

/* The frame of that stack in which the address lies.  Returns where its function had come to on the
 * real stack when it began, about; 0: the address lies in none.  That stack's thread is stopped.
 * [any] */
uintptr_t sgc_fake_frame(void *fake_stack, uintptr_t address, struct sgc_range *frame);

/* ---- static data (modules_linux.c) ----------------------------------------------------------- */

/* Where a module's thread-local blocks lie, as far as that is known. */
enum sgc_tls_place {
    SGC_TLS_ASK,            /* nothing: each thread's vector has to be read */
    SGC_TLS_GUESSED,        /* the thread that made the list has it at `offset` from its thread
                               pointer */
    SGC_TLS_FIXED,          /* every thread has it there: see sgc_tls_learn */
};

struct sgc_module_tls {
    size_t module;          /* the loader's number */
    size_t bytes;           /* of a block */
    uintptr_t bias;         /* of that module: see struct sgc_module */
    uintptr_t offset;       /* from the thread pointer to the block, modulo 2^64 */
    enum sgc_tls_place place;
};

/* A loaded module.  Its name and its headers are the loader's, and stay as they are while the
 * loader's list is locked. */
struct sgc_module {
    const char *name;       /* its path; "": the program */
    const void *headers;    /* that describe its segments */
    int header_count;
    uintptr_t bias;         /* added to the addresses that its file has */
    struct sgc_range range; /* from its lowest segment to the end of its highest one */
};

/* Writable static data and TLS segments of the modules loaded now, and these modules, by ascending
 * addresses. */
struct sgc_modules {
    struct sgc_range *range;        int ranges, range_capacity;
    struct sgc_module_tls *tls;     int tlses, tls_capacity;
    struct sgc_module *module;      int modules, module_capacity;
    unsigned long long adds, subs;  /* the loader's own change counters */
    int overflow;               /* entries that found no room */
};

/*
 * Brings *modules up to date and then, with the loader's list of modules still locked, calls
 * at_snapshot(arg) once (NULL: nothing).  The collector stops the world there: no thread can then
 * be half way through adding or removing a module, and the list is the stopped world's.  It is
 * rebuilt only if the loader says it changed.
 *
 * The arrays are the caller's.  If they are too small, `overflow` is set, at_snapshot is not called
 * and the result is false: grow each by `overflow` entries and call again.
 *
 * `skip`, if not NULL, is asked about each writable segment while the world still runs, and drops
 * it by returning true (GC_no_dls and filters); a new filter is heard only once `adds` is set to 0.
 * Excludes what is read-only after relocation, SGC's own state (see sgc_own_data) and the drop-in
 * next to libsgc, in which nobody runs.  [outside]
 */
typedef bool (*sgc_module_filter_t)(const char *name, uintptr_t lo, size_t bytes);
__attribute__((warn_unused_result))
bool sgc_modules_snapshot(struct sgc_modules *modules, sgc_module_filter_t skip,
                          void (*at_snapshot)(void *arg), void *arg);

/* A part of a module that is mapped. */
struct sgc_segment {
    struct sgc_range range;
    unsigned access;        /* 4: it may be read, 2: written, 1: run */
    uintptr_t offset;       /* where it begins in its file */
};

/* Where a module is from: the path of its file, 0 bytes: nobody knows it; its build id, 0 bytes: it
 * has none.  Both are cut to what fits, and have no end. */
enum { SGC_MODULE_PATH = 4095, SGC_BUILD_ID = 32 };
struct sgc_module_file {
    size_t path_bytes, id_bytes;
    char path[SGC_MODULE_PATH];
    unsigned char id[SGC_BUILD_ID];
};

/* While the loader's list is locked.  The next segment behind *header, which begins as 0; false:
 * there is none.  [any] */
bool sgc_module_segment(const struct sgc_module *module, int *header, struct sgc_segment *segment);

/* While the loader's list is locked.  [any] */
void sgc_module_file(const struct sgc_module *module, struct sgc_module_file *file);

/* Upper bounds of what a list of all modules needs now.  [outside] */
void sgc_modules_count(int *ranges, int *tlses);

/* Is another collector's library in this process (libgc.so or libsgc.so by DT_SONAME, and not where
 * this code is)?  Then its path, cut to `bytes`.  [outside] */
bool sgc_modules_other_collector(char *path, size_t bytes);

/* SGC's own writable state, which is no root: everything declared with SGC_STATE ... */
struct sgc_range sgc_own_data(void);
#define SGC_STATE __attribute__((section("sgc_state")))

/* ... and large variables that begin as zero, each followed by SGC_STATE_LARGE(name).  A section of
 * our own has its zeros in the library's file, and the system maps a file's pages around each that
 * is touched; these stay in .bss, of which only what is written to takes memory.  Returns the i-th
 * of them; an empty range if there are fewer. */
struct sgc_own_large { const void *start; size_t bytes; };
struct sgc_range sgc_own_large(size_t i);
#define SGC_STATE_LARGE(variable)                                                                        \
    __attribute__((used, SGC_RETAIN section("sgc_large"))) static const struct sgc_own_large variable##_own = \
        { &(variable), sizeof(variable) }

/* ---- thread-local variables of every module (tls_linux.c) ------------------------------------ */

/* Checks that the C library lays dynamic thread vectors out as we read them.  [outside] */
bool sgc_tls_layout_verified(void);

/* The calling thread's pointer (fs base / tpidr_el0), to find its thread vector later.  [any] */
uintptr_t sgc_tls_thread_pointer(void);

/* The thread-local block of `module` for the (stopped) thread with that thread pointer; false if it
 * has none yet.  Works on every module in static or dynamic TLS; makes no system call for one whose
 * place is fixed.  [any] */
bool sgc_tls_block(uintptr_t thread_pointer, struct sgc_module_tls tls, struct sgc_range *block);

/* The block that was found for the thread with that stack may tell that the module's place is
 * fixed.  Callers agree on who changes *tls.  [any] */
void sgc_tls_learn(struct sgc_module_tls *tls, uintptr_t thread_pointer, struct sgc_stack_bounds stack,
                   struct sgc_range block);

/* ---- start (memory_linux.c) ------------------------------------------------------------------ */

/* Reads what the functions above need once: early, before there is a second thread of ours.
 * Idempotent.  [outside] */
void sgc_platform_init(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzzer where there is no libFuzzer.
 *
 *     fuzz_NAME                           a test: the seeds, SECONDS of inputs, and the planted faults
 *     fuzz_NAME --seconds N [--seed S]    the same for as long
 *     fuzz_NAME --batch B --seed S        the inputs of one process, once more
 *     fuzz_NAME --fault NAME              looks for a planted fault only
 *     fuzz_NAME --libfuzzer ARGUMENTS...  libFuzzer, where it is linked in
 *     fuzz_NAME FILE-OR-HEX...            these inputs one after the other, in this process, for a debugger
 *
 * Inputs run in a child, a batch of them each, and lie in memory that both share; so what ends the child is known whatever it
 * was.  A batch depends on the seed and its number alone.  What is found is made smaller, kept in a file, and printed with the
 * way to run it again.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/mutate.h"
#include "tests/lib/random.h"
#include "tests/lib/sanitized.h"
#include "platform/report.h"
#include "tests/lib/tap.h"

enum { SECONDS = 4, FAULT_SECONDS = 60, HANGS_MS = 60000, SHOWN = 4000, PRINTED = 600, SMALLER_MS = 15000, NO_FAULT = -1 };

/* One page or more, shared by the process and its children: the input that runs. */
static struct shared {
    uint64_t done;                      /* inputs of this child that are over; the child's, read by its parent */
    size_t size;
    uint8_t data[];
} *shared;

static int said;                        /* what the child writes to its standard error */
static uint64_t seed = 1, inputs;
static int planted = NO_FAULT;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void prepare(void)
{
    shared = mmap(NULL, sizeof *shared + fuzz_subject.longest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    said = memfd_create("said", MFD_CLOEXEC);
    if (shared == MAP_FAILED || said < 0)
        tap_bail("no memory for inputs");
}

/* ---- children ---- */

static void run_shared(void)
{
    if (ftruncate(said, 0) == 0)
        lseek(said, 0, SEEK_SET);
    /* A copy of its own size: a sanitizer sees what is read behind it. */
    uint8_t *copy = malloc(shared->size + (shared->size == 0));

    memcpy(copy, shared->data, shared->size);
    LLVMFuzzerTestOneInput(copy, shared->size);
    free(copy);
    __atomic_add_fetch(&shared->done, 1, __ATOMIC_RELEASE);
}

static void run_batch(uint64_t batch, uint64_t end_ms)
{
    uint64_t random = (seed * UINT64_C(0x9e3779b97f4a7c15) ^ batch * UINT64_C(0xbf58476d1ce4e5b9)) | 1;

    for (uint32_t i = 0; i < fuzz_subject.batch && now_ms() < end_ms; i++) {
        shared->size = fuzz_next_input(&random, shared->data);
        if (fuzz_subject.first_byte && shared->size > 0)
            shared->data[0] = (uint8_t)batch;
        run_shared();
    }
}

static void run_seeds(void)
{
    const uint8_t *data;

    for (unsigned i = 0, count = fuzz_seed_count(); i < count; i++) {
        shared->size = fuzz_seed(i, &data);
        memcpy(shared->data, data, shared->size);
        run_shared();
    }
}

static pid_t begin_child(void)
{
    fflush(NULL);
    shared->done = 0;
    pid_t child = fork();

    if (child < 0)
        tap_bail("no child: %s", strerror(errno));
    if (child == 0) {
        dup2(said, 2);
        if (planted != NO_FAULT)
            fuzz_subject.plant((unsigned)planted);
    }
    return child;
}

/* Waits for the child, and ends it if an input takes too long.  True: it has ended well. */
static bool ends_well(pid_t child)
{
    uint64_t done = 0, since = now_ms();
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        uint64_t now_done = __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE);

        if (now_done != done) {
            done = now_done;
            since = now_ms();
        } else if (now_ms() - since > HANGS_MS) {
            kill(child, SIGABRT);
            since = now_ms();
            dprintf(said, "FOUND: the input does not end\n");
        }
        usleep(2000);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The inputs of a batch, or, without one, of all seeds. */
static bool batch_is_well(const uint64_t *batch, uint64_t end_ms)
{
    pid_t child = begin_child();

    if (child == 0) {
        if (batch != NULL)
            run_batch(*batch, end_ms);
        else
            run_seeds();
        _exit(0);
    }
    bool well = ends_well(child);
    inputs += shared->done;
    return well;
}

static bool input_is_well(const uint8_t *data, size_t size)
{
    memcpy(shared->data, data, size);
    shared->size = size;
    pid_t child = begin_child();

    if (child == 0) {
        run_shared();
        _exit(0);
    }
    return ends_well(child);
}

/* ---- what is found ---- */

static char words[SHOWN + 1];

/* The last that the child said, from FOUND on if it said that. */
static const char *last_words(void)
{
    off_t end = lseek(said, 0, SEEK_END), from = end > SHOWN ? end - SHOWN : 0;
    ssize_t length = pread(said, words, SHOWN, from);

    words[length > 0 ? length : 0] = '\0';
    return words;
}

/* Leaves out what is not needed for it, for a while. */
static size_t make_smaller(uint8_t *data, size_t size)
{
    uint64_t end_ms = now_ms() + SMALLER_MS;
    uint8_t *try = malloc(fuzz_subject.longest);

    for (size_t part = size / 2; part > 0 && now_ms() < end_ms; part /= 2)
        for (size_t at = 0; at + part <= size && now_ms() < end_ms;) {
            memcpy(try, data, at);
            memcpy(try + at, data + at + part, size - at - part);
            if (input_is_well(try, size - part)) {
                at += part;
            } else {
                size -= part;
                memcpy(data, try, size);
            }
        }
    free(try);
    return size;
}

static void print_words(const char *text)
{
    const char *end;

    for (; *text != '\0'; text = *end == '\0' ? end : end + 1) {
        end = strchrnul(text, '\n');
        tap_diag("  %.*s", (int)(end - text), text);
    }
}

static void print_input(const uint8_t *data, size_t size)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof path, "fuzz_%s.found-%08zx", fuzz_subject.name, (size_t)(seed * 4096 + inputs));
    file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(data, 1, size, file);
        fclose(file);
        tap_diag("run it again: tests/fuzz/fuzz_%s %s", fuzz_subject.name, path);
    }
    printf("# %zu bytes: ", size);
    for (size_t i = 0; i < size && i < PRINTED; i++)
        printf("%02x", data[i]);
    printf("%s\n", size > PRINTED ? "..." : "");
}

static void report(const uint64_t *batch)
{
    size_t size = shared->size;
    uint8_t *data = malloc(fuzz_subject.longest);

    memcpy(data, shared->data, size);
    print_words(last_words());
    if (batch != NULL)
        tap_diag("the batch again: tests/fuzz/fuzz_%s --seed %llu --batch %llu", fuzz_subject.name, (unsigned long long)seed,
                 (unsigned long long)*batch);
    if (input_is_well(data, size)) {
        tap_diag("by itself the input finds nothing: it needs those before it in the batch");
    } else {
        size = make_smaller(data, size);
        if (!input_is_well(data, size))
            print_words(last_words());
    }
    print_input(data, size);
    free(data);
}

/* ---- the test ---- */

static bool seeds_are_well(void)
{
    bool well = batch_is_well(NULL, 0);

    if (!well)
        report(NULL);
    return well;
}

static bool search(uint64_t ms)
{
    uint64_t end_ms = now_ms() + ms;

    for (uint64_t batch = 0; now_ms() < end_ms; batch++)
        if (!batch_is_well(&batch, end_ms)) {
            if (planted == NO_FAULT)
                report(&batch);
            return false;
        }
    return true;
}

static void find_fault(unsigned fault)
{
    uint64_t begun = now_ms();

    planted = (int)fault;
    inputs = 0;
    bool found = !batch_is_well(NULL, 0) || !search(FAULT_SECONDS * 1000);
    planted = NO_FAULT;
    tap_ok(found, "the planted fault is found: %s", fuzz_subject.faults[fault]);
    tap_diag("after %llu inputs, %llu ms: %.100s", (unsigned long long)inputs, (unsigned long long)(now_ms() - begun),
             strstr(last_words(), "FOUND") != NULL ? strstr(words, "FOUND") : words);
}

/* Only the one of that name; NULL: all. */
static void find_faults(const char *name)
{
    for (unsigned i = 0; fuzz_subject.faults != NULL && fuzz_subject.faults[i] != NULL; i++)
        if (!SGC_ASSERTS)
            tap_skip("%s: only builds with assertions have faults to plant", fuzz_subject.faults[i]);
        else if (name == NULL || strcmp(name, fuzz_subject.faults[i]) == 0)
            find_fault(i);
}

static void test(unsigned seconds)
{
    tap_ok(seeds_are_well(), "each seed is well");
    tap_ok(search((uint64_t)seconds * 1000), "so are inputs for %u seconds, seed %llu", seconds, (unsigned long long)seed);
    tap_diag("%llu inputs", (unsigned long long)inputs);
    find_faults(NULL);
}

/* ---- single inputs ---- */

static size_t from_hex(const char *text)
{
    size_t size = 0;
    unsigned byte;

    for (; size < fuzz_subject.longest && sscanf(text, "%2x", &byte) == 1; text += 2)
        shared->data[size++] = (uint8_t)byte;
    return size;
}

static void run_named(const char *name)
{
    FILE *file = fopen(name, "rb");

    if (file == NULL) {
        shared->size = from_hex(name);
    } else {
        shared->size = fread(shared->data, 1, fuzz_subject.longest, file);
        fclose(file);
    }
    if (shared->size == 0)
        tap_bail("%s is no file, and no hexadecimal digits either", name);
    LLVMFuzzerTestOneInput(shared->data, shared->size);
    tap_ok(true, "%.60s: nothing is found", name);
}

/* In clang's libFuzzer without main. */
typedef int fuzz_entry(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerRunDriver(int *argc, char ***argv, fuzz_entry *entry);

static int run_libfuzzer(int argc, char **argv)
{
    if (LLVMFuzzerRunDriver == NULL)
        tap_bail("--libfuzzer: it is not linked in; see tests/fuzz/long.sh");
    return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput);
}

int main(int argc, char **argv)
{
    unsigned seconds = SECONDS;
    int i = 1;

    if (argc > 1 && strcmp(argv[1], "--libfuzzer") == 0)
        return run_libfuzzer(argc - 1, argv + 1);
    prepare();
    fuzz_read_seeds();
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0)
            seconds = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--batch") == 0)
            return run_batch(strtoull(argv[i + 1], NULL, 10), UINT64_MAX), 0;
        else if (strcmp(argv[i], "--fault") == 0)
            return find_faults(argv[i + 1]), tap_done();
        else
            tap_bail("%s: expected --seconds, --seed, --batch or --fault", argv[i]);
    }
    if (i == argc)
        test(seconds);
    for (; i < argc; i++)
        run_named(argv[i]);
    return tap_done();
}

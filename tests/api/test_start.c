/* SPDX-License-Identifier: MIT */
/*
 * GC_INIT where programs call it: not at all, twice, late, on another thread, on several at once, in a constructor.
 * Each case in a child: there the collector has not been started, except where the constructor of this program says so
 * (API_START_EARLY in the environment).
 */
#include "api.h"

#include <fcntl.h>

enum { OBJECTS = 1000 };

static void **chain, **early;

/* A chain of objects that only `chain` leads to. */
TEST_NOINLINE static void build_chain(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        void **object = GC_malloc(2 * sizeof(void *));

        API_CHILD(object != NULL);
        object[0] = chain;
        object[1] = (void *)GC_HIDE_POINTER(object);
        chain = object;
    }
}

/* Is it whole, after collections, and do others die? */
static void check_chain(void)
{
    int length = 0;

    api_collect();
    for (void **object = chain; object != NULL; object = object[0], length++)
        API_CHILD(GC_base(object) == (void *)object && object[1] == (void *)GC_HIDE_POINTER(object));
    API_CHILD(length == OBJECTS);
}

static void not_at_all(void)
{
    API_CHILD(!GC_is_init_called());
    build_chain();
    API_CHILD(GC_is_init_called());
    check_chain();
}

static void twice(void)
{
    GC_INIT();
    build_chain();
    GC_INIT();
    GC_init();
    check_chain();
}

static void late(void)
{
    build_chain();
    api_collect();
    GC_INIT();
    check_chain();
}

/* The main thread, where another one has started the collector. */
static void register_main(void)
{
    struct GC_stack_base base;

    GC_allow_register_threads();
    API_CHILD(GC_get_stack_base(&base) == GC_SUCCESS);
    API_CHILD(GC_thread_is_registered() || GC_register_my_thread(&base) == GC_SUCCESS);
}

static void *init_and_build(void *arg)
{
    GC_INIT();
    API_CHILD(GC_thread_is_registered());
    build_chain();
    return arg;
}

static void on_another_thread(void)
{
    api_in_plain_thread(init_and_build, NULL);
    register_main();
    check_chain();
}

static pthread_barrier_t together;

static void *init_together(void *arg)
{
    pthread_barrier_wait(&together);
    GC_INIT();
    API_CHILD(GC_is_init_called());
    return arg;
}

static void on_several_at_once(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];

    API_CHILD(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        API_CHILD(pthread_create(&thread[i], NULL, init_together, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        API_CHILD(pthread_join(thread[i], NULL) == 0);
    register_main();
    build_chain();
    check_chain();
}

/* ---- fork while another thread starts the collector: that stands still in the message about a bad option, until somebody
 * reads what is in the way --- */

static int messages[2];

static void *start_slowly(void *arg)
{
    GC_INIT();
    return arg;
}

static void *read_later(void *arg)
{
    char some[4096];

    usleep(300000);
    while (read(messages[0], some, sizeof some) > 0)
        continue;
    return arg;
}

static void stop_messages(void)
{
    static const char some[4096];

    API_CHILD(pipe(messages) == 0 && fcntl(messages[1], F_SETFL, O_NONBLOCK) == 0);
    while (write(messages[1], some, sizeof some) > 0)
        continue;
    API_CHILD(fcntl(messages[1], F_SETFL, 0) == 0 && dup2(messages[1], STDERR_FILENO) >= 0);
    setenv("GC_MARKERS", "junk", 1);
}

static void use_in_child(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(5);
        register_main();
        build_chain();
        check_chain();
        _exit(0);
    }
    API_CHILD(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0)
        _exit(4);
}

static void forked_meanwhile(void)
{
    pthread_t starter, reader;

    stop_messages();
    API_CHILD(pthread_create(&starter, NULL, start_slowly, NULL) == 0);
    while (!GC_is_init_called())
        usleep(1000);
    usleep(50000);
    API_CHILD(pthread_create(&reader, NULL, read_later, NULL) == 0);
    use_in_child();
    API_CHILD(pthread_join(starter, NULL) == 0);
    register_main();
    build_chain();
    check_chain();
}

/* The same on the thread that starts it.  Both processes go on with that, and are told at the second message that there is no
 * memory yet. */
static int told;
static pid_t forked = -1;

static void GC_CALLBACK fork_in_message(TEST_UNUSED char *format, TEST_UNUSED GC_word arg)
{
    if (told++ == 0)
        forked = fork(), alarm(5);
    else
        API_CHILD(GC_malloc(10) == NULL);
}

static void forked_by_starter(void)
{
    int status = -1;

    setenv("GC_MARKERS", "junk", 1);
    setenv("GC_INITIAL_HEAP_SIZE", "junk", 1);
    GC_set_warn_proc(fork_in_message);
    GC_INIT();
    API_CHILD(told >= 2 && forked >= 0);
    build_chain();
    check_chain();
    API_CHILD(forked == 0 || (waitpid(forked, &status, 0) == forked && status == 0));
}

/* Before main, of a program that was told to. */
__attribute__((constructor)) static void start_early(void)
{
    if (getenv("API_START_EARLY") == NULL)
        return;
    GC_INIT();
    early = GC_malloc(2 * sizeof(void *));
    early[0] = (void *)GC_HIDE_POINTER(early);
    build_chain();
}

/* What main does then. */
static int after_early_start(void)
{
    API_CHILD(GC_is_init_called() && GC_thread_is_registered());
    GC_INIT();
    check_chain();
    API_CHILD(GC_base(early) == (void *)early && early[0] == (void *)GC_HIDE_POINTER(early));
    return 0;
}

static char program[4096];

static void in_a_constructor(void)
{
    setenv("API_START_EARLY", "1", 1);
    execl(program, program, (char *)NULL);
    API_CHILD(!"the program can be run again");
}

static void only_sgc(void)
{
    api_check_child(on_several_at_once, NULL, "nor on several threads at once");
    api_check_child(forked_meanwhile, NULL, "a thread may fork meanwhile, and the child use the collector");
    api_check_child(forked_by_starter, NULL, "and the thread that starts it may, too");
}

int main(void)
{
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (getenv("API_START_EARLY") != NULL)
        return after_early_start();
    if (length <= 0)
        tap_bail("/proc/self/exe does not say where this program is");
    api_check_child(not_at_all, NULL, "without GC_INIT the first allocation starts the collector");
    api_check_child(twice, NULL, "GC_INIT twice does no harm");
    api_check_child(late, NULL, "nor late");
    if (api_on_sgc)
        only_sgc();
    else
        tap_skip("bdwgc is started by one thread");
    api_check_child(on_another_thread, NULL, "on another thread: the objects live on, and the main thread can register");
    api_check_child(in_a_constructor, NULL, "in a constructor, before main");
    return tap_done();
}

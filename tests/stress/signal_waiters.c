/* SPDX-License-Identifier: MIT */
/*
 * The threads of storm_signals that wait in system calls, and what they insist on.  All of the
 * storm's handlers are installed with SA_RESTART, and the collector's must be too:
 *   - a read of a pipe, a semaphore and a condition never fail with EINTR;
 *   - nanosleep and sem_timedwait, which the kernel does not restart, may; but what nanosleep says
 *     is left must be left;
 *   - nothing times out too early.
 * Every waiter keeps a message on its stack and nowhere else.
 */
#include "tests/stress/storm_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int pipe_end[2];
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t tokens;             /* under lock */

static struct timespec in_future(clockid_t clock, size_t nanoseconds)
{
    struct timespec now;
    clock_gettime(clock, &now);
    uint64_t sum = (uint64_t)now.tv_nsec + nanoseconds;
    now.tv_sec += (time_t)(sum / 1000000000u);
    now.tv_nsec = (long)(sum % 1000000000u);
    return now;
}

static bool is_past(clockid_t clock, const struct timespec *time)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > time->tv_sec || (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

/* ---- the feeder: ends every wait in the end ---- */

static void feed(struct rng *rng)
{
    for (uint64_t number = 0; storm_running(); number++) {
        storm_step("feeding");
        STORM_CHECK(write(pipe_end[1], &number, sizeof number) == sizeof number, "write: error %d", errno);
        sem_post(&semaphore);
        storm_lock(&lock);
        tokens++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        storm_doze_us((unsigned)rng_below(rng, 3000));
    }
    close(pipe_end[1]);
    for (int i = 0; i < 2; i++)
        sem_post(&semaphore);
    storm_lock(&lock);
    tokens = UINT64_MAX / 2;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- the waiters ---- */

struct reading { uint64_t value; ssize_t got; int error; };

static void *GC_CALLBACK read_once(void *argument)
{
    struct reading *reading = argument;
    reading->got = read(pipe_end[0], &reading->value, sizeof reading->value);
    reading->error = errno;
    return NULL;
}

static void keep_reading(struct rng *rng)
{
    for (uint64_t expected = 0;; expected++) {
        struct message *message = message_make(rng, READ);
        struct reading reading;
        bool blocking = storm_has(BLOCKING_READ) && (!storm_has(READ) || rng_once_in(rng, 2));
        storm_step("reading");
        if (blocking)
            GC_do_blocking(read_once, &reading);
        else
            read_once(&reading);
        message_check(message, "the stack of a reader");
        if (reading.got == 0)
            break;
        STORM_CHECK(reading.got == sizeof reading.value, "read of a pipe returned %zd, error %d", reading.got,
                    reading.error);
        STORM_CHECK(reading.value == expected, "read of a pipe gave %llu, not %llu",
                    (unsigned long long)reading.value, (unsigned long long)expected);
        storm_ran(blocking ? BLOCKING_READ : READ);
    }
}

/* A sleep that is cut short says how long it would have gone on. */
static void sleep_once(struct rng *rng)
{
    struct timespec left = { 0, 0 }, wanted = { 0, (long)rng_below(rng, 20000000) };
    uint64_t start = storm_ns();
    int result = nanosleep(&wanted, &left), error = errno;
    uint64_t slept = storm_ns() - start;
    STORM_CHECK(result == 0 || error == EINTR, "nanosleep: error %d", error);
    if (result)
        slept += (uint64_t)left.tv_sec * 1000000000u + (uint64_t)left.tv_nsec;
    STORM_CHECK(slept >= (uint64_t)wanted.tv_nsec, "nanosleep of %ld ns took %llu with what it left", wanted.tv_nsec,
                (unsigned long long)slept);
    struct timespec until = in_future(CLOCK_MONOTONIC, rng_below(rng, 5000000));
    while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) == EINTR)
        ;
    STORM_CHECK(error == 0 && is_past(CLOCK_MONOTONIC, &until), "clock_nanosleep: error %d, or too early", error);
}

static void wait_for_condition(struct rng *rng)
{
    struct timespec until = in_future(CLOCK_REALTIME, rng_below(rng, 4000000));
    bool timed = rng_once_in(rng, 2);
    int error = 0;
    storm_lock(&lock);
    while (tokens == 0 && error == 0)
        error = timed ? pthread_cond_timedwait(&changed, &lock, &until) : pthread_cond_wait(&changed, &lock);
    if (tokens > 0)
        tokens--;
    pthread_mutex_unlock(&lock);
    STORM_CHECK(error == 0 || (timed && error == ETIMEDOUT && is_past(CLOCK_REALTIME, &until)),
                "waiting for a condition: error %d, or too early", error);
}

/* With a time limit the kernel does not restart it. */
static void wait_for_semaphore(struct rng *rng)
{
    struct timespec until = in_future(CLOCK_REALTIME, rng_below(rng, 4000000));
    bool timed = rng_once_in(rng, 2);
    int error = (timed ? sem_timedwait(&semaphore, &until) : sem_wait(&semaphore)) ? errno : 0;
    bool in_time = error == EINTR || (error == ETIMEDOUT && is_past(CLOCK_REALTIME, &until));
    STORM_CHECK(error == 0 || (timed && in_time),
                "waiting for a semaphore: error %d, or too early", error);
}

/* Blocks every signal, the collector's too, and neither allocates nor collects until it unblocks
 * them: a collection has to wait for it. */
static void masked_once(struct rng *rng)
{
    sigset_t all, old;
    sigfillset(&all);
    storm_must(pthread_sigmask(SIG_SETMASK, &all, &old), "pthread_sigmask");
    storm_step("with all signals blocked");
    storm_doze_us((unsigned)rng_below(rng, rng_once_in(rng, 20) ? 30000 : 2000));
    storm_must(pthread_sigmask(SIG_SETMASK, &old, NULL), "pthread_sigmask");
    storm_doze_us((unsigned)rng_below(rng, 20000));
}

void waiters_prepare(void)
{
    STORM_CHECK(!pipe2(pipe_end, O_CLOEXEC), "pipe2: error %d", errno);
    sem_init(&semaphore, 0, 0);
}

static const struct { int part; const char *doing, *place; void (*once)(struct rng *rng); } waits[] = {
    { SLEEP, "sleeping", "the stack of a sleeper", sleep_once },
    { CONDITION, "waiting for a condition", "the stack of a thread that waits for a condition", wait_for_condition },
    { SEMAPHORE, "waiting for a semaphore", "the stack of a thread that waits for a semaphore", wait_for_semaphore },
    { MASKED, "blocking all signals", "the stack of a thread with all signals blocked", masked_once },
};

static void keep_waiting(int how, struct rng *rng)
{
    while (storm_has(waits[how].part) && storm_running()) {
        struct message *message = message_make(rng, waits[how].part);
        storm_step(waits[how].doing);
        waits[how].once(rng);
        message_check(message, waits[how].place);
        storm_ran(waits[how].part);
    }
}

void waiter(int which)
{
    struct rng rng = rng_make(500 + (uint64_t)which);
    target_join();
    if (which == 0)
        feed(&rng);
    else if (which == 1)
        keep_reading(&rng);
    else
        keep_waiting(which - 2, &rng);
    target_leave();
}

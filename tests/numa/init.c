/* SPDX-License-Identifier: MIT */
/*
 * The first process of an emulated machine (tests/numa/run): runs the jobs that /jobs lists, one after the other, and turns
 * the machine off.
 *
 * /jobs holds words that end with a zero byte; an empty word ends a job.  The first word of a job is the number of seconds
 * that it may take, then come settings (NAME=VALUE), then the program and its arguments.
 *
 * What the jobs say goes to the second serial line.  There a line "@begin N" stands before job N, counted from 0, and "@end N
 * STATUS SECONDS" behind it, with the status as a shell would give it: 128 and more is a signal.  "@off" comes last.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { JOB_WORDS = 64, JOBS_BYTES = 1 << 16 };

struct job {
    unsigned seconds;
    char *settings[JOB_WORDS];      /* both end with NULL */
    char *words[JOB_WORDS];
};

/* ---- the machine ------------------------------------------------------------------------------ */

static void mount_at(const char *type, const char *where)
{
    mkdir(where, 0755);
    if (mount(type, where, type, 0, NULL) != 0)
        perror(where);
}

static void put(const char *file, const char *text)
{
    int to = open(file, O_WRONLY);

    if (to < 0 || write(to, text, strlen(text)) < 0)
        perror(file);
    close(to);
}

/* Huge pages wherever the system can make some: what spoils placement by small pages has to be there. */
static void prepare(void)
{
    struct rlimit no_core = { 0, 0 };

    mount_at("proc", "/proc");
    mount_at("sysfs", "/sys");
    mount_at("devtmpfs", "/dev");
    mount_at("tmpfs", "/dev/shm");
    mount_at("tmpfs", "/tmp");
    mount_at("cgroup2", "/sys/fs/cgroup");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always");
    setrlimit(RLIMIT_CORE, &no_core);
    setenv("PATH", "/bin:/usr/bin", 1);
}

/* Standard output and errors become the second serial line, which passes bytes on as they are. */
static void speak_to(const char *line)
{
    struct termios as_is;
    int to = open(line, O_RDWR | O_NOCTTY);

    if (to < 0 || tcgetattr(to, &as_is) != 0) {
        perror(line);
        return;
    }
    cfmakeraw(&as_is);
    tcsetattr(to, TCSANOW, &as_is);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    close(to);
}

static void turn_off(void)
{
    printf("@off\n");
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    reboot(RB_POWER_OFF);
    _exit(1);
}

/* ---- jobs -------------------------------------------------------------------------------------- */

/* The signal for an ended child, blocked here, so that it can be waited for, and not in jobs. */
static sigset_t child_ended(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(how, &set, NULL);
    return set;
}

static void run(struct job *job)
{
    int nothing = open("/dev/null", O_RDONLY);

    child_ended(SIG_UNBLOCK);
    setsid();
    dup2(nothing, STDIN_FILENO);
    for (char **setting = job->settings; *setting != NULL; setting++)
        putenv(*setting);
    execvp(job->words[0], job->words);
    perror(job->words[0]);
    _exit(127);
}

/* Its status; processes that others have left behind are waited for, too. */
static int wait_for(pid_t child, unsigned seconds)
{
    sigset_t ending = child_ended(SIG_BLOCK);
    struct timespec second = { 1, 0 };
    time_t until = time(NULL) + seconds;
    int status = 0;
    pid_t ended;

    for (;;) {
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == child)
                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (time(NULL) > until)
            kill(-child, SIGKILL);
        sigtimedwait(&ending, NULL, &second);
    }
}

static void run_job(int number, struct job *job)
{
    time_t began = time(NULL);
    pid_t child;
    int status;

    printf("@begin %d\n", number);
    fflush(stdout);
    child = fork();
    if (child == 0)
        run(job);
    status = child < 0 ? 127 : wait_for(child, job->seconds);
    kill(-child, SIGKILL);
    printf("\n@end %d %d %ld\n", number, status, (long)(time(NULL) - began));
    fflush(stdout);
}

/* The next word, or NULL at the end of the job. */
static char *next_word(char **at)
{
    char *word = *at;

    *at += strlen(word) + 1;
    return *word == '\0' ? NULL : word;
}

static void read_job(char **at, struct job *job)
{
    int settings = 0, words = 0;
    char *word = next_word(at);

    memset(job, 0, sizeof *job);
    job->seconds = word == NULL ? 0 : (unsigned)atoi(word);
    while ((word = next_word(at)) != NULL)
        if (words == 0 && strchr(word, '=') != NULL && settings < JOB_WORDS - 1)
            job->settings[settings++] = word;
        else if (words < JOB_WORDS - 1)
            job->words[words++] = word;
}

int main(void)
{
    static char jobs[JOBS_BYTES + 2];
    static struct job job;
    int from = open("/jobs", O_RDONLY);
    ssize_t bytes = read(from, jobs, JOBS_BYTES);
    char *at = jobs;

    prepare();
    speak_to("/dev/ttyS1");
    child_ended(SIG_BLOCK);
    for (int number = 0; bytes > 0 && at < jobs + bytes; number++) {
        read_job(&at, &job);
        if (job.words[0] == NULL)
            break;
        run_job(number, &job);
    }
    turn_off();
    return 1;
}

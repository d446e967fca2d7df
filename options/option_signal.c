/* SPDX-License-Identifier: MIT */
/*
 * Names of signals.  Constant data and pure functions; the C library's own (strsignal, sig2str) are
 * localised or too new.
 */
#include "options/option_table.h"
#include "platform/report.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

struct named_signal {
    const char *name;
    int number;
    bool can_suspend;
};

/* Not usable: what a fault of the program raises (its handler would park a thread that never comes
 * back), what cannot be caught, and SIGCONT, whose arrival has an effect of its own. */
static const struct named_signal named_signals[] = {
    { "SIGHUP", SIGHUP, true },       { "SIGINT", SIGINT, true },       { "SIGQUIT", SIGQUIT, true },
    { "SIGILL", SIGILL, false },      { "SIGTRAP", SIGTRAP, false },    { "SIGABRT", SIGABRT, false },
    { "SIGBUS", SIGBUS, false },      { "SIGFPE", SIGFPE, false },      { "SIGKILL", SIGKILL, false },
    { "SIGUSR1", SIGUSR1, true },     { "SIGSEGV", SIGSEGV, false },    { "SIGUSR2", SIGUSR2, true },
    { "SIGPIPE", SIGPIPE, true },     { "SIGALRM", SIGALRM, true },     { "SIGTERM", SIGTERM, true },
    { "SIGSTKFLT", SIGSTKFLT, true }, { "SIGCHLD", SIGCHLD, true },     { "SIGCONT", SIGCONT, false },
    { "SIGSTOP", SIGSTOP, false },    { "SIGTSTP", SIGTSTP, true },     { "SIGTTIN", SIGTTIN, true },
    { "SIGTTOU", SIGTTOU, true },     { "SIGURG", SIGURG, true },       { "SIGXCPU", SIGXCPU, true },
    { "SIGXFSZ", SIGXFSZ, true },     { "SIGVTALRM", SIGVTALRM, true }, { "SIGPROF", SIGPROF, true },
    { "SIGWINCH", SIGWINCH, true },   { "SIGIO", SIGIO, true },         { "SIGPWR", SIGPWR, true },
    { "SIGSYS", SIGSYS, false },
};

enum { NAMED_SIGNALS = sizeof named_signals / sizeof named_signals[0] };

/* RTMIN+n and RTMAX-n, n of one or two digits. */
static int realtime_number(const char *name)
{
    bool from_min = strncmp(name, "RTMIN", 5) == 0;
    int offset = 0;

    if (!from_min && strncmp(name, "RTMAX", 5) != 0)
        return 0;
    name += 5;
    if (*name != '\0') {
        if (*name++ != (from_min ? '+' : '-') || *name == '\0' || strlen(name) > 2)
            return 0;
        for (; *name != '\0'; name++) {
            if (*name < '0' || *name > '9')
                return 0;
            offset = offset * 10 + (*name - '0');
        }
    }
    sgc_assert(0 <= offset && offset <= 99);
    int number = from_min ? SIGRTMIN + offset : SIGRTMAX - offset;
    return SIGRTMIN <= number && number <= SIGRTMAX ? number : 0;
}

int sgc_signal_number(const char *name)
{
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int i = 0; i < NAMED_SIGNALS; i++)
        if (strcmp(named_signals[i].name + 3, name) == 0)
            return named_signals[i].number;
    return realtime_number(name);
}

static const struct named_signal *find(int signal)
{
    for (int i = 0; i < NAMED_SIGNALS; i++)
        if (named_signals[i].number == signal)
            return &named_signals[i];
    return NULL;
}

const char *sgc_signal_name(int signal)
{
    const struct named_signal *named = find(signal);

    return named != NULL ? named->name : NULL;
}

/* Those between the named ones and SIGRTMIN belong to the C library. */
bool sgc_signal_can_suspend(int signal)
{
    const struct named_signal *named = find(signal);

    return named != NULL ? named->can_suspend : SIGRTMIN <= signal && signal <= SIGRTMAX;
}

/* SPDX-License-Identifier: MIT */
/*
 *   path, of_process   written by the thread that starts the library, before there are others; read
 *                      by the one that ends the process
 */
#include "bench/herrmann/figures.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/herrmann/manager.h"
#include "bench/herrmann/message.h"

struct figures figures;
__thread struct calls calls;

static char path[PATH_MAX];
static pid_t of_process;

void figures_start(void)
{
    const char *name = getenv("HERRMANN_FIGURES"), *number;

    if (name == NULL || name[0] == '\0')
        return;
    of_process = getpid();
    number = strstr(name, "%p");
    if (number == NULL)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%.*s%ld%s", (int)(number - name), name, (long)of_process, number + 2);
}

int figures_wanted(void)
{
    return path[0] != '\0' && getpid() == of_process;
}

static void write_figure(int file, const char *name, unsigned long value)
{
    dprintf(file, "%s\t%lu\n", name, value);
}

void figures_write(void)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (file < 0) {
        message_warn("cannot write to HERRMANN_FIGURES=%s: %s", path, strerror(errno));
        return;
    }
    write_figure(file, "calls", atomic_load(&figures.calls));
    write_figure(file, "misses", atomic_load(&figures.misses));
    write_figure(file, "refills", atomic_load(&figures.refills));
    write_figure(file, "drains", atomic_load(&figures.drains));
    write_figure(file, "blocks_made", atomic_load(&figures.made));
    write_figure(file, "blocks_kept", figures.kept);
    write_figure(file, "largest_bin", figures.largest);
    dprintf(file, "manager_cpu_seconds\t%.6f\n", manager_cpu_seconds());
    close(file);
}

/* SPDX-License-Identifier: MIT */
#include "tests/lib/proc.h"

bool proc_emulated(void)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    return strncmp(name, "qemu-", 5) == 0;
}

size_t proc_address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%zu", &pages) != 1)
        tap_bail("no /proc/self/statm");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

int proc_flag(const void *address, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from, to, lo = 0, hi = 0;
    int answer = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            lo = from;
            hi = to;
        }
        if (strncmp(line, "VmFlags:", 8) == 0 && (unsigned long)address - lo < hi - lo)
            answer = strstr(line, flag) != NULL;
    }
    if (file != NULL)
        fclose(file);
    return answer;
}

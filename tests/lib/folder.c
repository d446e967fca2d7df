/* SPDX-License-Identifier: MIT */
#include "tests/lib/folder.h"

char folder[256];

void folder_make(void)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/sgc-test-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL)
        tap_bail("no temporary folder at %s", folder);
}

void folder_remove(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        tap_diag("%s stays", folder);
}

const char *folder_path(const char *name)
{
    static char text[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(text[next], sizeof text[0], "%s/%s", folder, name);
    return text[next];
}

void folder_put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s", folder_path(name));
    for (char *at = strchr(path + strlen(folder) + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    file = fopen(path, "w");
    if (file == NULL)
        tap_bail("cannot write %s", path);
    fputs(text, file);
    fclose(file);
}

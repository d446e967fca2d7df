/* SPDX-License-Identifier: MIT */
/* The walker of walk.h.  Folders wait on a stack, so that one is open at a time. */
#include "examples/wordindex/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"

/* A folder to be read. */
struct folder {
    const char *path;
    struct folder *next;
};

struct walker {
    struct files *files;
    struct queue *queue;
    struct folder *folders;
    size_t problems;
};

static void problem(struct walker *walker, const char *path, const char *what)
{
    complain("%s: %s; it is left out", path, what);
    walker->problems++;
}

static void found_file(struct walker *walker, const char *path)
{
    queue_put(walker->queue, files_add(walker->files, path));
}

static void found_folder(struct walker *walker, const char *path)
{
    struct folder *folder = mem_object(sizeof *folder);

    folder->path = path;
    folder->next = walker->folders;
    walker->folders = folder;
}

/* Like find, which adds no slash to "/" or "folder/". */
static const char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder), rest = strlen(name) + 1;
    size_t slash = length > 0 && folder[length - 1] != '/';
    char *path = mem_bytes(length + slash + rest);

    memcpy(path, folder, length);
    if (slash)
        path[length] = '/';
    memcpy(path + length + slash, name, rest);
    return path;
}

/* DT_UNKNOWN if there is no telling: not every file system fills d_type in. */
static unsigned char type_of(DIR *stream, const struct dirent *entry)
{
    struct stat status;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(status.st_mode);
}

static void visit(struct walker *walker, DIR *stream, const char *folder,
                  const struct dirent *entry)
{
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return;
    switch (type_of(stream, entry)) {
    case DT_REG:
        found_file(walker, join(folder, entry->d_name));
        break;
    case DT_DIR:
        found_folder(walker, join(folder, entry->d_name));
        break;
    case DT_UNKNOWN:
        problem(walker, join(folder, entry->d_name), strerror(errno));
        break;
    default: /* a link or a special file */
        break;
    }
}

static void read_folder(struct walker *walker, const char *path)
{
    const struct dirent *entry;
    DIR *stream = opendir(path);

    if (stream == NULL) {
        problem(walker, path, strerror(errno));
        return;
    }
    while (errno = 0, (entry = readdir(stream)) != NULL)
        visit(walker, stream, path, entry);
    if (errno != 0)
        problem(walker, path, strerror(errno));
    closedir(stream);
}

/* A path that the user gave. */
static void start_at(struct walker *walker, const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        problem(walker, path, strerror(errno));
    else if (S_ISDIR(status.st_mode))
        found_folder(walker, path);
    else if (S_ISREG(status.st_mode))
        found_file(walker, path);
    else
        problem(walker, path, "neither a folder nor a regular file");
}

size_t walk(const char *const *paths, size_t count, struct files *files, struct queue *queue)
{
    struct walker walker = {.files = files, .queue = queue};

    for (size_t i = 0; i < count; i++) {
        start_at(&walker, paths[i]);
        while (walker.folders != NULL) {
            struct folder *folder = walker.folders;

            walker.folders = folder->next;
            read_folder(&walker, folder->path);
        }
    }
    return walker.problems;
}

/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program.  Workers share the queue and the index, each with its own locks;
 * a file belongs to the worker that took it from the queue.
 */
#include "examples/wordindex/build.h"

#include <pthread.h>
#include <string.h>

#include "examples/wordindex/queue.h"
#include "examples/wordindex/tokens.h"
#include "examples/wordindex/walk.h"
#include "memory.h"

struct crew {
    struct queue *queue;
    struct index *index;
    pthread_t *threads;
    int started;
};

/* The words of one text: a table of struct places. */
static struct table cut(const char *text, size_t length, uint64_t *count)
{
    struct tokens tokens = {.next = text, .end = text + length};
    struct table words = {0};
    uint32_t place = 0;

    for (const char *word; (word = next_word(&tokens)) != NULL; place++) {
        struct slot *slot = table_put(&words, word, word_hash(word));

        if (slot->value == NULL)
            slot->value = mem_object(sizeof(struct places));
        places_add(slot->value, place);
    }
    *count = place;
    return words;
}

static void index_file(struct index *index, struct file *file)
{
    char *text;
    size_t length;

    if (!read_file(file->path, &text, &length)) {
        file->state = FILE_FAILED;
    } else if (memchr(text, '\0', length) != NULL) {
        file->state = FILE_BINARY;
    } else {
        struct table words = cut(text, length, &file->words);

        index_merge(index, file->id, &words);
        file->bytes = length;
        file->state = FILE_TEXT;
    }
}

static void *work(void *argument)
{
    struct crew *crew = argument;

    for (struct file *file; (file = queue_take(crew->queue)) != NULL;)
        index_file(crew->index, file);
    return NULL;
}

static void start(struct crew *crew, int threads)
{
    crew->threads = mem_object((size_t)threads * sizeof *crew->threads);
    for (; crew->started < threads; crew->started++) {
        int error = pthread_create(&crew->threads[crew->started], NULL, work, crew);

        if (error == 0)
            continue;
        if (crew->started == 0)
            die("no thread can be started: %s; raise the limit on processes", strerror(error));
        complain("%d of %d threads could be started: %s; going on with these", crew->started,
                 threads, strerror(error));
        break;
    }
}

static void join(struct crew *crew)
{
    for (int i = 0; i < crew->started; i++)
        pthread_join(crew->threads[i], NULL);
}

static void add_up(struct library *library)
{
    for (size_t i = 0; i < library->files.used; i++) {
        const struct file *file = library->files.list[i];

        library->texts += file->state == FILE_TEXT;
        library->binaries += file->state == FILE_BINARY;
        library->problems += file->state == FILE_FAILED;
        library->bytes += file->bytes;
        library->words += file->words;
    }
}

struct library *build_library(const char *const *paths, size_t count, int threads)
{
    struct library *library = mem_object(sizeof *library);
    struct crew crew = {.queue = queue_new(), .index = index_new()};

    library->index = crew.index;
    start(&crew, threads);
    library->problems = walk(paths, count, &library->files, crew.queue);
    queue_close(crew.queue);
    join(&crew);
    add_up(library);
    return library;
}

void forget_library(struct library *library)
{
    *library = (struct library){0};
}

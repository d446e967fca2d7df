/* SPDX-License-Identifier: MIT */
/* Caches fed with a serial mark's accesses. */
#include "perfmodel/model/cache.h"

#include <stdlib.h>
#include <string.h>

/* ---- one cache ---- */

bool sgc_cache_make(struct sgc_cache *c, uint64_t bytes, uint32_t ways, uint32_t line_bytes)
{
    sgc_assert(ways > 0 && line_bytes > 0 && (line_bytes & (line_bytes - 1)) == 0);
    sgc_assert(bytes > 0 && bytes % ((uint64_t)ways * line_bytes) == 0);
    c->ways = ways;
    c->line_log = (unsigned)__builtin_ctz(line_bytes);
    c->sets = bytes / ways / line_bytes;
    c->way = calloc(c->sets * ways, sizeof *c->way);
    return c->way != NULL;
}

void sgc_cache_release(struct sgc_cache *c)
{
    free(c->way);
    c->way = NULL;
}

uint64_t sgc_cache_use(struct sgc_cache *c, uint64_t address, uint64_t now)
{
    uint64_t line = (address >> c->line_log) + 1, before = SGC_CACHE_MISS;
    struct sgc_cache_way *set = &c->way[(line - 1) % c->sets * c->ways];
    uint32_t at = 0;

    sgc_assert(now != SGC_CACHE_MISS);
    while (at < c->ways - 1 && set[at].line != line)
        at++;
    if (set[at].line == line)
        before = set[at].last;
    memmove(&set[1], &set[0], at * sizeof *set);
    set[0] = (struct sgc_cache_way){ line, now };
    return before;
}

/* ---- a machine's ---- */

bool sgc_cache_model_make(struct sgc_cache_model *model, const struct sgc_machine *machine)
{
    sgc_assert(machine->caches >= 1 && machine->nodes >= 1);
    memset(model, 0, sizeof *model);
    model->machine = machine;
    model->missed_last[SGC_MISS_READ] = model->missed_last[SGC_MISS_RMW] = UINT64_MAX - 1; /* no line is the next */
    model->counted.nodes = (uint32_t)machine->nodes;
    model->counted.node = calloc(model->counted.nodes, sizeof *model->counted.node);
    if (model->counted.node == NULL)
        return false;
    for (int i = 0; i < machine->caches; i++) {
        const struct sgc_machine_cache *c = &machine->cache[i];

        if (!sgc_cache_make(&model->level[i], (uint64_t)c->bytes, (uint32_t)c->ways, (uint32_t)c->line_bytes))
            return false;
    }
    return machine->tlb.entries == 0 || sgc_cache_make(&model->tlb, (uint64_t)(machine->tlb.entries * machine->tlb.page_bytes),
                                                       (uint32_t)machine->tlb.ways, (uint32_t)machine->tlb.page_bytes);
}

void sgc_cache_model_release(struct sgc_cache_model *model)
{
    for (int i = 0; i < SGC_MACHINE_CACHES; i++)
        sgc_cache_release(&model->level[i]);
    sgc_cache_release(&model->tlb);
    free(model->counted.node);
    model->counted.node = NULL;
}

static void count_miss(struct sgc_cache_model *model, const struct sgc_access *a)
{
    uint64_t line = a->address >> model->level[model->machine->caches - 1].line_log;
    bool next = line == model->missed_last[a->class] + 1;

    sgc_assert(a->node < model->counted.nodes && a->class < SGC_MISS_CLASSES);
    model->missed_last[a->class] = line;
    model->counted.misses[a->class]++;
    model->counted.in_sequence[a->class] += next;
    model->counted.node[a->node].misses[a->class]++;
    model->counted.node[a->node].in_sequence[a->class] += next;
}

/* Memory is asked where the last level does not know the line, whatever the levels before it say:
 * those that lose a line to it give it up. */
void sgc_cache_model_access(void *arg, const struct sgc_access *access)
{
    struct sgc_cache_model *model = arg;
    int last = model->machine->caches - 1, nearest = last;
    uint64_t before = sgc_cache_use(&model->level[last], access->address, model->now);

    for (int i = last - 1; i >= 0; i--)
        nearest = sgc_cache_use(&model->level[i], access->address, model->now) != SGC_CACHE_MISS ? i : nearest;
    if (before == SGC_CACHE_MISS) {
        count_miss(model, access);
    } else {
        model->live_time += model->now - before;
        model->counted.answered[nearest]++;
    }
    model->counted.walks += model->tlb.way != NULL && sgc_cache_use(&model->tlb, access->address, model->now) == SGC_CACHE_MISS;
    model->counted.accesses[access->class]++;
    model->now++;
}

const struct sgc_misses *sgc_cache_model_end(struct sgc_cache_model *model)
{
    sgc_assert(model->now == model->counted.accesses[SGC_MISS_READ] + model->counted.accesses[SGC_MISS_RMW]);
    model->counted.live_lines = model->now > 0 ? (double)model->live_time / (double)model->now : 0;
    return &model->counted;
}

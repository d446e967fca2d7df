/* SPDX-License-Identifier: MIT */
/* How simulated markers work: names of presets, and their settings. */
#ifndef SGC_PERFMODEL_SIM_PRESET_H
#define SGC_PERFMODEL_SIM_PRESET_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/sim/restore.h"
#include "mark/team/team.h"

struct sgc_sim_preset {
    const char *name;
    bool endo;                  /* the marker of [Endo] 3, perfmodel/sim/endo_marker.h; otherwise
                                   the library's */
    bool balance;               /* markers without work steal */
    bool split;                 /* large objects are split (SLO) */
    bool flags;                 /* the end is found by flags (NSB); otherwise by a counter */
    bool balance_bits;          /* bitmaps lie on all nodes in turn (BMB) */
    enum sgc_stack_form form;
    enum sgc_steal steal;
};

/* NULL: there is none of that name. */
const struct sgc_sim_preset *sgc_sim_preset(const char *name);

/* The work that markers have done. */
struct sgc_sim_work {
    uint64_t objects, bytes, steals, stolen;
};

#endif

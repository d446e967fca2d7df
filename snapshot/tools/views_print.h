/* SPDX-License-Identifier: MIT */
/* Views as text, to the standard output. */
#ifndef SGC_SNAPSHOT_TOOLS_VIEWS_PRINT_H
#define SGC_SNAPSHOT_TOOLS_VIEWS_PRINT_H

#include "snapshot/names.h"
#include "snapshot/view/merged.h"

enum sgc_views_format {
    SGC_VIEWS_NO_FORMAT, SGC_VIEWS_HEAPSNAPSHOT, SGC_VIEWS_PPROF, SGC_VIEWS_FOLDED, SGC_VIEWS_JSON,
};

struct sgc_views_settings {
    uint32_t top;                       /* lines of groups at most */
    uint32_t depth;                     /* of the merged tree; 0: as each view has it */
    uint32_t share;                     /* in percent of what is reachable: what retains less is left
                                         * out */
    const char *type;                   /* name of a group; NULL: none */
    const char *moved;                  /* "OLD=NEW": beginnings of paths of modules; NULL: none */
    enum sgc_views_format format;       /* of an export */
    const char *output;
    uint64_t smallest;                  /* bytes: what retains less is summed up; UINT64_MAX: as
                                         * each format has it */
};

enum sgc_views_result {
    SGC_VIEWS_DONE, SGC_VIEWS_NO_MEMORY,
    SGC_VIEWS_NOT_HEAP,                 /* the address is none of the heap's */
    SGC_VIEWS_NO_OBJECT,                /* it is, but no object's */
    SGC_VIEWS_NO_GROUP,                 /* no group has that name */
    SGC_VIEWS_NOT_REACHED,              /* nothing leads to any object of it */
};

/* Without bytes that could disturb a terminal.  A namer's texts are whole. */
enum { SGC_VIEWS_NAME = SGC_NAMER_TEXT + 32 };
const char *sgc_views_quoted(const char *name, char shown[SGC_VIEWS_NAME]);

/* Each is false if there is no memory. */
bool sgc_views_print_types(const struct sgc_view *v, const struct sgc_views_settings *s);
bool sgc_views_print_retained(const struct sgc_view *v, const struct sgc_views_settings *s);

/* ---- views_why.c ---- */

/* `text`: the address as it was given; `name`: of a group, as it is or as it was printed.  The
 * namer is the one that has named the view. */
enum sgc_views_result sgc_views_print_why(const struct sgc_view *v, struct sgc_namer *namer, const char *text,
                                          uint64_t address);
enum sgc_views_result sgc_views_print_why_type(const struct sgc_view *v, struct sgc_namer *namer, const char *name);

/* ---- views_compare.c ---- */

bool sgc_views_print_compare(const struct sgc_view *older, const struct sgc_view *newer, const struct sgc_views_settings *s);
bool sgc_views_write_compare(const struct sgc_view *older, const struct sgc_view *newer, const struct sgc_views_settings *s);

/* ---- views_export.c ---- */

/* A file that cannot be written ends the process. */
bool sgc_views_export(const struct sgc_view *v, const struct sgc_views_settings *s);

#endif

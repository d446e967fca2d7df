/* SPDX-License-Identifier: MIT */
/* sgc-snapshot export: views as files of other programs. */
#include <errno.h>
#include <string.h>

#include "platform/text_line.h"
#include "snapshot/tools/command_line.h"
#include "snapshot/tools/output.h"
#include "snapshot/tools/views_print.h"
#include "snapshot/view/export.h"

enum { EXPORT_DEPTH = 64, SHARE = 10000 };      /* of the merged tree, where nothing was asked for:
                                 * what retains less than such a share is the rest */

static bool write_merged(FILE *out, const struct sgc_view *v, const struct sgc_views_settings *s)
{
    uint64_t smallest = s->smallest != UINT64_MAX ? s->smallest : v->d.retained[sgc_dominators_top(&v->d)] / SHARE;
    struct sgc_merged m;
    bool done = sgc_merged_make(&m, v, smallest, s->depth != 0 ? s->depth : EXPORT_DEPTH);

    sgc_assert(s->format != SGC_VIEWS_NO_FORMAT && s->format != SGC_VIEWS_HEAPSNAPSHOT);
    if (done && s->format == SGC_VIEWS_PPROF)
        done = sgc_export_pprof(out, &m);
    else if (done && s->format == SGC_VIEWS_FOLDED)
        done = sgc_export_folded(out, &m);
    else if (done)
        done = sgc_export_json(out, &m);
    sgc_merged_release(&m);
    return done;
}

_Noreturn static void fail(const char *path, int error)
{
    char shown[1000];

    sgc_assert(error != 0);
    sgc_tool_fail(SGC_TOOL_FAILED, "-o %s: it cannot be written: %s; name a new file where one can be written",
                  sgc_quote(path, strlen(path), shown, sizeof shown), strerror(error));
}

bool sgc_views_export(const struct sgc_view *v, const struct sgc_views_settings *s)
{
    static struct sgc_out_file file;
    FILE *out = sgc_output_open(&file, s->output);
    bool done;
    int error;

    if (out == NULL)
        fail(s->output, errno);
    if (s->format == SGC_VIEWS_HEAPSNAPSHOT && !sgc_export_ids_last(&v->g->geometry))
        fprintf(stderr, "%s: the heap is above 32 GB, so objects have other numbers in each file, and DevTools cannot compare "
                "two: use sgc-snapshot compare\n", sgc_tool_name);
    if (s->format == SGC_VIEWS_HEAPSNAPSHOT)
        done = sgc_export_heapsnapshot(out, v, s->smallest != UINT64_MAX ? s->smallest : 0);
    else
        done = write_merged(out, v, s);
    error = sgc_output_end(&file, out, done);
    if (done && error != 0)
        fail(s->output, error);
    return done;
}

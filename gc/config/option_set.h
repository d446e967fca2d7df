/* SPDX-License-Identifier: MIT */
/*
 * The collector's table of options, and finding one by its name, reading the environment, setting,
 * clamping and listing them.  gc/config/options.h has the values, and says which thread may write
 * them, and when; options/option_table.h has the types, and what is the same for any library.
 */
#ifndef SGC_GC_CONFIG_OPTION_SET_H
#define SGC_GC_CONFIG_OPTION_SET_H

#include "gc/config/options.h"
#include "options/option_table.h"

/* One identifier an option: SGC_OPT_GC_MARKERS, SGC_OPT_SGC_DECAY_MS, ... in the table's order. */
enum sgc_option_id {
#define SGC_OPTION(type, name, field, initial, min, max, special, words, help) SGC_OPT_##name,
#include "gc/config/option_table.def"
    SGC_OPTIONS
};

extern const struct sgc_option_row sgc_option_table[SGC_OPTIONS];
extern const struct sgc_unsupported_row sgc_unsupported_table[];
extern const int sgc_unsupported_count;

/* Reads the environment, once; later calls do nothing.  A process that gained privileges when it
 * was executed ignores its environment.  A value that another option does not allow is clamped, in
 * most cases with a message.  Calls no malloc, stdio or locale. */
void sgc_options_read(void);

/* The index of the option whose name is the first `length` characters of `name`; -1: none. */
int sgc_option_find(const char *name, size_t length);

/* Sets an option for the program.  False, with a message, if there is no such option or the value
 * is not accepted; the value is then as before.  Called before sgc_options_read, the environment
 * has the last word; called after it, the program has. */
bool sgc_option_set(const char *name, const char *value);

/* Replaces a value that turned out to be more (or less) than can be had.  `why` ends the message
 * "GC_MARKERS=8: 1 is used: <why>"; NULL: no message. */
void sgc_option_clamp(enum sgc_option_id id, int64_t value, const char *why);

enum sgc_origin sgc_option_origin(enum sgc_option_id id);

/* ---- settings that several options make together (gc/config/preset.c): at the start, on the
 * initialising thread, when all options have been read ---- */

/* SGC_PRESET, a combination of the switches of parallel marking that [Endo] ch. 3 compares: gives
 * each switch that nobody set the preset's value, and names switches that contradict the preset or
 * each other. */
void sgc_preset_apply(void);

/* The heap's page rule, from SGC_PAGE_POLICY and SGC_LPS_K.  Says so if the two contradict each
 * other. */
struct sgc_page_rule sgc_page_rule_from_options(void);

/* ---- all ---- */

/* The listing of SGC_PRINT_OPTIONS.  For the end of the start, when everything is clamped. */
void sgc_options_print(void);

/* sgc_options_read with the environment given; secure: ignore it.  For tests. */
void sgc_options_read_from(char *const *environment, bool secure);

/* Puts every option back to its default, as before sgc_options_read.  For tests. */
void sgc_options_reset(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Names for the objects and the root words of a heap snapshot, from the symbols of the modules that
 * were loaded (snapshot/symbols.h).
 *
 * An object is called by the first of these that there is:
 *
 *   1. its class: the symbol at which its first word points is a table of virtual functions, a
 *      class of Objective-C, or, if its kind says that first words describe types, any symbol
 *   2. its kind's name, SGC_name_kind
 *   3. where it was allocated, if that is known: the innermost function that is not one of the
 *      collector's or of a library's that allocates for others, and its size, as "make_node, 48
 *      bytes"; "program+0x11a3, 48 bytes" without symbols
 *   4. where its first word points, as "program+0x4fd0", if that of another object does, too: into
 *      data of a module of which it cannot be known what is there, since symbols are missing
 *
 * Other symbols prove nothing: a first field may point at a string.  A root word is called by the
 * variable that it is a part of, or by the module; one of a thread by its thread-local variable and
 * the thread, or by the thread.
 *
 * Objects of one name have one number, and so have root words.  Classes of one name, functions, and
 * variables, have their places behind it: "node at libshapes.so+0x40".  Names may have any bytes,
 * and none is empty.  By one thread.  16 bytes a type, 24 an allocation site, 4 a root word, and
 * the symbols of the modules that are pointed at.
 */
#ifndef SGC_SNAPSHOT_NAMES_H
#define SGC_SNAPSHOT_NAMES_H

#include "snapshot/graph.h"

#define SGC_NAMER_NONE UINT32_MAX       /* there is no name */

enum { SGC_NAMER_TEXT = 4096 };         /* bytes of a name, with its end; longer ones are cut */

struct sgc_namer;

/* Of a graph, which stays; without `type_of` nothing is known of classes.  NULL if there is no
 * memory. */
struct sgc_namer *sgc_namer_open(const struct sgc_graph *g);
void sgc_namer_close(struct sgc_namer *namer);

/* The number of an object's name, or SGC_NAMER_NONE; how many numbers there are.  The namer is
 * taken as void *, as callbacks have it. */
uint32_t sgc_namer_groups(const struct sgc_namer *namer);
uint32_t sgc_namer_group_of(void *namer, uint32_t object);
const char *sgc_namer_group_name(void *namer, uint32_t group);

/* Of a root word, by its place in the graph's roots. */
uint32_t sgc_namer_roots(const struct sgc_namer *namer);
uint32_t sgc_namer_root_of(void *namer, uint64_t root);
const char *sgc_namer_root_name(void *namer, uint32_t root);

/* "variable+0x10", or the root's name, of which it is a word. */
const char *sgc_namer_root_word(struct sgc_namer *namer, uint64_t root, char text[SGC_NAMER_TEXT]);

/* "variable+0x10", "program+0x4fd0", or, outside of modules, "0x..." */
const char *sgc_namer_address(struct sgc_namer *namer, uint64_t address, char text[SGC_NAMER_TEXT]);

/* The i-th call, from 0, on the stack that allocated an object, the innermost first, without those
 * of the collector: "make_node, program+0x11a3", by the address of the call's last byte.  False:
 * there are no more, or the program took no sample of it. */
bool sgc_namer_call(struct sgc_namer *namer, uint32_t object, uint32_t i, char text[SGC_NAMER_TEXT]);

/* Why there are no symbols, or too few, of a module that something points at: "no names from PATH:
 * ...", the i-th from 0; NULL: there are no more.  The second prints all to stderr, a line each. */
const char *sgc_namer_problem(const struct sgc_namer *namer, uint32_t i);
void sgc_namer_print_problems(const struct sgc_namer *namer);

/* ---- snapshot/class_names.c ---- */

/* A symbol as the program's text has it, where C++ can be demangled, or as it is; without its
 * version. */
void sgc_symbol_text(const char *symbol, char text[SGC_NAMER_TEXT]);

/* The class whose objects point at a symbol; false: it is that of no class. */
bool sgc_class_of_symbol(const char *symbol, char text[SGC_NAMER_TEXT]);

#endif

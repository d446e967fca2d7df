/* SPDX-License-Identifier: MIT */
/* What storm_dlopen and the modules it loads agree on. */
#ifndef TESTS_STRESS_STORM_MODULE_H
#define TESTS_STRESS_STORM_MODULE_H

#include <stddef.h>

#define MODULE_CELLS 1024           /* of zeroed and of initialised static data */
#define MODULE_THREAD_CELLS 8

/* Places in the module's writable data: zeroed, initialised, and thread-local. */
struct storm_module {
    void **(*zeroed)(size_t i);
    void **(*initialised)(size_t i);
    void **(*thread)(size_t i);
};

/* Each module exports one of these as "storm_module". */
extern const struct storm_module storm_module;

/* Exported by the program: called by a module's constructor with a cell of the module. */
void storm_module_loaded(void **cell);

#endif

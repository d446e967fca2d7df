/* SPDX-License-Identifier: MIT */
/*
 * Loading the modules that are built from tests/module.c.
 */
#ifndef TESTS_MODULE_H
#define TESTS_MODULE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/tap.h"

/* Sizes of their thread-local blocks; the large one fits into no reserve of static blocks. */
#define MODULE_SMALL_TLS 24576
#define MODULE_LARGE_TLS 262144

/* Loads tests/NAME from where the build put it. */
__attribute__((unused)) static void *module_load(const char *name)
{
    const char *build = getenv("SGC_BUILDDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/.libs/%s.so", build ? build : ".", name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        tap_bail("%s; run this test through make check, or set SGC_BUILDDIR to the build folder", dlerror());
    return module;
}

__attribute__((unused)) static void *module_symbol(void *module, const char *name)
{
    void *symbol = dlsym(module, name);
    if (!symbol)
        tap_bail("%s", dlerror());
    return symbol;
}

#endif

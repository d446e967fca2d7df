/* SPDX-License-Identifier: MIT */
/*
 * Loading the modules that are built from tests/lib/module.c.
 */
#ifndef TESTS_LIB_MODULE_H
#define TESTS_LIB_MODULE_H

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/tap.h"

/* Sizes of their thread-local blocks; the large one fits into no reserve of static blocks. */
#define MODULE_SMALL_TLS 24576
#define MODULE_LARGE_TLS 262144

/* Loads a module from where the build puts it: tests/lib/.libs. */
TEST_UNUSED static void *module_load(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    path[length > 0 ? length : 0] = '\0';
    char *end = NULL;
    for (char *next = path; (next = strstr(next, "/tests/")) != NULL; next++)
        end = next;
    if (!end)
        tap_bail("/proc/self/exe names no program below tests/, but \"%s\"", path);
    snprintf(end, 64, "/tests/lib/.libs/%s.so", name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        tap_bail("%s; the build puts the modules there", dlerror());
    return module;
}

TEST_UNUSED static void *module_symbol(void *module, const char *name)
{
    void *symbol = dlsym(module, name);
    if (!symbol)
        tap_bail("%s", dlerror());
    return symbol;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Names by symbols, and which symbols are those of classes: snapshot/names.h. */
#include "snapshot/names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_t)(const char *name, char *buffer, size_t *bytes, int *status);

/* The one of the run time library of C++, which is installed where programs of C++ run. */
static demangle_t find_demangler(void)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    void *library = NULL, *function;
    demangle_t demangle = NULL;

    for (size_t i = 0; library == NULL && i < sizeof libraries / sizeof *libraries; i++)
        library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
    function = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &function, sizeof demangle);
    return demangle;
}

void sgc_symbol_text(const char *symbol, char text[SGC_NAMER_TEXT])
{
    static demangle_t demangle;
    static bool searched;
    char *shown = NULL, *version;
    int status;

    sgc_assert(symbol[0] != '\0');
    snprintf(text, SGC_NAMER_TEXT, "%s", symbol);
    version = strchr(text, '@');
    if (version != NULL && version != text)
        *version = '\0';
    if (!searched)
        demangle = find_demangler();
    searched = true;
    if (demangle != NULL && strncmp(symbol, "_Z", 2) == 0)
        shown = demangle(text, NULL, NULL, &status);
    if (shown != NULL)
        snprintf(text, SGC_NAMER_TEXT, "%s", shown);
    free(shown);
}

/* The demangled symbol begins with `shown`, and the class follows. */
static const struct prefix {
    const char *symbol, *shown;
} cplusplus[] = { { "_ZTV", "vtable for " }, { "_ZTC", "construction vtable for " } },
  objc[] = { { "_OBJC_Class_", "" }, { "_OBJC_CLASS_", "" }, { "._OBJC_CLASS_", "" }, { "OBJC_CLASS_$_", "" },
             { "_OBJC_MetaClass_", "class " }, { "_OBJC_METACLASS_", "class " }, { "._OBJC_METACLASS_", "class " } };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool sgc_class_of_symbol(const char *symbol, char text[SGC_NAMER_TEXT])
{
    sgc_assert(symbol != NULL);
    for (size_t i = 0; i < sizeof objc / sizeof *objc; i++)
        if (begins(symbol, objc[i].symbol)) {
            snprintf(text, SGC_NAMER_TEXT, "%s%s", objc[i].shown, symbol + strlen(objc[i].symbol));
            return symbol[strlen(objc[i].symbol)] != '\0';
        }
    for (size_t i = 0; i < sizeof cplusplus / sizeof *cplusplus; i++)
        if (begins(symbol, cplusplus[i].symbol)) {
            sgc_symbol_text(symbol, text);
            if (begins(text, cplusplus[i].shown))
                memmove(text, text + strlen(cplusplus[i].shown), strlen(text + strlen(cplusplus[i].shown)) + 1);
            return text[0] != '\0';
        }
    return false;
}

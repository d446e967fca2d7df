/* SPDX-License-Identifier: MIT */
/*
 * Symbols by libdw: snapshot/symbols.h.  It knows where debug files are, of a program that was
 * stripped, too: on this machine, since servers of them may take long, or never answer.  A file of
 * another build has other addresses, so its build id is compared with the one that was noted when
 * the snapshot was written.
 */
#include "snapshot/symbols.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GO_ON "put the file that was loaded there, or write another snapshot"

static bool fail(char problem[SGC_SYMBOLS_PROBLEM], const char *why, const char *detail)
{
    sgc_assert(why[0] != '\0');
    snprintf(problem, SGC_SYMBOLS_PROBLEM, "%s%s%s%s; " GO_ON, why, detail[0] != '\0' ? " (" : "", detail,
             detail[0] != '\0' ? ")" : "");
    return false;
}

/* ---- the file ---- */

/* Those of its program headers that are loaded are those that were. */
static bool has_same_segments(Elf *elf, const struct sgc_graph_module *module)
{
    uint32_t i = 0;
    size_t count = 0;

    elf_getphdrnum(elf, &count);
    for (size_t header = 0; header < count; header++) {
        GElf_Phdr h;

        if (gelf_getphdr(elf, (int)header, &h) == NULL || h.p_type != PT_LOAD || h.p_memsz == 0)
            continue;
        if (i == module->segments || module->segment[i].bytes != h.p_memsz || module->segment[i].access != (h.p_flags & 7) ||
            module->segment[i].lo - module->lo != h.p_vaddr - module->file_lo)
            return false;
        i++;
    }
    sgc_assert(i <= module->segments);
    return i == module->segments;
}

/* Without build ids the sizes of the segments, which hardly any change of a program leaves as they
 * were, have to do. */
static bool is_same_build(Dwfl_Module *found, Elf *elf, const struct sgc_graph_module *module)
{
    const unsigned char *id = NULL;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(found, &id, &address);

    sgc_assert(module->build_id_bytes <= SGC_GRAPH_BUILD_ID);
    if (bytes < 0)
        bytes = 0;
    if (bytes > SGC_GRAPH_BUILD_ID)
        bytes = SGC_GRAPH_BUILD_ID;
    if ((uint32_t)bytes != module->build_id_bytes)
        return false;
    return bytes == 0 ? has_same_segments(elf, module) : memcmp(id, module->build_id, (size_t)bytes) == 0;
}

/* The addresses of symbols are those in the file. */
static Dwfl_Module *report(Dwfl *dwfl, const char *path, char problem[SGC_SYMBOLS_PROBLEM])
{
    int fd = path[0] != '\0' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    Dwfl_Module *found;

    if (fd < 0) {
        fail(problem, "it cannot be opened", path[0] != '\0' ? strerror(errno) : "its path is not known");
        return NULL;
    }
    dwfl_report_begin(dwfl);
    found = dwfl_report_elf(dwfl, path, path, fd, 0, true);
    dwfl_report_end(dwfl, NULL, NULL);
    if (found != NULL)
        return found;
    fail(problem, "it cannot be read", dwfl_errmsg(-1));
    close(fd);
    return NULL;
}

/* ---- the symbols ---- */

/* Of some that begin at one address the largest one comes first. */
static int compare(const void *a, const void *b)
{
    const struct sgc_symbol *x = a, *y = b;

    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : strcmp(x->name, y->name);
}

static bool is_wanted(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);

    return symbol->st_shndx != SHN_UNDEF && symbol->st_size != 0 &&
           (type == STT_TLS || type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

static void take_symbols(struct sgc_symbols *symbols, Dwfl_Module *found, int count, const struct sgc_graph_module *module)
{
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(found, i, &symbol, &address, NULL, NULL, NULL);

        if (name == NULL || name[0] == '\0' || !is_wanted(&symbol))
            continue;
        if (GELF_ST_TYPE(symbol.st_info) == STT_TLS)
            symbols->local[symbols->locals++] = (struct sgc_symbol){ symbol.st_value, symbol.st_size, name };
        if (GELF_ST_TYPE(symbol.st_info) == STT_TLS || address - module->file_lo >= module->bytes)
            continue;
        symbols->complete |= GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
        symbols->of[symbols->count++] = (struct sgc_symbol){ address - module->file_lo, symbol.st_size, name };
    }
    sgc_assert(symbols->count + symbols->locals == 0 || symbols->count + symbols->locals < (size_t)count);
    qsort(symbols->of, symbols->count, sizeof *symbols->of, compare);
    qsort(symbols->local, symbols->locals, sizeof *symbols->local, compare);
}

static bool read_symbols(struct sgc_symbols *symbols, Dwfl_Module *found, const struct sgc_graph_module *module,
                         char problem[SGC_SYMBOLS_PROBLEM])
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(found, &bias);
    int count;

    if (elf == NULL)
        return fail(problem, "it cannot be read", dwfl_errmsg(-1));
    if (!is_same_build(found, elf, module))
        return fail(problem, "it is of another build than the one that was loaded when the snapshot was written", "");
    count = dwfl_module_getsymtab(found);
    symbols->of = malloc((size_t)(count > 0 ? count : 1) * sizeof *symbols->of);
    symbols->local = malloc((size_t)(count > 0 ? count : 1) * sizeof *symbols->local);
    if (symbols->of == NULL || symbols->local == NULL)
        return fail(problem, "there is no memory for its symbols", "");
    take_symbols(symbols, found, count, module);
    return true;
}

bool sgc_symbols_read(struct sgc_symbols *symbols, const struct sgc_graph_module *module,
                      char problem[SGC_SYMBOLS_PROBLEM])
{
    static char *no_path;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address, .debuginfo_path = &no_path,
    };
    Dwfl_Module *found;

    unsetenv("DEBUGINFOD_URLS");
    *symbols = (struct sgc_symbols){ .source = dwfl_begin(&callbacks) };
    if (symbols->source == NULL)
        return fail(problem, "libdw does not work", dwfl_errmsg(-1));
    found = report(symbols->source, module->path, problem);
    return found != NULL && read_symbols(symbols, found, module, problem);
}

void sgc_symbols_release(struct sgc_symbols *symbols)
{
    free(symbols->of);
    free(symbols->local);
    if (symbols->source != NULL)
        dwfl_end(symbols->source);
    *symbols = (struct sgc_symbols){ .of = NULL };
}

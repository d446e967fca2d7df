# SPDX-License-Identifier: MIT
# Writes manual pages of section 3sgc: awk -v to=FOLDER -v version=VERSION -f headers.awk -f prose.awk -f man.awk HEADER...
#
# A page for each comment that is about functions, variables, types or macros, but for constants that configure, under the name of
# the first, with a link from each other name, and from the macros that stand for functions; and a page for each header, with what all
# of its functions have in common.

# ---- what is read ----

function header(name) {
    file = name
    headers[++header_count] = name
    part = ""
}

function about_header(text) { about[file] = text }

function section(title) { part = title }

function about_section(text) { part_text[file, part] = text }

function directive(line) {
    if (file == "gc/gc.h" && line ~ /^#include "/) {
        gsub(/#include "|"\n/, "", line)
        part_of_gc["gc/" line]
    }
}

# What a program defines to have what is declared here.
function needed(    i, name, all) {
    all = file ~ /redirects/ ? ".B #define GC_THREADS\n" : ""
    for (i = 1; i <= depth; i++)
        if (match(conditions[i], /^#(ifdef |if defined\()[A-Z_]+/) && conditions[i] !~ /&&|\|\||__cplusplus|GC_DEBUG/) {
            name = substr(conditions[i], RSTART, RLENGTH)
            sub(/.*[ (]/, "", name)
            all = all ".B #define " name "\n"
        }
    return all
}

# Has it a page: by a comment of its own, unless it is a function?
function is_named(kind, name, code, text) {
    if (name !~ /^(SGC|GC|scm)_.*[^_]$/ || name ~ /^SGC_INIT_/)
        return 0
    if (kind == "function" || kind == "variable")
        return 1
    return text != "" && (kind == "type" || (kind == "macro" && (file !~ /config_macros/ || code ~ /^#define [A-Z_a-z0-9]+\(/)))
}

function declared(kind, name, code, text, remark) {
    if (kind == "macro")
        expand[name] = expand[name] one_line(code) "\n"
    if (kind == "use" || kind == "inline" || (name in page && is_named(kind, name, code, text)))
        return
    if (text == "" || text_number != last_number) {
        last_number = text == "" ? 0 : text_number
        block_text[++blocks] = text
        block_part[blocks] = part
        block_file[blocks] = file
        block_needs[blocks] = needed()
        functions[blocks] = others[blocks] = remarks[blocks] = codes[blocks] = ""
    }
    if (is_named(kind, name, code, text)) {
        page[name] = blocks
        if (kind == "function" || kind == "variable")
            functions[blocks] = functions[blocks] " " name
        else
            others[blocks] = others[blocks] " " name
    }
    if (remark != "" && (kind == "function" || kind == "variable"))
        remarks[blocks] = remarks[blocks] name "\t" remark "\n"
    if (code !~ /^#define .*\\\n/ || is_named(kind, name, code, text))
        codes[blocks] = codes[blocks] kind "\t" code "\001"
}

# ---- words ----

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\047/, "\\(aq", text)
    gsub(/~/, "\\(ti", text)
    gsub(/\^/, "\\(ha", text)
    return text
}

# Names that have a page are bold, and noted for SEE ALSO if it is another page.
function with_names(text,    done, name) {
    while (match(text, /(SGC|GC|scm)_[A-Za-z_0-9]*/)) {
        name = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1) (name in page ? "\\fB" name "\\fP" : name)
        if (name in page && page[name] != on_page)
            see[titles[page[name]]]
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

function marked(text,    n, parts, i, done) {
    n = split(text, parts, "`")
    for (i = 1; i <= n; i++)
        done = done (i % 2 ? with_names(escaped(parts[i])) : "\\fI" escaped(parts[i]) "\\fP")
    return done
}

function put(line) { print (line ~ /^\./ ? "\\&" : "") line >out }

# Text lines of at most 78 columns, each sentence on its own.
function put_text(text,    n, words, i, line) {
    n = split(marked(text), words, / +/)
    line = words[1]
    for (i = 2; i <= n; i++)
        if (length(line) + length(words[i]) > 77 || words[i - 1] ~ /[.?!]\)?$/) {
            put(line)
            line = words[i]
        } else
            line = line " " words[i]
    put(line)
}

function heading(title) {
    print ".SH " title >out
    begun = 0
}

# Between paragraphs.
function space(macro) {
    if (begun++ || macro != ".PP")
        print macro >out
}

function paragraph(words) { space(".PP"); put_text(words) }

function item(mark, words) { space(".IP " (mark == "-" ? "\\(bu" : mark) " 4"); put_text(words) }

function term(tag, words) { space(".TP"); put("\\fB" escaped(tag) "\\fP"); put_text(words) }

function verbatim(lines,    n, each, i) {
    space(".PP")
    print ".RS 4\n.nf" >out
    n = split(lines, each, "\n")
    for (i = 1; i <= n; i++)
        put(escaped(each[i]))
    print ".fi\n.RE" >out
}

function change(kind) { }

# ---- the synopsis ----

function put_include(needs) {
    heading("SYNOPSIS")
    print ".nf\n" needs ".B #include <" (file == "gc/gc.h" || file in part_of_gc ? "gc.h" : file) ">\n.PP" >out
}

# In lines of at most 78 columns.
function put_prototype(code,    n, parts, i, line) {
    code = one_line(plain_code(code))
    gsub(/\* /, "*", code)
    with_names(code)
    n = split(code, parts, /, /)
    line = parts[1]
    for (i = 2; i <= n; i++)
        if (length(line) + length(parts[i]) > 72) {
            print ".B \"" escaped(line) ",\"" >out
            line = "    " parts[i]
        } else
            line = line ", " parts[i]
    print ".B \"" escaped(line) "\"" >out
}

function put_code(kind, code,    n, lines, i) {
    if (kind == "type") {
        n = split(plain_code(code), lines, "\n")
        for (i = 1; i < n; i++)
            put(escaped(lines[i]))
    } else if (kind == "macro" && match(code, /^#define [A-Z_a-z0-9]+\([^)]*\)/))
        put_prototype(substr(code, 9, RLENGTH - 8))
    else
        put_prototype(code)
}

function put_codes(list,    n, each, i, tab) {
    n = split(list, each, "\001")
    for (i = 1; i < n; i++) {
        tab = index(each[i], "\t")
        put_code(substr(each[i], 1, tab - 1), substr(each[i], tab + 1))
    }
    print ".fi" >out
}

# ---- the other sections ----

function base(path) { sub(/.*\//, "", path); return path }

# The marks of a text, which gc.h explains: those in brackets.
function put_marks(text,    n, names, i, some) {
    while (match(text, /\[[a-z, ]+\]/)) {
        n = split(substr(text, RSTART + 1, RLENGTH - 2), names, /, */)
        text = substr(text, RSTART + RLENGTH)
        for (i = 1; i <= n; i++)
            some[names[i]]
    }
    n = 0
    for (i = 1; i <= mark_count; i++)
        if (marks[i] in some) {
            if (!n++)
                heading("THREADS AND SIGNALS")
            term("[" marks[i] "]", meaning[marks[i]])
        }
}

# Which page has what this one does not repeat.
function put_common(    rules) {
    rules = file ~ /^scm/ ? "stm.h" : "gc.h"
    heading("COMMON")
    paragraph("What all functions of this header have in common is in " base(file) "(3sgc)" \
        (base(file) == rules ? "." : ", and the rules for all of them in " rules "(3sgc).") \
        (rules == "gc.h" ? "  They say which threads may call it, and when." : ""))
}

# The macros that stand for the functions of a page, if they differ with GC_DEBUG.
function put_macros(names,    n, each, i, macro, lines, some) {
    n = split(names, each, " ")
    for (i = 1; i <= n; i++) {
        macro = toupper(each[i])
        if (macro in page || !(macro in expand) || !match(expand[macro], "\\) GC_debug_" substr(each[i], 4) "\\([^\n]*"))
            continue
        if (!some++)
            heading("MACROS")
        paragraph("Programs write " macro ": with GC_DEBUG defined before the header is included it is " \
            substr(expand[macro], RSTART + 2, RLENGTH - 2) ", otherwise " each[i] ".")
    }
}

function put_see_also(first,    names, n, name, i, j) {
    n = 0
    for (name in see) {
        for (j = ++n; j > 1 && names[j - 1] > name; j--)
            names[j] = names[j - 1]
        names[j] = name
    }
    heading("SEE ALSO")
    for (i = 1; i <= n; i++)
        print ".BR " names[i] " (3sgc)," >out
    print (first == "" ? "" : ".BR " first " (3sgc),\n") ".BR sgc (7)" >out
    for (name in see)
        delete see[name]
}

function begin_page(name) {
    out = to "/" name ".3sgc"
    print ".\\\" Made from include/" file " by doc/reference/man.awk." >out
    print ".TH " name " 3sgc \"\" \"SGC " version "\" \"SGC\"" >out
    heading("NAME")
}

function put_page(b,    n, each, i, names, tab) {
    on_page = b
    file = block_file[b]
    names = substr(functions[b] others[b], 2)
    n = split(names, each, " ")
    begin_page(titles[b])
    gsub(/ /, ", ", names)
    print names " \\- " escaped(in_short(block_text[b] "\n\n" remarks[b])) >out
    put_include(block_needs[b])
    put_codes(codes[b])
    print ".PP\nLink with " (file ~ /^scm/ ? "what \\fBpkg\\-config \\-\\-libs scm\\fP prints" : \
        file ~ /cpp/ ? "\\-lgccpp \\-lsgc" : "\\-lsgc") "." >out
    heading("DESCRIPTION")
    prose(block_text[b])
    put_remarks(remarks[b])
    if ((file, block_part[b]) in part_text) {
        heading(toupper(block_part[b]))
        prose(part_text[file, block_part[b]])
    }
    put_macros(functions[b])
    put_marks(block_text[b] remarks[b])
    put_common()
    put_see_also(base(file))
    close(out)
    for (i = 1; i <= n; i++) {
        put_link(each[i], titles[b])
        if (toupper(each[i]) in expand && !(toupper(each[i]) in page))
            put_link(toupper(each[i]), titles[b])
    }
}

function put_remarks(list,    n, each, i, tab) {
    n = split(list, each, "\n")
    for (i = 1; i < n; i++) {
        tab = index(each[i], "\t")
        term(substr(each[i], 1, tab - 1), substr(each[i], tab + 1))
    }
}

function put_link(name, title) {
    if (name == title)
        return
    print ".so man3/" title ".3sgc" >(to "/" name ".3sgc")
    close(to "/" name ".3sgc")
}

# One that was cut has three already.
function full_stop(text) { return text (text ~ /\.$/ ? "" : ".") }

function put_header_page(    b, last) {
    on_page = 0
    begin_page(base(file))
    print base(file) " \\- " escaped(in_short(about[file])) >out
    put_include("")
    print ".fi" >out
    heading("DESCRIPTION")
    prose(about[file])
    heading("FUNCTIONS")
    for (b = 1; b <= blocks; b++) {
        if (block_file[b] != file || !(b in titles))
            continue
        if (block_part[b] != last) {
            last = block_part[b]
            print ".SS \"" last "\"" >out
        }
        begun = 1
        term(titles[b] "(3sgc)", full_stop(in_short(block_text[b] "\n\n" remarks[b])))
    }
    put_see_also()
    close(out)
}

# What gc.h says of the marks.
function read_marks(    n, lines, i, mark) {
    n = split(about["gc/gc.h"], lines, "\n")
    for (i = 1; i <= n; i++)
        if (match(lines[i], /^  \[[a-z ]+\] +/)) {
            mark = substr(lines[i], 4, index(lines[i], "]") - 4)
            marks[++mark_count] = mark
            meaning[mark] = substr(lines[i], RLENGTH + 1)
        }
}

# A macro that stands for a function has that one's page, unless its own comment names it.
function without_aliases(b, names,    n, each, i, kept) {
    kept = ""
    n = split(names, each, " ")
    for (i = 1; i <= n; i++)
        if (each[i] !~ /^GC_[A-Z_]+$/ || !(("GC_" tolower(substr(each[i], 4))) in page) || index(block_text[b], each[i]))
            kept = kept " " each[i]
        else
            delete page[each[i]]
    return kept
}

function finished(    b, h, each) {
    read_marks()
    for (b = 1; b <= blocks; b++) {
        others[b] = without_aliases(b, others[b])
        if (split(functions[b] others[b], each, " "))
            titles[b] = each[1]
    }
    for (b = 1; b <= blocks; b++)
        if (b in titles)
            put_page(b)
    for (h = 1; h <= header_count; h++) {
        file = headers[h]
        for (b = 1; b <= blocks && (block_file[b] != file || !(b in titles)); b++)
            continue
        if (b <= blocks)
            put_header_page()
    }
}

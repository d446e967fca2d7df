# SPDX-License-Identifier: MIT
# awk -f make_lists.awk LIST names=1 NAMES: what tests/make_lists does, with the names of files that may go into the
# distribution.

# note NAMES: they become the keys of where.
function note(names, where,    i, n, part) {
    n = split(names, part, " ")
    for (i = 1; i <= n; i++)
        where[part[i]]
}

function complain(text) {
    print FILENAME ":" FNR ": " path " " text | "cat >&2"
    failed = 1
}

function exists(file,    line, result) {
    result = (getline line < file) >= 0
    close(file)
    return result
}

# ---- lists -----------------------------------------------------------------------------------------

# add LIST: the row's test goes into it, under the row's condition.
function add(list) {
    members[list, condition, slow] = members[list, condition, slow] " \\\n\t" path
}

function show(list, sign,    i, inside) {
    print "\n" list " " sign members[list, "", 1] members[list, "", 0]
    for (i = 1; i <= conditions; i++) {
        inside = members[list, conditional[i], 1] members[list, conditional[i], 0]
        if (inside != "")
            print "if " conditional[i] "\n" list " +=" inside "\nendif"
    }
}

# rule FLAG VARIABLE BEGIN: an assignment to that variable if the row has the flag, with BEGIN before the flag's values.
function rule(flag, variable, begin,    value) {
    if (!(flag in has))
        return
    value = has[flag]
    gsub(/,/, flag == "wrap" ? ",--wrap=" : " ", value)
    text = text variable " = " begin value "\n"
}

# The rules of a program, which automake knows by its path with _ for other characters.
function add_rules(    name) {
    name = path
    gsub(/[^A-Za-z0-9_]/, "_", name)
    text = ""
    if (has_value("link", "none"))
        text = name "_LDADD =\n"
    else
        rule("link", name "_LDADD", "tests/lib/libtest.la ")
    rule("needs", "EXTRA_" name "_DEPENDENCIES", "")
    rule("sources", name "_SOURCES", path ".c ")
    rule("cppflags", name "_CPPFLAGS", "")
    rule("cflags", name "_CFLAGS", "")
    rule("wrap", name "_LDFLAGS", "$(AM_LDFLAGS) -Wl,--wrap=")
    rules = rules (text == "" || condition == "" ? text : "if " condition "\n" text "endif\n")
}

function has_value(flag, value) { return flag in has && has[flag] == value }

function add_by_flags(    i) {
    for (i = 1; i < lists; i += 2)
        if (list_of[i] in has)
            add(list_of[i + 1])
}

# The row's test once more, without what marks: a test of its own.
function add_plain(    file, name) {
    file = path
    path = path "_plain"
    name = path
    gsub(/[^A-Za-z0-9_]/, "_", name)
    if ("link" in has || "cppflags" in has)
        complain("cannot have link= or cppflags=, which are given for what is built without marking")
    add("check_PROGRAMS")
    add("TESTS")
    add("plain_tests")
    add_by_flags()
    text = name "_SOURCES = " file ".c\n" name "_LDADD = tests/lib/libtest.la libsgcheap.la\n" \
        name "_CPPFLAGS = $(plain_cppflags)\n" name "_CFLAGS = $(plain_test_cflags)\n"
    if (!("wrap" in has))
        text = text name "_LDFLAGS = $(plain_test_ldflags)\n"
    rule("wrap", name "_LDFLAGS", "$(plain_test_ldflags) -Wl,--wrap=")
    rules = rules text
    path = file
}

function add_program(    elsewhere) {
    row_sources[path ".c"]
    elsewhere = "long" in has || "subject" in has || "machine" in has
    add("long" in has ? "long_test_programs" : "check_PROGRAMS")
    if ("machine" in has)
        add("numa_tests")
    if (!elsewhere) {
        add("TESTS")
        add("storm" in has ? "storms" : "unit_tests")
    }
    add_rules()
    add_by_flags()
    if ("plain" in has)
        add_plain()
}

function add_script() {
    distributed = distributed " \\\n\t" path
    if ("long" in has)
        add("long_test_scripts")
    else if (!("apart" in has))
        add("TESTS")
    add_by_flags()
}

# ---- rows ------------------------------------------------------------------------------------------

# read_flag WORD: word or name=value.
function read_flag(word,    at, name, known) {
    at = index(word, "=")
    name = at ? substr(word, 1, at - 1) : word
    known = at ? name in values : name in words
    if (!known)
        complain("has \"" word "\", which is no flag; the flags are at the head of tests/list.txt")
    else if (at && at == length(word))
        complain("has \"" word "\" without a value")
    else if (is_program && name in of_scripts || !is_program && name in of_programs)
        complain("has \"" word "\", which is not for " (is_program ? "programs" : "scripts"))
    if (name in has)
        complain("has \"" name "\" twice")
    if (name in ways)
        way = way (way == "" ? "" : " and ") name
    has[name] = substr(word, at + 1)
}

function check_sources(    i, n, file) {
    n = split(has["sources"], file, ",")
    for (i = 1; i <= n; i++)
        if (!exists(file[i]))
            complain("has the source " file[i] ", which is not there")
}

function choose_condition() {
    condition = "if" in has ? has["if"] : ""
    if (condition == "" || condition in known_conditions)
        return
    known_conditions[condition]
    conditional[++conditions] = condition
}

function read_row(    i) {
    path = $1
    if (path in line_of)
        complain("has two rows; the first is in line " line_of[path])
    line_of[path] = FNR
    is_program = exists(path ".c")
    if (!is_program && !exists(path))
        complain("is not there: neither " path ".c nor a script of this name")
    split("", has)
    way = ""
    for (i = 2; i <= NF; i++)
        read_flag($i)
    if (way ~ / /)
        complain("cannot be " way)
    if ("sources" in has)
        check_sources()
    slow = ("slow" in has) + 0
    choose_condition()
}

BEGIN {
    note("slow long also-long threads variant assertions aarch64 storm model program study machine also-machine subject apart plain", words)
    note("if link needs sources wrap cflags cppflags", values)
    note("threads assertions aarch64 storm machine also-machine subject link needs sources wrap cflags cppflags plain", of_programs)
    note("model program study apart", of_scripts)
    note("long also-long storm machine subject apart", ways)
    lists = split("threads thread_tests variant variant_tests assertions assertion_tests aarch64 aarch64_tests " \
        "model model_scripts program program_scripts study study_scripts also-machine numa_others also-long also_long_tests", list_of, " ")
    more = split("unit_tests plain_tests storms numa_tests long_test_programs long_test_scripts", more_lists, " ")
}

names {
    if (!($0 in row_sources))
        distributed = distributed " \\\n\t" $0
    next
}

/^#/ || NF == 0 { next }

{
    read_row()
    if (is_program)
        add_program()
    else
        add_script()
}

END {
    if (failed) {
        close("cat >&2")
        exit 1
    }
    print "# SPDX-License-Identifier: MIT"
    print "# Made from tests/list.txt by tests/make_lists: change that list, not this one."
    show("TESTS", "+=")
    show("check_PROGRAMS", "+=")
    for (i = 1; i <= more; i++)
        show(more_lists[i], "=")
    for (i = 2; i <= lists; i += 2)
        show(list_of[i], "=")
    print "\nEXTRA_DIST +=" distributed
    printf "\n%s", rules
}

# SPDX-License-Identifier: MIT
# Reads public headers, as they are written here.  A comment is that of all declarations below it, up to the next comment or the
# blank line; one with a blank line below it is about its section; the first of a file is about the file.
#
# Calls functions of the program that is read after this one, in the order of the text:
#   header(name)                file, as programs include it
#   about_header(text)          its first comment
#   section(title)
#   about_section(text)
#   declared(kind, name, code, text, remark)
#                               kind is function, variable, macro, type, inline or use (of a macro); `text` is its comment, of
#                               lines, and `remark` one on its own line
#   directive(line)             of the preprocessor, but no #define; or the beginning or end of a namespace
#   finished()
#
# conditions[1 .. depth] are the #if around the text, "" for their #else; text_number tells one comment from another.

# Without a word that is none of ours, but for where it is a part of another.
function without_word(code, word,    done, at, rest) {
    done = ""
    while ((at = index(code, word))) {
        rest = substr(code, at + length(word))
        done = done substr(code, 1, at - 1)
        if (done ~ /[A-Za-z_0-9]$/ || rest ~ /^[A-Za-z_0-9]/)
            done = done word
        code = rest
    }
    return done code
}

# Without what only the compiler is told.  Macros that stand for a type, or words of one, are replaced if they are known.
function plain_code(code,    done, name) {
    code = without_word(without_word(without_word(code, "GC_API"), "GC_CALLBACK"), "GC_CALL")
    gsub(/GC_[A-Z_]+_ATTRIBUTE/, "", code)
    gsub(/GC_ATTR_[A-Z_]+(\([0-9, ]*\))?/, "", code)
    gsub(/\( \*/, "(*", code)
    gsub(/GC_SUSPEND_THREAD_ID/, "pthread_t", code)
    done = ""
    while (match(code, /GC_[A-Z_]*(_|_CONST|_PARAMS|_T)[^A-Za-z_]/)) {
        name = substr(code, RSTART, RLENGTH - 1)
        done = done substr(code, 1, RSTART - 1) (name in stands_for ? stands_for[name] : name)
        code = substr(code, RSTART + RLENGTH - 1)
    }
    return done code
}

function one_line(code) {
    gsub(/[ \n]+/, " ", code)
    gsub(/\( /, "(", code)
    gsub(/ \)/, ")", code)
    gsub(/ ;/, ";", code)
    sub(/^ /, "", code)
    sub(/ $/, "", code)
    return code
}

# The comments of a text go to `taken`; `open` says whether the last of them goes on.
function without_comments(text,    start, end, rest) {
    rest = ""
    taken = ""
    open = 0
    while ((start = index(text, "/*"))) {
        rest = rest substr(text, 1, start - 1)
        text = substr(text, start + 2)
        end = index(text, "*/")
        if (!end) {
            open = 1
            return rest
        }
        taken = taken (taken == "" ? "" : " ") one_line(substr(text, 1, end - 1))
        text = substr(text, end + 2)
    }
    return rest text
}

function count(text, what) { return gsub(what, what, text) }

function name_of(kind, code) {
    if (kind == "inline")
        sub(/\{.*/, "{", code)
    if (kind == "function" || kind == "inline")
        match(code, /[A-Za-z_][A-Za-z_0-9]*\(/)
    else if (!match(code, /\*[A-Za-z_][A-Za-z_0-9]*\)/) && !match(code, /^(struct|union|enum|class) [A-Za-z_][A-Za-z_0-9]* /))
        match(code, / \**[A-Za-z_][A-Za-z_0-9]*;/)
    code = substr(code, RSTART, RLENGTH)
    sub(/^(struct|union|enum|class) /, "", code)
    gsub(/[^A-Za-z_0-9]/, "", code)
    return code
}

function kind_of(code) {
    if (code ~ /^typedef / || code ~ /^(struct|union|enum|class)( [A-Za-z_0-9]+)*( : [^;]*)? ?[{;]/)
        return "type"
    if (code ~ /^(inline|template|__extension__) /)
        return "inline"
    if (match(code, /[A-Za-z_][A-Za-z_0-9]*\(/))
        return RSTART > 1 ? "function" : "use"
    return code ~ /^[A-Za-z_].*;$/ ? "variable" : "use"
}

function end_code(    bare, kind, line) {
    bare = without_comments(code)
    line = one_line(plain_code(bare))
    kind = kind_of(line)
    if (kind == "function" || kind == "variable")
        declared(kind, name_of(kind, line), bare, text, taken)
    else
        declared(kind, kind == "use" ? "" : name_of(kind, line), code, text, "")
    used = 1
    code = ""
}

function code_ended(    bare) {
    bare = without_comments(code)
    return !open && count(bare, "{") == count(bare, "}") && bare ~ /[;}][ \n]*$/
}

function end_comment(whole) {
    if (whole ~ /^SPDX-License-Identifier/)
        return
    if (whole ~ /^-----* .* -----*$/) {
        gsub(/^-+ | -+$/, "", whole)
        section(whole)
    } else if (!met++)
        about_header(whole)
    else {
        end_block()
        text = whole
        text_number++
        used = 0
    }
}

function end_block() {
    if (text != "" && !used)
        about_section(text)
    text = ""
}

function end_directive(    line, name, remark) {
    line = macro
    macro = ""
    if (line ~ /^#(if|ifdef|ifndef) /)
        conditions[++depth] = line
    else if (line ~ /^#(else|elif)/)
        conditions[depth] = ""
    else if (line ~ /^#endif/)
        depth--
    if (code != "")
        return
    if (line !~ /^#define /) {
        directive(line)
        return
    }
    line = without_comments(line)
    remark = taken
    match(line, /^#define [A-Za-z_][A-Za-z_0-9]*/)
    if (substr(line, RLENGTH + 1, 1) == " ")
        stands_for[substr(line, 9, RLENGTH - 8)] = one_line(substr(line, RLENGTH + 2))
    declared("macro", substr(line, 9, RLENGTH - 8), line, text, remark)
    used = 1
}

function end_file() {
    if (code != "")
        end_code()
    end_block()
    depth = met = open_braces = 0
}

FNR == 1 {
    end_file()
    name = FILENAME
    sub(/^(.*\/)?include\//, "", name)
    header(name)
}

commenting || (code == "" && macro == "" && /^\/\*/) {
    line = $0
    commenting = !sub(/ *\*\/ *$/, "", line)
    if (!sub(/^(\/\*| \*) /, "", line))
        sub(/^(\/\*| \*)/, "", line)
    comment = (comment == "" ? "" : comment "\n") line
    if (!commenting) {
        sub(/^\n/, "", comment)
        end_comment(comment)
        comment = ""
    }
    next
}

macro != "" || /^#/ {
    macro = macro $0 "\n"
    if ($0 !~ /\\$/)
        end_directive()
    next
}

/^[ \t]*$/ {
    if (code != "" && count(without_comments(code), "{") == count(without_comments(code), "}"))
        end_code()
    if (code == "")
        end_block()
    else
        code = code "\n"
    next
}

code == "" && /^(extern "C"|namespace [A-Za-z_]+) \{$/ {
    named[++open_braces] = /^namespace/
    if (named[open_braces])
        directive($0)
    next
}

code == "" && /^\}$/ {
    if (named[open_braces--])
        directive($0)
    next
}

{
    code = code $0 "\n"
    if (code_ended())
        end_code()
}

END {
    end_file()
    finished()
}

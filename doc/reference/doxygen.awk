# SPDX-License-Identifier: MIT
# Writes headers for doxygen: awk -v to=FOLDER -f headers.awk -f prose.awk -f doxygen.awk HEADER...
#
# They have each comment at each declaration that it is about, as commands of doxygen, and nothing that is for compilers alone.

function header(name) {
    file = name
    headers[++header_count] = name
}

function note(what, text) { events[++count_events] = what; event_file[count_events] = file; event_text[count_events] = text }

function about_header(text) { note("file", text) }
function section(title) { note("section", title) }
function about_section(text) { note("text", text) }

function directive(line) {
    if (line !~ /^#/ && conditions[depth] !~ /NAMESPACE/)
        note("namespace", line)
}

function declared(kind, name, code, text, remark) {
    if (kind == "use" || name ~ /_$/ || code ~ /^#define [A-Z_]+_H\n$/)
        return
    if ((file, kind, name, code) in known || (kind == "macro" && (file, name) in known))
        return
    known[file, kind, name, code]
    known[file, name]
    linked[name]
    note(kind, text)
    event_name[count_events] = name
    event_code[count_events] = code
    event_remark[count_events] = remark
}

# ---- words ----

function escaped(text) {
    gsub(/[\\@&$#<>%"]/, "\\\\&", text)
    gsub(/::/, "\\::", text)
    gsub(/--/, "\\--", text)
    return text
}

function with_names(text,    done, name) {
    done = ""
    while (match(text, /(SGC|GC|scm)_[A-Za-z_0-9]*/)) {
        name = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1) (name in linked ? "\\ref " name " \"" name "\"" : name)
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

function marked(text,    n, parts, i, done) {
    n = split(text, parts, "`")
    done = ""
    for (i = 1; i <= n; i++)
        done = done (i % 2 ? with_names(escaped(parts[i])) : "<code>" escaped(parts[i]) "</code>")
    return done
}

function put(text) { print text >out }

function paragraph(words) { put("<p>" marked(words) "</p>") }
function item(mark, words) { put("<li>" marked(words) "</li>") }
function term(tag, words) { put("<tr><td><code>" escaped(tag) "</code></td><td>" marked(words) "</td></tr>") }
function verbatim(lines) { put("<pre>" escaped(lines) "</pre>") }

function change(kind) {
    put(closing)
    closing = kind == "item" ? "</ul>" : kind == "term" ? "</table>" : ""
    put(kind == "item" ? "<ul>" : kind == "term" ? "<table>" : "")
}

# ---- code ----

# Comments of members are those of the line that they are on, or of the line below.
function with_members(code,    done, start, end, line) {
    done = ""
    while ((start = index(code, "/*"))) {
        end = index(code, "*/")
        line = done substr(code, 1, start - 1)
        sub(/.*\n/, "", line)
        done = done substr(code, 1, start - 1) (line ~ /[^ \t]/ ? "/**<" : "/**") escaped(substr(code, start + 2, end - start))
        code = substr(code, end + 2)
    }
    return done code
}

function put_comment(text, remark) {
    if (text == "" && remark == "")
        return
    put("/**")
    if (text != "")
        prose(text)
    if (remark != "")
        prose(remark)
    put("*/")
}

function put_section(title, text) {
    end_section()
    put("/** @name " escaped(title))
    if (text != "")
        prose(text)
    put("*/\n/** @{ */")
    open_section = 1
}

function end_section() {
    if (open_section)
        put("/** @} */")
    open_section = 0
}

function put_event(e,    code) {
    if (events[e] == "file") {
        put("/** " (event_file[e] == "gc/gc.h" ? "@mainpage\n" : "@file " event_file[e]))
        prose(event_text[e])
        put("*/" (event_file[e] == "gc/gc.h" ? "\n/** @file gc/gc.h\n@ref index */" : ""))
    } else if (events[e] == "section")
        put_section(event_text[e], events[e + 1] == "text" && event_file[e + 1] == event_file[e] ? event_text[e + 1] : "")
    else if (events[e] == "namespace")
        put(event_text[e])
    else if (events[e] != "text") {
        put_comment(event_text[e], event_remark[e])
        code = event_code[e]
        if (events[e] != "macro")
            code = plain_code(code)
        if (code ~ /\(\*/)
            sub(/^typedef struct /, "typedef ", code)    # else doxygen takes it for the struct
        put(events[e] == "function" || events[e] == "variable" ? one_line(code) : with_members(code))
    }
}

# Headers that only include another one have no page.
function finished(    e) {
    for (e = 1; e <= count_events; e++) {
        if (events[e] == "file") {
            end_section()
            if (event_file[e + 1] != event_file[e])
                continue
            if (out != "")
                close(out)
            out = to "/" event_file[e]
        }
        put_event(e)
    }
    end_section()
}

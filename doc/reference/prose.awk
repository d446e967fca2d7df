# SPDX-License-Identifier: MIT
# What the text of a comment consists of.  Calls functions of the program that is read after this one:
#   paragraph(words)
#   item(mark, words)           of a list; the mark is "-" or a number with its dot
#   term(tag, words)            a line of a table, indented by two or three, and those below it that are indented more
#   verbatim(lines)             indented by four and more
# and between them, so that a list can be opened and closed,
#   change(kind)                paragraph, item, term, verbatim or nothing

function end_piece(kind, mark, words) {
    if (words == "")
        return
    if (kind != last_kind)
        change(kind)
    last_kind = kind
    if (kind == "paragraph") paragraph(words)
    if (kind == "item") item(mark, words)
    if (kind == "term") term(mark, words)
    if (kind == "verbatim") verbatim(words)
}

# What a line begins; "" if it goes on with what there is.
function begins(line, indent, kind, deep) {
    if ((kind == "item" || kind == "term") && indent >= deep)
        return ""
    if (match(line, /^(-|[0-9]+\.) +/))
        return "item"
    if (indent >= 2 && indent < 4 && match(line, /  +/))
        return "term"
    if (indent >= 4)
        return kind == "verbatim" ? "" : "verbatim"
    return kind == "paragraph" ? "" : "paragraph"
}

function prose(text,    n, lines, i, line, indent, next_kind, kind, deep, words, mark) {
    n = split(text, lines, "\n")
    last_kind = ""
    for (i = 1; i <= n; i++) {
        line = lines[i]
        match(line, /^ */)
        indent = RLENGTH
        line = substr(line, indent + 1)
        next_kind = line == "" ? "blank" : begins(line, indent, kind, deep)
        if (next_kind == "") {
            words = words (kind == "verbatim" ? "\n" substr(lines[i], 5) : " " line)
            continue
        }
        end_piece(kind, mark, words)
        kind = next_kind
        words = kind == "blank" ? "" : kind == "verbatim" ? substr(lines[i], 5) : line
        if (kind == "item" || kind == "term") {
            match(line, kind == "item" ? " +" : "  +")
            mark = substr(line, 1, RSTART - 1)
            words = substr(line, RSTART + RLENGTH)
            deep = indent + 2
        }
    }
    end_piece(kind, mark, words)
    change("")
}

# The beginning of a text, for a list of contents.
function in_short(text,    cut) {
    sub(/^Part of gc.h: /, "", text)
    sub(/\n\n.*/, "", text)
    gsub(/[ \n]+/, " ", text)
    gsub(/ *\[[a-z, ]*\]/, "", text)
    gsub(/`/, "", text)
    if (match(text, /[.?](  ?| *$)/))
        text = substr(text, 1, RSTART - 1)
    if (length(text) > 90) {
        text = substr(text, 1, 90)
        sub(/[,:;]? [^ ]*$/, " ...", text)
    }
    sub(/:$/, "", text)
    return text
}

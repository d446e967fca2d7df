# SPDX-License-Identifier: MIT
# The formats of the messages in C sources, one a line: FILE:LINE<tab>FORMAT.  See tests/check/check_docs.
function literal(s,   out, c, i) {
    out = ""
    for (;;) {
        sub(/^[ \t\n]+/, "", s)
        if (substr(s, 1, 1) != "\"") break
        for (i = 2; (c = substr(s, i, 1)) != "\"" && i <= length(s); i++) {
            if (c == "\\") { i++; c = substr(s, i, 1) }
            out = out c
        }
        s = substr(s, i + 1)
    }
    return out
}
function flush_file(   before, format, rest, line) {
    rest = text; line = 1
    while (match(rest, /(sgc_(warn|error|fatal)|SGC_TELL)\(/)) {
        before = substr(rest, 1, RSTART - 1)
        line += gsub(/\n/, "", before)
        rest = substr(rest, RSTART + RLENGTH)
        format = literal(rest)
        if (format != "") printf "%s:%d\t%s\n", name, line, format
    }
}
FNR == 1 { if (name != "") flush_file(); name = FILENAME; text = "" }
{ text = text $0 "\n" }
END { if (name != "") flush_file() }

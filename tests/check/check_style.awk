# SPDX-License-Identifier: MIT
# Reads C files; prints one line a finding:
#   if FILE:LINE          a conditional directive inside a function
#   function FILE:LINE N  a function of N lines, from its first line to its closing brace
#
# A function begins at a line in column 0 that is followed, before any ';' in column 0's statement,
# by a '{' that ends a line of it, and ends at a '}' in column 0, as the code here is laid out.

FNR == 1 { open = 0; start = 0 }

/^[ \t]*#/ {
    if (open && $0 ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/)
        printf "if %s:%d\n", FILENAME, FNR
    next
}

open {
    if ($0 ~ /^}/) {
        printf "function %s:%d %d\n", FILENAME, open, FNR - open + 1
        open = 0
        start = 0
    }
    next
}

/^[A-Za-z_]/ && !start { start = FNR; text = "" }

start {
    text = text $0
    if ($0 ~ /[{][^}]*}[ \t]*$/ && text ~ /\)[ \t]*[{]/ && text !~ /=/) {
        printf "function %s:%d %d\n", FILENAME, start, FNR - start + 1
        start = 0
    } else if ($0 ~ /[{][^}]*$/) {
        # struct, union, enum and initialisers have no ")" before their brace
        if (text ~ /\)[ \t]*[{]/ && text !~ /=/) open = start
        start = 0
    } else if ($0 ~ /[;}][ \t]*(\/\*.*)?$/ || $0 ~ /^[ \t]*$/)
        start = 0
}

# SPDX-License-Identifier: MIT
# The source of the drop-in libgc.so.1, in assembly language, from what libsgc exports (nm -D -S --defined-only).
#
# The drop-in is a filter: the loader looks each of its symbols up in libsgc.  So it has their names, types and sizes, for
# the linker of a program, and nothing behind them: no code, no relocation, no constructor.
#
# In assembly language since neither sanitizers nor coverage add to that.

BEGIN {
    print "\t.section .note.GNU-stack, \"\", %progbits"
}

# define NAME TYPE SECTION CONTENT SIZE
function define(name, type, section, content, size) {
    printf "\t%s\n\t.globl %s\n\t.type %s, %%%s\n%s:\t%s\n\t.size %s, %s\n", section, name, name, type, name, content, name, size
}

$3 ~ /^[TW]$/ {
    define($4, "function", ".text", ".byte 0", "1")
}

# Aligned, so that a program's copy of a variable is.
$3 ~ /^[BDR]$/ {
    print "\t.bss\n\t.balign 64"
    define($4, "object", ".bss", ".skip 0x" $2, "0x" $2)
}

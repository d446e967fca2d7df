# SPDX-License-Identifier: MIT
# From a list of functions and the linker's own script (what ld --verbose says), makes the same script with those functions
# first in .text, with the constants before them and .fini before all.
#
# The kernel maps a file's pages in blocks of 64 KB around the one that was asked for, so a little code in each block costs as
# much memory as all of it.  Constants go with that code, but for long texts, which are messages: else they bring in the tables
# for unwinding that lie beside them.  Constants that are exported must be seen to be data: they are in .rodata.exported.

BEGIN {
    fini = "  .fini : { KEEP (*(SORT_NONE(.fini))) }"
    first = "    *(.rodata .rodata.cst* .rodata.str1.1)\n" \
        "    *_linux.o(.rodata.*)\n    *_sysfs.o(.rodata.*)\n" \
        "    *libgcc.a:*(.text .text.*)\n    *libc_nonshared.a:*(.text .text.*)\n    *crt*.o(.text .text.*)\n" \
        "    *(.text.startup .text.startup.* .text.exit .text.exit.*)\n"
}

FILENAME == ARGV[1] {
    if ($0 !~ /^#/)
        first = first "    *(.text." $1 " .text." $1 ".*)\n"
    next
}

/^=+$/ { inside = !inside; next }
!inside { next }
/^  \.fini +:/ { dropping = 1 }
dropping { dropping = !/}/; next }
/^  \.text +:/ { print fini; opening = 1 }
{ print }
opening && /\{/ { printf "%s", first; opening = 0 }

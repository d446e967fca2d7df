# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the checks of costs in instructions share.  valgrind's callgrind counts those of a whole run;
# the difference of two runs, of which one does more of something, is what that costs.

. "$(dirname "$0")/check.sh"
unset SGC_MODE SGC_VERIFY GC_PAUSE_TIME_TARGET      # the bounds are those of usual settings
command -v valgrind >/dev/null || tap_skip_all "there is no valgrind: apt-get install valgrind"
grep -Eq -- '-fsanitize=' "$build/Makefile" && tap_skip_all "the build is for a sanitizer"

# need_usual_build: bounds are for optimised builds for x86-64, without assertions.
need_usual_build() {
    [ "$(uname -m)" = x86_64 ] || tap_skip_all "the figures are for x86-64"
    grep -q '^CFLAGS = .*-O[23]' "$build/Makefile" || tap_skip_all "the build is not optimised"
    grep -q '^SGC_CPPFLAGS = .*-DSGC_ASSERTIONS' "$build/Makefile" && tap_skip_all "the build has assertions"
}

# counted SETTINGS PROGRAM ARGUMENTS...: instructions of a whole run.
counted() {
    local settings=$1
    shift
    # shellcheck disable=SC2086  # a list of settings
    "$build/libtool" --mode=execute env $settings valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 |
        sed -n 's/.*Collected : *//p'
}

# one_more FEW MANY TIMES: what one costs, in hundredths of an instruction, if that run has so many
# more of it than this.  A run that failed has no instructions, and costs more than any bound.
one_more() {
    [ -n "$1" ] && [ -n "$2" ] || { echo 999999999; return; }
    echo $((($2 - $1) * 100 / $3))
}

# at_most NAME COST MOST: two runs of one program differ by some hundred instructions (the environment, where things lie), which is
# some hundredths of one operation of ten thousand: a tenth more than the bound is the bound.
at_most() {
    [ "$2" -gt 0 ] && [ "$2" -le $((100 * $3 + 10)) ]
    tap_check $? "$1: at most $3 instructions ($(($2 / 100)).$(printf %02d $(($2 % 100))))"
}

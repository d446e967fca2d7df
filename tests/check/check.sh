# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the checks share; each begins with it.  $root and $build are whole paths, $libs is where the libraries are, and $scratch
# a folder that goes when the script ends.

root=${SGC_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=$(cd "${SGC_BUILDDIR:-.}" && pwd)
libs=$build/.libs
. "$root/tests/lib/tap.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# need_libraries: skips all where there are none that other programs can load.  No other library is
# loaded in their place.
need_libraries() {
    unset LD_LIBRARY_PATH LD_PRELOAD
    [ -e "$libs/libgc.so.1" ] || tap_skip_all "built without shared libraries"
    [ "${SGC_SANITIZER:-none}" = none ] || tap_skip_all "a sanitized library cannot be loaded into other programs"
}

# is_study: begins the check of a study.
is_study() { [ "${CHECK_STUDIES:-on}" = on ] || tap_skip_all "CHECK_STUDIES=off: they are run on another build"; }

# report NAME TEXT: a check that passes if there is no text.
report() {
    [ -z "$2" ]
    tap_check $? "$1"
    [ -z "$2" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# figure NAME: the one of that name in $output, which a program has printed.
figure() { printf '%s\n' "$output" | sed -n "s/^$1 \([^ ]*\).*/\1/p"; }

# refused PATTERN NAME ARGS...: the script's run, which writes to $scratch/out, ends with status 2,
# has the pattern in its message, which is in $output, and has written nothing.
refused() {
    pattern=$1 name=$2
    shift 2
    run "$@"
    status=$?
    [ $status -eq 2 ] && [ ! -e "$scratch/out" ]
    tap_check $? "$name: refused (status $status)"
    tap_match "$output" "$pattern" "$name: says why"
}

# try STATUS PATTERN NAME ARGS...: two checks of the script's run: of its exit status, and of all that
# it prints, which is in $output.
try() {
    wanted=$1 pattern=$2 name=$3
    shift 3
    run "$@"
    tap_equal $? "$wanted" "$name: exit status"
    tap_match "$output" "$pattern" "$name: says so"
}

# answers PATTERN ARGS...: one check of both: "STATUS OUTPUT" matches the pattern.
answers() {
    pattern=$1
    shift
    name=$*
    run "$@"
    tap_match "$? $output" "$pattern" "${name#"$build/"}: ends and answers as it should"
}

# all_done: ends a script whose checks were not counted before.
all_done() {
    tap_plan "$tap_run"
    tap_done
}

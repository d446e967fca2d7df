# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For scripts that run the programs of list.txt; tests/check/check.sh is to be sourced before.  They run
# in a folder below $scratch, which becomes the current one.

# programs_start: skips all, or makes ready.
programs_start() {
    case ${CHECK_PROGRAMS:=few} in
    few | all) ;;
    off) tap_skip_all "CHECK_PROGRAMS=off: they are run on another build" ;;
    *) echo "Bail out! CHECK_PROGRAMS=$CHECK_PROGRAMS: expected off, few or all"; exit 1 ;;
    esac
    need_libraries
    command -v nm >/dev/null || tap_skip_all "no nm (Debian: binutils)"
    mkdir "$scratch/work" && "$root/tests/programs/prepare" "$scratch/work" && cd "$scratch/work" || exit 1
    unset SGC_LOG_JSON GC_INITIAL_HEAP_SIZE GC_MAXIMUM_HEAP_SIZE
    while read -r setting; do
        export "${setting?}"
    done <environment
    nm -D --defined-only "$libs/libgc.so.1" | awk '{ print $3 }' | sort -u >"$scratch/exports"
}

# few NAME: one of those that are run where there is little time.
few() {
    case $1 in w3m | 'Guile 3.0' | ECL | 'ECL, weak' | Neko | mmv) ;; *) false ;; esac
}

# programs_each PATTERN FUNCTION: the check of all programs (of few, unless CHECK_PROGRAMS=all) whose
# name matches the shell pattern.  Calls the function for each that can be run, with the fields in $name,
# $package, $binary (as a path), $torture, $input, $files and $command.
programs_each() {
    while IFS='|' read -r name package binary torture _ input files command <&3; do
        case $name in
        '' | '#'*) continue ;;
        $1) ;;
        *) continue ;;
        esac
        [ "$CHECK_PROGRAMS" = all ] || few "$name" || continue
        binary=$(command -v "$binary") && binary=$(readlink -f "$binary")
        hindrance=$(program_hindrance)
        if [ -n "$hindrance" ]; then
            tap_skip "$name" "$hindrance"
        else
            "$2"
        fi
    done 3<"$root/tests/programs/list.txt"
    all_done
}

# lacking FILE: what the program and its libraries use of libgc and ours does not have, one name a line.
lacking() {
    { echo "$1"; ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'; } | grep -v '/libgc\.so' | while read -r file; do
        nm -D --undefined-only "$file" 2>/dev/null | awk '$2 ~ /^GC_/ { print $2 }'
    done | sort -u | comm -23 - "$scratch/exports"
}

# program_hindrance: why this program cannot be run; nothing if it can.
program_hindrance() {
    if [ -z "$binary" ] || ! ldd "$binary" 2>/dev/null | grep -q 'libgc\.so\.1'; then
        echo "not installed (Debian: $package), or not built for libgc.so.1"
        return
    fi
    missing=$(lacking "$binary")
    # shellcheck disable=SC2086,SC2116  # one line
    [ -z "$missing" ] ||
        echo "not yet: needs $(echo $missing | wc -w) functions that are not there, as $(echo "$missing" | sed -n 1p)"
}

# program_run OUTPUT [NAME=VALUE]...: runs it with these in its environment; what it wrote, to files too, is in OUTPUT,
# its messages are in OUTPUT.err.  Returns its exit status.
program_run() {
    output=$1
    shift
    set -f
    # shellcheck disable=SC2086  # words
    env "$@" timeout -k 5 "${SGC_PROGRAM_LIMIT:-120}" $command <"${input:-/dev/null}" >"$output" 2>"$output.err"
    status=$?
    set +f
    for file in $files; do
        grep -av 'CreationDate' "$file" >>"$output"
        rm -f "$file"
    done
    return $status
}

# program_on_ours OUTPUT [NAME=VALUE]...
program_on_ours() {
    ours=$1
    shift
    program_run "$ours" LD_LIBRARY_PATH="$libs" "$@"
}

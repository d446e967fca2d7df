# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the checks of programs that measure share; each begins with it.

. "$(dirname "$0")/../../tests/check/check.sh"
need_libraries
out=$scratch/out

# run SETTING... PROGRAM ARGUMENT...: on SGC; what it prints is in $output.  The check of a script
# has a run of its own.
run() { output=$(env LD_LIBRARY_PATH="$libs" "$@" 2>&1); }

# lacking: what the last run lacks to be right beside its result; a check may have another one.
lacking() { :; }

# same NAME ARGUMENT...: that run ends well, lacks nothing, and its result is $result, or becomes it.
same() {
    name=$1
    shift
    if ! run "$@"; then
        tap_check 1 "$name"
        printf '%s\n' "$output" | sed 's/^/# /'
        return
    fi
    result=${result:-$(figure result)}
    tap_equal "$(figure result)$(lacking)" "$result" "$name"
}

# evaluate FOLDERS CODE EXPRESSION: what that is in Python after the code, which imports from these
# folders of bench/, and from bench/ itself, whose path is in sys.argv[1].
evaluate() {
    python3 -B -c 'import os, sys
sys.path[:0] = [sys.argv[1] + "/" + folder for folder in sys.argv[2].split() + [""]]
exec(sys.argv[3])
print(eval(sys.argv[4]))' "$root/bench" "$@" 2>&1
}

# lines FILE PATTERN: how many lines match.
lines() { grep -cE "$2" "$1"; }

# refuses EXPERIMENT: four things that the run of each study refuses.
refuses() {
    refused '*no experiment is named*' "no experiment"
    refused '*--all and single experiments*' "all and one" --all "$1"
    refused '*"0" is no number from 1 to 100*' "no rounds" "$1" --times 0
    refused '*unrecognized*--frobnicate*' "an unknown option" "$1" --frobnicate
}

# measures ARGUMENT...: the study runs at tiny sizes.  Its results, in $out, have neither "nonsense",
# which the caller sets an option to, nor a place of this machine.
measures() {
    run --quick --noisy "$@"
    tap_check $? "all experiments run"
    printf '%s\n' "$output" | grep FAILED | sed 's/^/# /'
    tap_equal "$(lines "$out/results.tsv" nonsense)" 0 "no option of the caller reaches a run"
    tap_match "$output" "*not for quoting: *tiny sizes*fewer than 5 rounds*" "it says what the figures are worth"
    tap_equal "$(lines "$out/results.tsv" "$scratch")" 0 "the command is told without this machine's folders"
}

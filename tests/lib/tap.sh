# SPDX-License-Identifier: MIT
# The Test Anything Protocol for test scripts: source it, then plan, check, skip, done.  As in tests/lib/tap.h,
# each check must be able to fail.

tap_run=0
tap_failed=0

# tap_plan N
tap_plan() { echo "1..$1"; }

# tap_check STATUS NAME: passes if STATUS is 0.
tap_check() {
    tap_run=$((tap_run + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_run - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_run - $2"
    fi
}

# tap_equal GOT WANTED NAME
tap_equal() {
    if [ "$1" = "$2" ]; then
        tap_check 0 "$3"
    else
        tap_check 1 "$3"
        printf 'got:    %s\nwanted: %s\n' "$1" "$2" | sed 's/^/# /'
    fi
}

# tap_match TEXT PATTERN NAME: TEXT matches the shell pattern.
tap_match() {
    # shellcheck disable=SC2254  # the pattern is meant
    case $1 in
    $2) tap_check 0 "$3" ;;
    *)
        tap_check 1 "$3"
        printf 'got:    %s\nwanted: %s\n' "$1" "$2" | sed 's/^/# /'
        ;;
    esac
}

# tap_skip NAME REASON
tap_skip() {
    tap_run=$((tap_run + 1))
    echo "ok $tap_run - $1 # SKIP $2"
}

# tap_skip_all REASON
tap_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# tap_done: ends the script with the right status.
tap_done() {
    [ "$tap_run" -gt 0 ] && [ "$tap_failed" -eq 0 ]
    exit
}

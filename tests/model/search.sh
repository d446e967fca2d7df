# SPDX-License-Identifier: MIT
# search.sh: what the checks of the models beside it share.  Each model of a protocol is searched by spin, whole, in
# several shapes, and must be without error; then each fault that can be put into it (-DBROKEN_x) must be found, with
# the complaint that belongs to it.  Together the shapes must reach every statement.
#
# One search by hand, DEFINES as in the checks:
#   spin -a DEFINES tests/model/stop.pml && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m100000
# and after a complaint: spin -t -p -g -k stop.pml.trail DEFINES tests/model/stop.pml

. "${SGC_SRCDIR:?set by make check}/tests/lib/tap.sh"
models=$SGC_SRCDIR/tests/model
LC_ALL=C
export LC_ALL

[ "${CHECK_MODELS:-on}" = on ] ||
    tap_skip_all "CHECK_MODELS=off: they are the same in every build, and checked in another one"
for tool in spin gcc; do
    command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
[ "${SGC_SANITIZER:-none}" = none ] ||
    tap_skip_all "the models are the same in every build; see the one without sanitizer"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# ---- searching ----

# What takes minutes sets these: compressed states take a third to a half of the memory, and twice the time; optimising takes
# gcc up to 17 seconds, and makes searches twice as fast.
compress= optimise=-O0

# checker FLAGS: makes pan of pan.c.  tcc takes a 20th of a second for what gcc takes two for, and the searches as long.
checker() {
    # shellcheck disable=SC2086  # lists of options
    { [ "$optimise" = -O0 ] && command -v tcc >/dev/null && tcc -w $1 $compress -DMEMLIM=4000 -o pan pan.c; } ||
        gcc -w $optimise $1 $compress -DMEMLIM=4000 -o pan pan.c
}

# search MODEL FLAGS RUN DEFINES...: leaves what the checker says in the file "said".
search() {
    model=$1 flags=$2 run=$3
    shift 3
    # there a thread stands still while its handler runs, which the reduction of orders does not know of
    case $model in stop | brief | gc_lock) flags="$flags -DNOREDUCE" ;; esac
    rm -f pan pan.*
    # shellcheck disable=SC2086  # lists of options
    spin -a "$@" "$models/$model.pml" >said 2>&1 &&
        checker "$flags" >>said 2>&1 &&
        timeout 280 nice ./pan $run -m100000 >>said 2>&1
}

# searched_whole: every state was looked at, and nothing was found.
searched_whole() {
    grep -q '^Full statespace search' said && grep -q 'errors: 0$' said &&
        ! grep -q -i -e 'max search depth' -e 'not completed' -e 'memory limit' -e 'out of memory' \
            -e 'abort' -e 'violated' said
}

# judge NAME: the result of a search that must find nothing.
judge() {
    searched_whole
    ok=$?
    tap_check $ok "$1 ($(awk '/states, stored/ { print $1 }' said) states)"
    [ $ok -eq 0 ] || tail -n 25 said | sed 's/^/# /'
}

# unreached: "process|state|place and statement" for each statement that the search never came to.  The
# process that looks at the end takes one way only, and a handler has no end.
unreached() {
    awk -F ', ' '
        /^unreached in / { process = $0; sub(/.* /, "", process) }
        /^\t.*, state [0-9]+, / && process != "Finale" && !(process == "Suspend" && $3 == "\"-end-\"") {
            sub(/^.*\//, "", $1); sub(/^state /, "", $2)
            print process "|" $2 "|" $1 " " substr($0, index($0, "\""))
        }' said
}

# sound MODEL DEFINES...: no error, no thread stuck for ever; notes what no shape so far has reached.
sound() {
    name=$*
    model=$1
    shift
    search "$model" "-DSAFETY" "" "$@"
    judge "$name: no state is wrong"
    unreached >left
    [ -f "left_$model" ] || cp left "left_$model"
    awk -F '|' 'NR == FNR { here[$1, $2]; next } ($1, $2) in here' left "left_$model" >both
    mv both "left_$model"
}

# ends MODEL DEFINES...: there is no cycle of states at all, so every run ends, however unfair.
ends() {
    name=$*
    model=$1
    shift
    search "$model" "-DNP" "-l" "$@"
    judge "$name: every run ends"
}

# reached MODEL: the shapes together came everywhere.
reached() {
    tap_equal "$(cat "left_$1")" "" "$1: every statement is reached"
}

# reached_but MODEL MOST WHERE: everywhere but for so many statements, which only larger shapes reach.
reached_but() {
    count=$(wc -l <"left_$1")
    [ "$count" -le "$2" ]
    tap_check $? "$1: every statement is reached, but for $count (at most $2) $3"
    [ "$count" -le "$2" ] || sed 's/^/# /' "left_$1"
}

# found FAULT COMPLAINT: the last search ended with this complaint.
found() {
    tested="$tested $1"
    complaint=$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' said)
    case $complaint in
    *"$2"*) tap_check 0 "$model without error but for $1: found" ;;
    *)
        tap_check 1 "$model without error but for $1: found"
        printf 'complaint: %s\nwanted:    %s\n' "$complaint" "$2" | sed 's/^/# /'
        tail -n 25 said | sed 's/^/# /'
        ;;
    esac
}

# wrong MODEL FAULT COMPLAINT DEFINES...
wrong() {
    model=$1 fault=$2 complaint=$3
    shift 3
    search "$model" "-DSAFETY" "" "-DBROKEN_$fault" "$@"
    found "$fault" "$complaint"
}

# endless MODEL FAULT DEFINES...
endless() {
    model=$1 fault=$2
    shift 2
    search "$model" "-DNP" "-l" "-DBROKEN_$fault" "$@"
    found "$fault" "non-progress cycle"
}

# also_tested CHECK: the faults that another check of the same model tries.
also_tested() {
    tested="$tested $(sed -n 's/^\(wrong\|endless\) [a-z]* \([A-Z_]*\) .*/\2/p' "$models/$1" | tr '\n' ' ')"
}

# all_tested MODEL: no fault of the model was forgotten here.
all_tested() {
    sed -n 's/^#if.*BROKEN_\([A-Z_]*\).*/\1/p' "$models/$1"*.pml | sort -u >faults
    forgotten=$(while read -r fault; do
        case " $tested " in
        *" $fault "*) ;;
        *) echo "$fault" ;;
        esac
    done <faults)
    tap_equal "$forgotten" "" "$1: each fault in the model was tried"
}

tested=

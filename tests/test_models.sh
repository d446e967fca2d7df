#!/bin/sh
# SPDX-License-Identifier: MIT
# test_models.sh: the protocols of doc/design/world.md, fast-path.md, remote-free.md and parallel-marking.md, checked
# by spin.
#
# Each model is searched whole in several shapes and must be without error; then each fault that can
# be put into it (-DBROKEN_x) must be found, with the complaint that belongs to it.  Together the
# shapes must reach every statement (not those of brief, which two processes share).
#
# MODELS_LONG=1 takes larger shapes: three minutes, 1.5 GB of memory.  One search by hand, DEFINES as below:
#   spin -a DEFINES tests/model/stop.pml && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m100000
# and after a complaint: spin -t -p -g -k stop.pml.trail DEFINES tests/model/stop.pml

. "${SGC_SRCDIR:?set by make check}/tests/tap.sh"
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

# search MODEL FLAGS RUN DEFINES...: leaves what the checker says in the file "said".
search() {
    model=$1 flags=$2 run=$3
    shift 3
    # there a thread stands still while its handler runs, which the reduction of orders does not know of
    case $model in stop | brief) flags="$flags -DNOREDUCE" ;; esac
    rm -f pan pan.*
    # shellcheck disable=SC2086  # lists of options
    spin -a "$@" "$models/$model.pml" >said 2>&1 &&
        gcc -w $flags -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c >>said 2>&1 &&
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
    search "$model" "-O1 -DSAFETY" "" "$@"
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
    search "$model" "-O1 -DNP" "-l" "$@"
    judge "$name: every run ends"
}

# reached MODEL: the shapes together came everywhere.
reached() {
    tap_equal "$(cat "left_$1")" "" "$1: every statement is reached"
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
    search "$model" "-O0 -DSAFETY" "" "-DBROKEN_$fault" "$@"
    found "$fault" "$complaint"
}

# endless MODEL FAULT DEFINES...
endless() {
    model=$1 fault=$2
    shift 2
    search "$model" "-O0 -DNP" "-l" "-DBROKEN_$fault" "$@"
    found "$fault" "non-progress cycle"
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

# ---- stopping the world ----

check_stop() {
    sound stop -DSTOPS=1 -DEARLY=1
    sound stop -DPEERS=1 -DOPS=2 -DGIVE_UPS=1
    sound stop -DMUTATORS=1 -DOPS=3 -DSTOPS=3 -DGIVE_UPS=1 -DEARLY=1
    ends stop -DMUTATORS=1 -DOPS=2 -DGIVE_UPS=1 -DEARLY=1
    ends stop -DPEERS=1 -DOPS=2
    reached stop

    # how a thread is asked, and counts
    wrong stop NO_RMW 'state[k]&2' -DPEERS=1 -DOPS=2
    wrong stop NO_BIAS 'state[k]&2' -DOPS=1
    wrong stop COUNTED_AFTER_ASKING 'reached_zero' -DPEERS=1 -DOPS=2
    wrong stop ACK_WITHOUT_CAS 'missing>=0' -DMUTATORS=1 -DOPS=3 -DGIVE_UPS=1
    wrong stop BLOCKED_ACKNOWLEDGES 'missing>' -DPEERS=1 -DOPS=2
    wrong stop GEN_AFTER_COUNT 'invalid end state' -DPEERS=1 -DOPS=2
    wrong stop UNSETTLED 'state[k]&2' -DMUTATORS=1 -DOPS=3 -DGIVE_UPS=1
    # what it publishes
    wrong stop SP_AFTER_COUNT 'sp[k]==' -DPEERS=1 -DOPS=2
    wrong stop SP_BEFORE_LOOK 'sp[k]==' -DPEERS=1 -DOPS=2
    wrong stop SP_NOT_RESTORED 'sp[k]==' -DPEERS=1 -DOPS=2
    # sections
    wrong stop LOOK_BEFORE_LEAVING 'jumped[k]' -DPEERS=1 -DOPS=2
    wrong stop NO_REPAIR 'stalled' -DPEERS=1 -DOPS=2
    wrong stop PARK_UNGUARDED 'guarded[k]' -DPEERS=1 -DOPS=2
    # blocked regions
    wrong stop ENTER_UNCOUNTED 'stalled' -DPEERS=1 -DOPS=2
    wrong stop LEAVE_UNCHECKED 'state[k]&2' -DPEERS=1 -DOPS=2
    wrong stop GATE_WAITED_FOR_UNBLOCKED 'stalled' -DPEERS=1 -DOPS=2
    wrong stop GATE_UNGUARDED 'guarded[k]' -DPEERS=1 -DOPS=2
    endless stop LEAVE_SPINS -DMUTATORS=1
    # letting go
    wrong stop WAKE_BEFORE_GEN 'invalid end state' -DPEERS=1 -DOPS=2
    wrong stop WAKE_BEFORE_WITHDRAWING 'invalid end state' -DPEERS=1 -DOPS=2
    all_tested stop
}

# ---- brief sections ----

check_brief() {
    sound brief -DEARLY=1
    sound brief -DSTEPS=1

    # leaving
    wrong brief BIT_IGNORED 'jumped'
    wrong brief LOOK_BEFORE_LEAVING 'jumped'
    wrong brief LOOK_BEFORE_LEAVING 'jumped' -DSTEPS=1
    wrong brief END_LOOKS_FIRST 'jumped'
    # seeing what a handler has done
    wrong brief CLEARED 'meddled'
    wrong brief NOT_COMPARED 'meddled'
    wrong brief FULL_BLIND 'meddled'
    # the suspend handler
    wrong brief BIT_NOT_SET 'jumped'
    wrong brief PARKS_INSIDE 'parked_inside'
    wrong brief AGAIN_IGNORED 'stalled'
    wrong brief BIT_ALONE 'stalled'
    # full sections that were left
    wrong brief FULL_FIRST 'outer'
    wrong brief PARKED_UNREPAIRED 'unrepaired'
    wrong brief ENTERED_UNREPAIRED 'unrepaired'
    all_tested brief
}

# ---- remote free and owner change ----

check_remote() {
    sound remote -DALLOCS=0
    sound remote -DTWICE=1 -DALLOCS=0
    sound remote -DTHREADS=2 -DPAGES=2 -DALLOCS=0
    sound remote -DTHREADS=2 -DSTOPS=2
    sound remote -DTHREADS=2 -DSTOPS=2 -DABANDONS=1
    ends remote -DTHREADS=2 -DFREES=3 -DALLOCS=0
    reached remote

    # notices
    wrong remote NO_SECOND_LOOK 'usable[p]'
    wrong remote UNQUEUED_BEFORE_LINK 'on[p]==200' -DTHREADS=2 -DPAGES=2 -DFREES=3 -DALLOCS=0
    # the owner's part
    wrong remote MERGE_NOT_ATOMIC 'rfree[p]'
    wrong remote REMOTE_SET_EARLY 'usable[p]'
    wrong remote REMOTE_CLEARED_LATE 'usable[p]'
    wrong remote SWEEP_WITHOUT_MERGE 'rfree[p]&bit_' -DTHREADS=2 -DSTOPS=2 -DBROKEN_MERGE_BLIND
    wrong remote UNREPAIRED 'rfree[p]&bit_' -DTHREADS=2 -DSTOPS=2 -DABANDONS=1 -DBROKEN_MERGE_BLIND
    # owner change
    wrong remote INBOX_LEFT_OPEN 'on[p]==200'
    endless remote CLOSED_BEFORE_LEAVING -DTHREADS=2
    wrong remote ADOPTION_UNQUEUES 'on[p]==200'
    wrong remote ADOPTION_MERGES_FIRST 'usable[p]'
    # second frees
    wrong remote LOCAL_FREE_BLIND 'second!=2' -DTWICE=1
    wrong remote MERGE_BLIND 'reported==' -DTWICE=1
    all_tested remote
}

# ---- the end of marking ----

check_termination() {
    sound termination
    sound termination -DPIECES=1 -DBUFFERED=1
    sound termination -DPIECES=1 -DSLEEP=1
    sound termination -DCOUNTER=1
    sound termination -DCOUNTER=1 -DSLEEP=1
    ends termination -DPIECES=1 -DSLEEP=1
    ends termination -DCOUNTER=1 -DSLEEP=1
    reached termination

    # a marker
    wrong termination STEAL_FIRST 'pieces==0' -DPIECES=1
    wrong termination STEAL_FIRST 'pieces==0' -DCOUNTER=1
    wrong termination IDLE_TOO_EARLY 'pieces==0' -DPIECES=1
    wrong termination IDLE_TOO_EARLY 'pieces==0' -DCOUNTER=1
    wrong termination DETECTION_FIRST 'invalid end state' -DCOUNTER=1 -DSLEEP=1
    # the counter
    wrong termination COUNT_NOT_ATOMIC 'pieces==0' -DCOUNTER=1
    # the flags
    wrong termination INTERRUPTED_FIRST 'pieces==0' -DPIECES=1
    wrong termination NOT_INTERRUPTED 'pieces==0' -DPIECES=1
    wrong termination NOT_OPENED 'pieces==0' -DPIECES=1
    wrong termination NOT_CHECKED_AGAIN 'pieces==0' -DPIECES=1
    wrong termination TICKET_TWICE 'pieces==0' -DPIECES=1
    # orders
    wrong termination FLAG_NOT_SC 'pieces==0' -DPIECES=1
    wrong termination TICKET_NOT_SC 'pieces==0' -DPIECES=1
    wrong termination IDLE_NOT_SC 'invalid end state' -DPIECES=1 -DSLEEP=1
    # sleeping
    wrong termination WAKE_FIRST 'invalid end state' -DCOUNTER=1 -DSLEEP=1
    wrong termination SIGNAL_NOTED_LATE 'invalid end state' -DCOUNTER=1 -DSLEEP=1
    all_tested termination
}

# ---- the mark deque ----

check_deque() {
    sound deque -DPIECES=4 -DRESETS=1
    sound deque -DPIECES=6 -DTHIEVES=1 -DSTEALS=3 -DRESETS=1
    ends deque -DPIECES=4 -DTHIEVES=1 -DRESETS=1
    reached deque

    # a theft
    wrong deque COPY_AFTER_TAKING 'done[entry[top]]' -DTHIEVES=1
    # what the owner does with places that were public
    wrong deque NO_TAG_ANEW 'done[got[i]]' -DPIECES=4
    wrong deque NO_TAG_TAKING_BACK 'done[got[i]]' -DTHIEVES=1
    wrong deque NO_TAG_SLIDING 'done[got[i]]' -DPIECES=4
    wrong deque NO_TAG_RESETTING 'done[got[i]]' -DTHIEVES=1 -DRESETS=1
    # when it may
    wrong deque TAKE_BACK_BLIND 'done[entry[top]]' -DTHIEVES=1
    wrong deque SHARE_UNLOOKED 'done[p]' -DTHIEVES=1
    wrong deque SLIDE_UNLOOKED 'invalid end state' -DTHIEVES=1
    all_tested deque
}

# ---- larger shapes, without the faults ----

check_long() {
    sound stop
    sound stop -DOPS=2 -DSTOPS=1
    sound brief -DOPS=3 -DSTOPS=2 -DCLIENTS=2
    sound brief -DOPS=3 -DSTOPS=2 -DCLIENTS=2 -DEARLY=1 -DSTEPS=1
    sound stop -DPEERS=1 -DMUTATORS=3 -DSTOPS=1 -DGIVE_UPS=1
    sound stop -DPEERS=1 -DMUTATORS=3
    sound stop -DPEERS=1 -DOPS=3 -DSTOPS=3
    sound remote -DSTOPS=1
    sound remote -DTWICE=1 -DSTOPS=1
    sound remote -DEXITS=2
    sound remote -DPAGES=2 -DSLOTS=1 -DALLOCS=0
    sound remote -DTHREADS=2 -DPAGES=2 -DFREES=3
    sound remote -DABANDONS=1 -DSTOPS=1
    ends remote
    sound deque
    sound deque -DPIECES=5 -DRESETS=1
    sound termination -DPIECES=4
    sound termination -DPIECES=2 -DBUFFERED=1
    sound termination -DPIECES=4 -DCOUNTER=1
    ends termination -DPIECES=2 -DSLEEP=1
}

tested=
if [ "${MODELS_LONG:-0}" = 0 ]; then
    tap_plan 103
    check_stop
    check_brief
    check_remote
    check_deque
    check_termination
else
    tap_plan 20
    check_long
fi
tap_done

#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples/wordindex on a small tree with everything in it that a file system offers: its file list and
# counts against find, grep, tr, sort and uniq, for both programs and several numbers of threads; its
# answers against a tree small enough to count by hand; mistakes on the command line; its demo.
set -u
export LC_ALL=C

src=${SGC_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SGC_BUILDDIR:-$(pwd)}
sanitizer=${SGC_SANITIZER:-none}
. "$src/tests/tap.sh"

here=$src/examples/wordindex
gc=$build/examples/wordindex/wordindex
malloc=$build/examples/wordindex/wordindex-malloc

for program in "$gc" "$malloc"; do
    [ -x "$program" ] && continue
    echo "Bail out! $program is missing: run make in $build first"
    exit 1
done

# That it frees nothing is what the second program is for.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT PIPE TERM
cd "$tmp" || exit 1

# run PROGRAM ARGS: leaves `out`, `err` and $status.
run() {
    "$@" >out 2>err
    status=$?
}

# refused NAME PATTERN ARGS: a wrong command line, for which both programs do nothing, give a message
# that matches PATTERN, and exit with 2.
refused() {
    name=$1 pattern=$2
    shift 2
    for program in "$gc" "$malloc"; do
        run "$program" "$@"
        tap_match "$status $(cat err) $(cat out)" "2 $pattern*nothing done; wordindex --help lists*" \
            "$name (${program##*/})"
    done
}

# ---- a tree to be counted by find and its friends ---------------------------------------------------

letters() { # N times the letter L
    head -c "$1" /dev/zero | tr '\0' "$2"
}

mkdir -p tree/deep "tree/a folder" tree/many
printf 'The quick brown fox.\nthe lazy dog' >tree/no-final-newline
printf 'tail' >tree/no-final-newline-too
: >tree/empty
printf '\n\n \t\n12 34 -- !!\n' >tree/no-words
printf 'here is\0a NUL byte\n' >tree/binary
{ letters 100000 x; printf '\0'; } >tree/binary-at-the-end
letters 1500000 W >tree/huge-word
printf "caf\351 na\357ve @[\`{ aZzA don't x86_64 \177\200\377end\r\nDOS\r\n" >tree/bytes
printf 'spaces in the name\n' >'tree/a folder/a file.txt'
printf 'newline in the name\n' >'tree/a folder/new
line'
printf 'starts with a dash\n' >tree/-n
printf 'hidden\n' >tree/.hidden
ln -s .. tree/deep/loop
ln -s nowhere tree/dangling
ln -s no-final-newline tree/link-to-a-file
mkfifo tree/fifo
ln tree/no-final-newline tree/hard-link
path=tree/deep
for depth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    path=$path/level$depth
    mkdir $path
    echo "at the deep end" >$path/file
done
# More files than the queue has room for, and words that all of them share.
awk 'BEGIN {
    for (file = 0; file < 700; file++) {
        name = "tree/many/" file
        for (i = 0; i < 150; i++)
            printf "shared w%c%c only%c ", 97 + i % 26, 97 + (i * file) % 26, 97 + file % 26 >name
        close(name)
    }
}'
"$here/count-words" counts files tree
sort -z files >files.sorted
# In the order of the files above; the hard link counts again.
wanted=$((7 + 1 + 1 + 9 + 4 + 4 + 4 + 1 + 7 + 20 * 4 + 700 * 150 * 3))
tap_equal "$(awk '{ words += $1 } END { print words + 0 }' counts)" "$wanted" \
    "the independent count finds as many words as were put into the tree"

for threads in 1 2 8; do
    for program in "$gc" "$malloc"; do
        name="${program##*/}, $threads threads"
        rm -f got.counts got.files
        run "$program" --threads $threads --counts got.counts --files got.files --top 20 \
            --query 'shared' --query 'the deep end' --prefix 'only' tree
        tap_equal "$status $(cat err)" "0 " "$name: runs without a complaint"
        sort -z got.files | cmp - files.sorted
        tap_check $? "$name: the files that find and grep find"
        cmp got.counts counts
        tap_check $? "$name: the counts of tr, sort and uniq"
        [ -f answers ] || cp out answers
        cmp out answers
        tap_check $? "$name: the same answers as with 1 thread"
    done
done

# The collector collects at every 499th allocation, if it is one that can.
rm -f got.counts
SGC_TORTURE=499 run "$gc" --threads 4 --repeat 2 --counts got.counts --stats tree
tap_equal "$status $(cat err)" "0 " "with many collections: runs without a complaint"
cmp got.counts counts
tap_check $? "with many collections: the counts of tr, sort and uniq"
collections=$(sed -n 's/^collections //p' out)
tap_check $((${collections:-0} < 2)) "with many collections: there were some (${collections:-none})"

tap_equal "$(sed -n 's/^memory //p' out)" "gc" "wordindex is on the collector"
run "$malloc" --stats tree
tap_equal "$(sed -n 's/^memory //p' out)" "malloc" "wordindex-malloc is on malloc"
grep -q 'GC_malloc' "$malloc"
tap_check $((!$?)) "wordindex-malloc knows nothing of the collector"

# ---- a tree to be counted by hand -------------------------------------------------------------------

mkdir small
printf 'one fish two fish\nRed fish, blue fish.\n' >small/a
printf 'Two red fish and one blue fish; two fish' >small/b
printf 'nothing at all' >small/c

for program in "$gc" "$malloc"; do
    name=${program##*/}
    run "$program" --counts /dev/stdout --top 0 small
    tap_equal "$(cat out)" "1 all
1 and
1 at
2 blue
7 fish
1 nothing
2 one
2 red
3 two" "$name: --counts"
    run "$program" --top 3 small
    tap_equal "$(cat out)" "the most frequent of 9 words:
         7  fish
         3  two
         2  blue" "$name: --top"
    run "$program" --query FISH --query absent small
    tap_equal "$(cat out)" "\"FISH\": 7 times in 2 files
         4  small/a
         3  small/b
\"absent\": 0 times in 0 files" "$name: queries of one word"
    run "$program" --query 'two fish' --query 'fish-red FISH' --query 'red two' --query 'fish fish' \
        --query 'one absent' --query 'nothing red' small
    tap_equal "$(cat out)" '"two fish": all 2 words in 2 files; the phrase 2 times in 2 files
         1  small/a
         1  small/b
"fish-red FISH": all 3 words in 2 files; the phrase 1 time in 1 file
         1  small/a
"red two": all 2 words in 2 files; the phrase 0 times in 0 files
"fish fish": all 2 words in 2 files; the phrase 0 times in 0 files
"one absent": all 2 words in 0 files; the phrase 0 times in 0 files
"nothing red": all 2 words in 0 files; the phrase 0 times in 0 files' "$name: phrases"
    run "$program" --prefix A --prefix zz small
    tap_equal "$(cat out)" '"A...": 3 words, 3 times
         1  all
         1  and
         1  at
"zz...": 0 words, 0 times' "$name: prefixes"
    run "$program" --stats --repeat 2 --threads 3 small
    tap_equal "$(grep -E '^(texts|binaries|problems|bytes|words|distinct_words|threads|rounds) ' out |
        tr '\n' ' ')" "texts 3 binaries 0 problems 0 bytes 93 words 20 distinct_words 9 threads 3 rounds 2 " \
        "$name: --stats"
done

# ---- paths ------------------------------------------------------------------------------------------

ln -s small link
mkdir -p closed/folder
printf 'open\n' >closed/open
printf 'secret\n' | tee closed/secret >closed/folder/file
chmod 000 closed/secret closed/folder
for program in "$gc" "$malloc"; do
    name=${program##*/}
    run "$program" --files got.files --top 0 link small/a small/ link/b
    tap_equal "$status $(sort -z got.files | tr '\0' ' ')" "0 link/a link/b link/b link/c small/a small/a small/b small/c " \
        "$name: links and files given as paths, and some of them twice"
    run "$program" --query fish small no/such/folder
    tap_equal "$status $(cat err) $(head -n 1 out)" \
        '1 wordindex: no/such/folder: No such file or directory; it is left out "fish": 7 times in 2 files' \
        "$name: no such folder: says so and indexes the rest"
    if truncate -s 5G large 2>/dev/null; then
        run "$program" --query fish large small
        tap_equal "$status $(cat err) $(head -n 1 out)" \
            '1 wordindex: large: File too large; the file is left out "fish": 7 times in 2 files' \
            "$name: a file of more than 4 GiB: says so and indexes the rest"
    else
        tap_skip "$name: a file of more than 4 GiB" "this file system cannot hold a sparse one"
    fi
    run "$program" tree/fifo ''
    tap_match "$status $(cat err)" "1 *tree/fifo: neither a folder nor a regular file*No such file*" \
        "$name: a FIFO and an empty path are left out"
    if [ "$(id -u)" -eq 0 ]; then
        tap_skip "$name: an unreadable file and an unreadable folder" "root can read everything"
    else
        run "$program" --top 0 --counts /dev/stdout closed
        tap_equal "$status $(cat out) $(sort err | tr '\n' ' ')" "1 1 open wordindex: closed/folder: Permission denied; it is left out wordindex: closed/secret: Permission denied; the file is left out " \
            "$name: an unreadable file and an unreadable folder: says so and goes on"
    fi
done

# ---- mistakes ---------------------------------------------------------------------------------------

for number in 0 -1 1025 99999999999999999999 '' two 2x 1.5; do
    refused "--threads '$number'" "*--threads '$number': a number from 1 to 1024 was expected*" \
        --threads "$number" small
done
refused "--top -1" "*--top '-1': a number from 0 to*" --top -1 small
refused "--repeat 0" "*--repeat '0': a number from 1 to*" --repeat 0 small
refused "a query without a word" "*--query '12 ?': no word in it*" --query '12 ?' small
refused "a prefix that is no word" "*--prefix 'a b': one or more letters*" --prefix 'a b' small
refused "an empty prefix" "*--prefix '': one or more letters*" --prefix '' small
refused "an unknown option" "*unrecognized option*--colour*" --colour small
refused "a missing argument" "*requires an argument*" small --counts

for program in "$gc" "$malloc"; do
    name=${program##*/}
    run "$program" --help
    missing=
    for option in threads top query prefix counts files stats repeat help; do
        grep -q -- "--$option" out || missing="$missing --$option"
    done
    tap_equal "$status$missing" "0" "$name: --help names every option"
    run "$program" --counts no/such/folder/counts --query fish small
    tap_match "$status $(cat err) $(cat out)" "1 *no/such/folder/counts: No such file or directory*fish*7 times*" \
        "$name: counts that cannot be written: says so, and the rest is done"
    run "$program" --counts /dev/full --files /dev/full small
    tap_match "$status $(cat err)" "1 *writing failed: No space left*writing failed: No space left*" \
        "$name: a full disk is noticed"
    "$program" small >/dev/full 2>err
    tap_match "$? $(cat err)" "1 *standard output: writing failed: No space left*" \
        "$name: a full disk under standard output is noticed"
done

# ---- scarce memory ----------------------------------------------------------------------------------

if [ "$sanitizer" != none ]; then
    tap_skip "threads that cannot be started" "sanitizers need more address space"
    tap_skip "malloc runs out of memory" "sanitizers need more address space"
    tap_skip "the collector does not" "sanitizers need more address space"
else
    # A thread's stack is as large as ulimit -s says; three of these don't fit below ulimit -v.
    (ulimit -s 1000000 && ulimit -v 2500000 && run "$malloc" --threads 8 --query fish small
        echo "$status" >status)
    tap_match "$(cat status) $(cat err) $(head -n 1 out)" \
        '0 *[12] of 8 threads could be started: *going on with these "fish": 7 times in 2 files' \
        "threads that cannot be started: says so and goes on with fewer"
    (ulimit -v 600000 && run "$malloc" --threads 1 --repeat 80 --top 1 tree; echo "$status" >status)
    tap_match "$(cat status) $(cat err)" "1 *wordindex: out of memory: * bytes were wanted*" \
        "80 rounds on malloc without free run out of memory: says so and ends"
    (ulimit -v 600000 && run "$gc" --threads 1 --repeat 80 --top 1 tree; echo "$status" >status)
    tap_match "$(cat status) $(cat err) $(cat out)" "0 *the most frequent of * words:*105000  shared" \
        "80 rounds on the collector do not"
fi

# ---- the demo ---------------------------------------------------------------------------------------

run "$here/demo" "$build" "$src" tree
tap_match "$status $(cat out)" "0 *on the collector: counts equal*on malloc: counts equal*collections*peak RSS*shared*" \
    "the demo checks, reports and answers"
tap_equal "$(grep -e 'do not add up' -e 'log lacks' out)" "" "the demo finds all parts of a pause in the log of a real run"

# A program that counts one word wrong, and one that leaves a file out.
false_build() { # NAME SED-SCRIPT FILE-SCRIPT
    mkdir -p "$1/examples/wordindex"
    ln -s "$malloc" "$1/examples/wordindex/wordindex-malloc"
    cat >"$1/examples/wordindex/wordindex" <<EOF
#!/bin/sh
"$gc" "\$@" || exit
while [ \$# -gt 1 ]; do
    case \$1 in
    --counts) sed -i '$2' "\$2" ;;
    --files) $3 ;;
    esac
    shift
done
EOF
    chmod +x "$1/examples/wordindex/wordindex"
}
false_build miscounts 's/^105000 shared$/104999 shared/' ':'
run "$here/demo" miscounts "$src" tree
tap_match "$status $(cat out)" "1 *on the collector: COUNTS DIFFER*105000 shared*104999 shared*on malloc: counts equal*" \
    "the demo fails if a count differs, and shows it"
false_build forgets '' ': >"$2"'
run "$here/demo" forgets "$src" small
tap_match "$status $(cat out)" "1 *on the collector: FILES DIFFER*small/a*" \
    "the demo fails if the files differ, and shows them"
mkdir -p crashes/examples/wordindex
ln -s "$malloc" crashes/examples/wordindex/wordindex-malloc
printf '#!/bin/sh\nkill -SEGV $$\n' >crashes/examples/wordindex/wordindex
chmod +x crashes/examples/wordindex/wordindex
run "$here/demo" crashes "$src" small
tap_match "$status $(cat out)" "1 *on the collector: FAILED with exit code 139*" \
    "the demo fails if the program does"
run "$here/demo" "$tmp" "$src"
tap_match "$status $(cat err)" "2 *wordindex is missing: run make*" "the demo says if nothing is built"

# What it says of the collector, from a log of 200 collections with pauses of 1 to 200 ms, the longest first.
printf 'collections 200\nallocated_bytes 104857600\nheap_bytes 10485760\nunmapped_bytes 1048576\n' >statistics
awk 'BEGIN {
    for (i = 200; i > 0; i--)
        printf "{\"version\":1,\"cycle\":%d,\"pause_ns\":%d,\"parts_ns\":{\"stop\":%d,\"retire\":1,\"roots\":2," \
            "\"mark\":500000,\"rescan\":3,\"flip\":4,\"resume\":%d},\"marked_bytes\":524288," \
            "\"live_bytes_after\":2097152,\"heap_bytes\":%d,\"returned_bytes\":1048576}\n",
            201 - i, i * 1000000, i * 100000, i * 900000 - 500010, (20 + i) * 1048576
}' >log
report() { # the lines of the report on log $1, spaces squeezed
    awk -f "$here/collections.awk" statistics "$1" | tr -s ' '
}
tap_equal "$(report log)" " collections 200 for 100 MiB allocated
 (milliseconds) p50 p99 max sum
 pause 100.000 198.000 200.000 20100.0
 time to stop 10.000 19.800 20.000 2010.0
 marking 0.500 0.500 0.500 100.0
 the rest 89.500 177.700 179.500 17990.0
 mark rate 1000 MiB/s
 heap, the most 220.0 MiB; at the last collection 21.0 MiB, of which 2.0 MiB live
 given back 200.0 MiB until the last collection
 heap at the end 10.0 MiB, 1.0 MiB of it given back" "the report on the collector, from a log of known numbers"
sed 's/"flip":4,/"flip":1,"a_new_one":3,/' log >more
tap_equal "$(report more)" "$(report log)" "a part that is new to the report is of the rest"
sed 's/"flip":4,//' log >lacking
tap_match "$(report lacking)" '*In 200 of these collections the parts do not add up*' \
    "the report says if the parts are not the whole pause"
sed 's/"rescan":3,//; s/"heap_bytes/"heap/' log >lacking
tap_match "$(report lacking)" '*lacks "rescan"*' "and if the log lacks something"
tap_match "$(report lacking)" '*lacks "heap_bytes"*' "outside the parts, too"
tap_match "$(report /dev/null)" '*wrote no log*heap at the end 10.0 MiB*' "the report says if there is no log"

tap_plan $tap_run
tap_done

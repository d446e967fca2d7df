# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# long.sh NAME: what the long scripts of the fuzzers do: half an hour of inputs under libFuzzer, with ASan and UBSan, if clang has
# it (Debian: libclang-rt-dev), and half an hour or else an hour without; then the planted faults, each of which has a minute.
#
# The fuzzer is built by itself, with assertions, below the folder fuzz of the build.  FUZZ_SECONDS: of all inputs together.

. "$(dirname "$0")/../check/check.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
seconds=${FUZZ_SECONDS:-3200}
clang=${FUZZ_CLANG:-clang}
folder=$build/fuzz
seed=$(date +%s)

# libFuzzer without its main, and what it needs; nothing if clang has none.
libfuzzer() {
    archive=$($clang -print-resource-dir 2>/dev/null)/lib/linux/libclang_rt.fuzzer_no_main-$(uname -m).a
    echo 'int main(void) { return 0; }' >"$scratch/main.c"
    [ -e "$archive" ] && $clang -fsanitize=fuzzer-no-link,address,undefined "$scratch/main.c" -o "$scratch/main" 2>/dev/null &&
        echo "$archive -lstdc++ -lm"
}

# make_fuzzer FOLDER CONFIGURE-ARGUMENTS...
make_fuzzer() {
    mkdir -p "$1" && cd "$1" || return
    shift
    { [ -e config.status ] || "$root/configure" -q --enable-assertions --disable-shared "$@"; } &&
        make -s libsgccore.la libsgcsim.la && make -s "tests/fuzz/fuzz_$name"
}

run_libfuzzer() {
    mkdir -p "$folder/corpus/$name"
    cd "$folder" || return
    "libfuzzer/tests/fuzz/fuzz_$name" --libfuzzer -max_total_time=$((seconds / 2)) -max_len="$longest" -timeout=120 \
        -artifact_prefix="$folder/$name-" "corpus/$name" "$root/tests/fuzz/seeds/$name"
}

fuzz_long() {
    name=$1 longest=$2
    library=$(libfuzzer)
    if [ -n "$library" ]; then
        make_fuzzer "$folder/libfuzzer" --with-sanitizer=address,undefined CC="$clang" CXX="$clang++" \
            CFLAGS='-g1 -O1 -fsanitize=fuzzer-no-link' LDFLAGS=-Wl,-u,LLVMFuzzerRunDriver LIBS="$library" >"$scratch/log" 2>&1
        report "$name is built with libFuzzer" "$([ $? = 0 ] || tail -n 20 "$scratch/log")"
        run_libfuzzer >"$scratch/log" 2>&1
        report "$name: nothing is found by libFuzzer in $((seconds / 2)) seconds" "$([ $? = 0 ] || grep -v '^#[0-9]' "$scratch/log" |
            tail -n 60)"
        seconds=$((seconds / 2))
    else
        tap_skip "$name: nothing is found by libFuzzer" "$clang has none (Debian: libclang-rt-dev)"
    fi
    make_fuzzer "$folder/plain" >"$scratch/log" 2>&1
    report "$name is built with assertions" "$([ $? = 0 ] || tail -n 20 "$scratch/log")"
    "$folder/plain/tests/fuzz/fuzz_$name" --seconds "$seconds" --seed "$seed" >"$scratch/log" 2>&1
    tap_check $? "$name: nothing is found in $seconds seconds with seed $seed, but each planted fault"
    sed 's/^/# /' "$scratch/log"
    all_done
}

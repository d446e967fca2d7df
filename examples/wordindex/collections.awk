# SPDX-License-Identifier: MIT
#
# awk -f collections.awk STATISTICS LOG
#
# Says what the collector did, from the lines of `wordindex --stats` and the collector's log, one JSON
# object a collection (doc/log-format.md).  Says so if the log is empty or lacks something.

# The number of a member of this line's object; remembers members that are missing.
function number(name,    text) {
    if (match($0, "\"" name "\": *-?[0-9.]+([eE][-+]?[0-9]+)?") == 0) {
        missing[name] = 1
        return 0
    }
    text = substr($0, RSTART, RLENGTH)
    sub(/^.*: */, "", text)
    return text + 0
}

# Reads whatever parts the pause has into part[]; the log may have more than anybody knew when this was written.
function read_parts(    text, pair, field, n, i) {
    split("", part)
    if (match($0, /"parts_ns": *\{[^}]*\}/) == 0) {
        missing["parts_ns"] = 1
        return
    }
    text = substr($0, RSTART, RLENGTH)
    sub(/^[^{]*\{/, "", text)
    gsub(/[" }]/, "", text)
    n = split(text, pair, ",")
    for (i = 1; i <= n; i++) {
        split(pair[i], field, ":")
        part[field[1]] = field[2] + 0
    }
}

# The part of that name, which then is none of the rest.
function take(name,    time) {
    if (!(name in part))
        missing[name] = 1
    time = part[name]
    delete part[name]
    return time
}

function take_rest(    name, sum) {
    for (name in part)
        sum += part[name]
    return sum + 0
}

# Shell sort of the times from..to `which`; there are some hundred.
function sort_times(which, n,    gap, i, j, t) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= n; i++) {
            t = time[which, i]
            for (j = i; j > gap && time[which, j - gap] > t; j -= gap)
                time[which, j] = time[which, j - gap]
            time[which, j] = t
        }
}

# The smallest time that at least p percent do not exceed.
function percentile(which, n, p,    rank) {
    rank = int(n * p / 100)
    if (rank < n * p / 100)
        rank++
    return time[which, rank < 1 ? 1 : rank]
}

function print_times(label, which, n,    i, sum) {
    sort_times(which, n)
    for (i = 1; i <= n; i++)
        sum += time[which, i]
    printf "  %-22s%10.3f%10.3f%10.3f%10.1f\n", label, percentile(which, n, 50) * MS,
        percentile(which, n, 99) * MS, time[which, n] * MS, sum * MS
}

BEGIN {
    MS = 1e-6 # the log's times are nanoseconds
    MiB = 1048576
}

FILENAME == ARGV[1] { value[$1] = $2; next }

/"cycle"/ {
    n++
    time["pause", n] = number("pause_ns")
    read_parts()
    time["stop", n] = take("stop")
    time["mark", n] = take("roots") + take("mark") + take("rescan")
    time["other", n] = take_rest()
    if (time["pause", n] != time["stop", n] + time["mark", n] + time["other", n])
        uneven++
    marked += number("marked_bytes")
    marking += time["mark", n]
    returned += number("returned_bytes")
    live = number("live_bytes_after")
    heap = number("heap_bytes")
    if (heap > heap_max)
        heap_max = heap
}

END {
    printf "  %-22s%10d   for %.0f MiB allocated\n", "collections", value["collections"],
        value["allocated_bytes"] / MiB
    if (n == 0) {
        print "  The collector wrote no log, so that nothing can be said of pauses and marking."
    } else {
        if (n != value["collections"])
            printf "  (the log has %d collections)\n", n
        printf "  %-22s%10s%10s%10s%10s\n", "(milliseconds)", "p50", "p99", "max", "sum"
        print_times("pause", "pause", n)
        print_times("  time to stop", "stop", n)
        print_times("  marking", "mark", n)
        print_times("  the rest", "other", n)
        if (uneven > 0)
            printf "  In %d of these collections the parts do not add up to the pause.\n", uneven
        if (marking > 0)
            printf "  %-22s%10.0f MiB/s\n", "mark rate", marked / MiB / (marking * 1e-9)
        printf "  %-22s%10.1f MiB; at the last collection %.1f MiB, of which %.1f MiB live\n",
            "heap, the most", heap_max / MiB, heap / MiB, live / MiB
        printf "  %-22s%10.1f MiB until the last collection\n", "given back", returned / MiB
    }
    printf "  %-22s%10.1f MiB, %.1f MiB of it given back\n", "heap at the end",
        value["heap_bytes"] / MiB, value["unmapped_bytes"] / MiB
    for (name in missing)
        printf "  The log lacks \"%s\": lines above that need it show 0.\n", name
}

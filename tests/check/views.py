# SPDX-License-Identifier: MIT
"""Readers of what `sgc-snapshot export` writes, strict ones, and the same figures found in another way.

    views.py heap HEAPSNAPSHOT JSON STATS       nodes, edges and what each root retains, against the JSON and `sgc-snapshot stats`
    views.py least WHOLE SMALLER BYTES          each object that is left in the smaller file retains what it does in the whole one
    views.py stacks PPROF FOLDED JSON           the same stacks with the same values
    views.py names FOLDER                       names that subject_views has written come out as they should

A line is printed for each thing that is not so, and no other.
"""
import json
import sys
from collections import Counter, defaultdict

FIELDS = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]


class Heap:
    """A .heapsnapshot: node by node, with the targets of its edges."""

    def __init__(self, path):
        with open(path, encoding="utf-8", errors="strict") as f:
            data = json.load(f)
        meta = data["snapshot"]["meta"]
        assert meta["node_fields"] == FIELDS and meta["edge_fields"] == ["type", "name_or_index", "to_node"]
        self.types, self.edge_types, self.strings = meta["node_types"][0], meta["edge_types"][0], data["strings"]
        nodes, edges = data["nodes"], data["edges"]
        assert len(nodes) == 7 * data["snapshot"]["node_count"] and len(edges) == 3 * data["snapshot"]["edge_count"]
        self.node = [nodes[i:i + 7] for i in range(0, len(nodes), 7)]
        assert sum(node[4] for node in self.node) * 3 == len(edges), "edges are not those of the nodes"
        assert len({node[2] for node in self.node}) == len(self.node), "two nodes have one number"
        self.out, self.edges, at = [], edges, 0
        for node in self.node:
            self.out.append([self.target(edges, e) for e in range(at, at + 3 * node[4], 3) if not self.is_weak(edges[e])])
            at += 3 * node[4]

    def is_weak(self, kind):
        return self.edge_types[kind] == "weak"

    def target(self, edges, e):
        kind, name, to = edges[e:e + 3]
        assert to % 7 == 0 and to // 7 < len(self.node)
        assert self.edge_types[kind] == "element" or name < len(self.strings)
        return to // 7

    def all_edges(self):
        """(id, type, name or index, id), weak ones, too."""
        at = 0
        for node in self.node:
            for e in range(at, at + 3 * node[4], 3):
                kind, name = self.edge_types[self.edges[e]], self.edges[e + 1]
                yield node[2], kind, name if kind in ("element", "hidden") else self.strings[name], self.node[self.edges[e + 2] // 7][2]
            at += 3 * node[4]

    def name(self, i):
        return self.strings[self.node[i][1]]

    def type(self, i):
        return self.types[self.node[i][0]]


def order_of(out):
    """Nodes in the order in which a search in depth leaves them, the last first."""
    order, seen, stack = [], {0}, [(0, iter(out[0]))]
    while stack:
        node, rest = stack[-1]
        for to in rest:
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(out[to])))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def dominators(out):
    """By iteration until nothing changes: slow, and nothing like what the tool does."""
    order = order_of(out)
    number = {node: i for i, node in enumerate(order)}
    before = defaultdict(list)
    for node in order:
        for to in out[node]:
            before[to].append(node)
    of, changed = {0: 0}, True
    while changed:
        changed = False
        for node in order[1:]:
            new = None
            for other in before[node]:
                if other not in of:
                    continue
                if new is None:
                    new = other
                while new != other:
                    while number[new] > number[other]:
                        new = of[new]
                    while number[other] > number[new]:
                        other = of[other]
            if of.get(node) != new:
                of[node], changed = new, True
    return of, order


def retained(heap):
    of, order = dominators(heap.out)
    bytes_of = [node[3] for node in heap.node]
    for node in reversed(order[1:]):
        bytes_of[of[node]] += bytes_of[node]
    return of, order, bytes_of


def same(what, have, want):
    if have != want:
        print(f"{what}: {have}, expected {want}")


def check_heap(path, json_path, stats_path):
    heap = Heap(path)
    with open(json_path, encoding="utf-8") as f:
        view = json.load(f)
    with open(stats_path, encoding="utf-8") as f:
        stats = {line.split(" ")[0]: line.split(" ")[1].rstrip("\n") for line in f}
    of, order, kept = retained(heap)
    objects = [i for i in range(len(heap.node)) if heap.type(i) != "synthetic"]
    roots = [i for i in range(1, len(heap.node)) if heap.type(i) == "synthetic"]
    same("nodes that are reached", len(order), len(heap.node))
    same("objects", len(objects), int(stats["cycle_objects"]))
    same("objects in the JSON", view["objects"], int(stats["cycle_objects"]))
    same("bytes", sum(node[3] for node in heap.node), int(stats["cycle_bytes"]))
    same("pointers", sum(len(heap.out[i]) for i in objects), int(stats["cycle_edges"]))
    tree = view["tree"]
    same("retained by roots", sorted((heap.name(i), kept[i]) for i in roots if kept[i] != 0),
         sorted((node["name"], node["retained"]) for node in tree if node["kind"] == "root"))
    same("by several roots", sum(kept[i] for i in objects if of[i] == 0),
         sum(node["retained"] for node in tree if node["kind"] == "several"))
    check_groups(heap, view, of, order)
    check_tree(tree, view)


def check_groups(heap, view, of, order):
    """Bytes of a group, and of all that one of its objects dominates."""
    own, held, groups_above = Counter(), Counter(), {0: frozenset()}
    for node in order:
        group = heap.name(node) if heap.type(node) != "synthetic" else None
        above = groups_above[of[node]] | ({group} - {None})
        groups_above[node] = above
        own[group] += heap.node[node][3]
        for one in above:
            held[one] += heap.node[node][3]
    same("groups", sorted((name, own[name], held[name]) for name in own if name is not None),
         sorted((group["name"], group["bytes"], group["retained"]) for group in view["groups"]))


def check_tree(tree, view):
    below = Counter()
    for i, node in enumerate(tree):
        below[node["parent"]] += node["retained"]
        if node["parent"] >= i:
            print(f"tree node {i} stands before its parent")
    for i, node in enumerate(tree):
        same(f"tree node {i}: what it retains", node["retained"], node["bytes"] + below[i])
    same("the tree", (tree[0]["retained"], tree[0]["retained_objects"]), (view["bytes"], view["objects"]))
    same("objects of the tree", sum(node["objects"] for node in tree), view["objects"])


def check_least(whole, smaller, least):
    all_of, few = Heap(whole), Heap(smaller)
    kept = {node[2]: size for node, size in zip(all_of.node, retained(all_of)[2]) if node[0] != 9}
    of, order, few_kept = retained(few)
    there = {node[2]: size for node, size in zip(few.node, few_kept) if few.strings[node[1]] != "smaller objects" and node[0] != 9}
    same("nodes that are reached", len(order), len(few.node))
    same("those that are left", there, {number: size for number, size in kept.items() if size >= int(least)})
    same("all bytes", few_kept[0], sum(node[3] for node in all_of.node))
    if not any(few.name(i) == "smaller objects" for i in range(len(few.node))):
        print("nothing was left out")


# ---- pprof ----

def varint(data, at):
    value, shift = 0, 0
    while True:
        assert shift < 70
        value |= (data[at] & 0x7f) << shift
        if data[at] < 0x80:
            assert data[at] != 0 or shift == 0, "a number with zeros before it"
            return value, at + 1
        at, shift = at + 1, shift + 7


def message(data, fields):
    """{field: [values]}; a field is there with its wire type only."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        assert fields.get(key >> 3) == key & 7, f"field {key >> 3} of type {key & 7}"
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def numbers(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(path):
    """[(stack, objects, bytes)], each stack from the root down, and all strings."""
    with open(path, "rb") as f:
        profile = message(f.read(), {1: 2, 2: 2, 4: 2, 5: 2, 6: 2, 13: 0, 14: 0})
    strings = [text.decode("utf-8", "strict") for text in profile[6]]
    assert strings[0] == ""
    types = [message(one, {1: 0, 2: 0}) for one in profile[1]]
    assert [(strings[t[1][0]], strings[t[2][0]]) for t in types] == [("objects", "count"), ("bytes", "bytes")]
    assert strings[profile[14][0]] == "bytes" and "snapshot" in strings[profile[13][0]]
    functions = {f[1][0]: strings[f[2][0]] for f in (message(one, {1: 0, 2: 0, 3: 0}) for one in profile[5])}
    locations = {}
    for one in profile[4]:
        location = message(one, {1: 0, 4: 2})
        assert location[1][0] not in locations and location[1][0] != 0
        locations[location[1][0]] = functions[message(location[4][0], {1: 0})[1][0]]
    samples = []
    for one in profile[2]:
        sample = message(one, {1: 2, 2: 2})
        objects, size = numbers(sample[2][0])
        samples.append((tuple(locations[id] for id in reversed(numbers(sample[1][0]))), objects, size))
    return samples, strings


def stacks_of(tree):
    ways, stacks = {0: ()}, Counter()
    for i, node in enumerate(tree[1:], 1):
        ways[i] = ways[node["parent"]] + (node["name"],)
        if node["bytes"] != 0:
            stacks[ways[i], node["objects"], node["bytes"]] += 1
    return stacks


def check_stacks(pprof, folded, json_path):
    with open(json_path, encoding="utf-8") as f:
        stacks = stacks_of(json.load(f)["tree"])
    same("stacks of the profile", Counter(read_pprof(pprof)[0]), stacks)
    with open(folded, encoding="utf-8", errors="strict") as f:
        lines = [line.rstrip("\n").rpartition(" ") for line in f]
    same("folded stacks", Counter((tuple(line[0].split(";")), int(line[2])) for line in lines),
         Counter((way, size) for (way, objects, size), count in stacks.items() for _ in range(count)))


# ---- names ----

def check_names(folder):
    """The names are in names.bin, each with a zero byte behind it: as bytes, which may not be UTF-8."""
    with open(f"{folder}/names.bin", "rb") as f:
        names = [name for name in f.read().split(b"\0") if name]
    assert len(names) >= 5
    # A byte that is not UTF-8 becomes U+FFFD, one for each.
    valid = [name.decode("utf-8", "surrogateescape") for name in names]
    valid = ["".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in name) for name in valid]
    in_lines = ["".join(" " if c < " " or c in "\x7f\u2028\u2029" else c for c in name) for name in valid]
    for path in ("x.heapsnapshot", "x.json"):
        with open(f"{folder}/{path}", "rb") as f:
            data = f.read()
        if b"</" in data or b"<!" in data:
            print(f"{path}: a name can end a script")
    with open(f"{folder}/x.json", encoding="utf-8", errors="strict") as f:
        view = json.load(f)
    same("names in the JSON", sorted(group["name"] for group in view["groups"] if " bytes, " not in group["name"]), sorted(valid))
    heap = Heap(f"{folder}/x.heapsnapshot")
    same("names in the .heapsnapshot", sorted(set(valid) - set(heap.strings)), [])
    same("names in the profile", sorted(set(in_lines) - set(read_pprof(f"{folder}/x.pprof")[1])), [])
    with open(f"{folder}/x.folded", encoding="utf-8", errors="strict", newline="") as f:
        lines = f.read().split("\n")
    same("lines end once", lines.pop(), "")
    ends = [line.rpartition(" ")[0].split(";")[-1] for line in lines]
    same("names in lines", sorted(set(name.replace(";", " ") for name in in_lines) - set(ends)), [])


if __name__ == "__main__":
    {"heap": check_heap, "least": check_least, "stacks": check_stacks, "names": check_names}[sys.argv[1]](*sys.argv[2:])

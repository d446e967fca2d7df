#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of the parts that need no program: sequences made by hand, whose hits were counted by hand.  Run by bench/check/check_herrmann_tables."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("endo", "malloc", ""))]

from repeated import counting, predictor, refill                                         # noqa: E402


class First:
    """In place of chance: the first of several."""

    def choice(self, several):
        return several[0]


def without_chance():
    made = predictor.ContextPredictor()
    made.draw = First()
    return made


def news(*classes):
    return [(refill.NEW, size_class) for size_class in classes]


class TheContextPredictor(unittest.TestCase):
    def right(self, values):
        return predictor.count_right(values, without_chance())

    def test_nothing(self):
        self.assertEqual((self.right(""), predictor.share_right("")), (0, 0.0))

    def test_one_value_is_not_told(self):
        self.assertEqual(self.right("a"), 0)

    def test_a_constant_is_told_from_its_second_time_on(self):
        self.assertEqual(self.right("aaaa"), 3)

    def test_two_in_turn(self):
        """The third by chance, since both were there once; all others by their context."""
        self.assertEqual(self.right("ababab"), 4)

    def test_a_longer_context_is_better(self):
        """The value after b depends on the one before it: all of the second time are told but its first."""
        self.assertEqual(self.right("abcxbdabcxbd"), 5)

    def test_the_more_frequent_follower(self):
        """Contexts of one value: a is followed by b, b and c: told are the second b, and the third, which is not one."""
        made = predictor.ContextPredictor(longest=1)
        made.draw = First()
        for value in "abxabxacx":
            made.learn(value)
        made.learn("a")
        self.assertEqual(made.predict(), "b")

    def test_chance_draws_among_the_most_frequent(self):
        drawn = set()
        for seed in range(20):
            made = predictor.ContextPredictor(seed=seed)
            for value in "aabbc":
                made.learn(value)
            drawn.add(made.predict())
        self.assertEqual(drawn, {"a", "b"})

    def test_functions_apart_and_together(self):
        lines = predictor.read_arguments("sin 3ff0000000000000\ncos 0000000000000000\n" * 3)
        self.assertEqual({name: round(share) for name, share in predictor.shares(lines[::2] + lines[1::2]).items() if name != "all"},
                         {"sin": 67, "cos": 67})
        with self.assertRaises(ValueError):
            predictor.read_arguments("tan 3ff0000000000000\n")


class TheBins(unittest.TestCase):
    def figures(self, events, rule, period, *names):
        found = refill.simulate(events, rule(), period)
        return [round(found[name] * (1024 if name.endswith("_kb") else 1), 2) for name in names]

    def test_the_thesis_rule(self):
        """Misses 1 and 3 of 6; a second free finds no room, since the wish is 2."""
        events = news(4, 4, 4, 4) + [(refill.FREED, 4)] * 2 + news(4, 4)
        self.assertEqual(self.figures(events, refill.Thesis, 4, "hits", "made", "memory_kb", "peak_kb", "idle_kb"), [66.67, 833.33, 8, 32, 0])

    def test_the_thesis_rule_keeps_what_nobody_asks_for(self):
        self.assertEqual(self.figures(news(4, 4, 5, 5, 5, 5), refill.Thesis, 2, "hits", "idle_kb"), [50, 10.67])

    def test_a_wish_that_shrinks_gives_it_back(self):
        self.assertEqual(self.figures(news(4, 4, 5, 5, 5, 5), refill.Shrinking, 2, "hits", "idle_kb"), [50, 5.33])

    def test_the_average(self):
        """Misses 1, 3 and 6; made for them 3, and for the bin 1, 2 (two misses), 2 (an average of 1 and a miss) and 2 (1.75) at the end."""
        self.assertEqual(self.figures(news(*[4] * 8), refill.Ewma, 4, "hits", "made"), [62.5, 1250])

    def test_the_predictor_as_a_rule(self):
        self.assertEqual(self.figures(news(*[4] * 6), refill.Context, 2, "hits"), [83.33])

    def test_no_wish_is_above_the_greatest(self):
        rule = refill.Thesis()
        for _ in range(refill.GREATEST + 5):
            rule.missed(4)
        self.assertEqual((rule.room(4), rule.depth(4)), (10000, 5000))

    def test_a_recorded_file(self):
        def word(what, size_class, address):
            return what << 56 | size_class << 48 | address
        self.assertEqual(refill.read_words([word(1, 5, 0x1000), word(2, 0, 0x2000), word(2, 0, 0x1000), word(2, 0, 0x1000), 0, word(1, 4, 1)]),
                         [(refill.NEW, 5), (refill.FREED, 5)])

    def test_round_up(self):
        self.assertEqual([refill.round_up(n) for n in (0, 1, 2, 3, 4, 5)], [0, 1, 2, 4, 4, 8])


CALLGRIND = """events: Ir
ob=(1) /bin/program
fn=(1) main
1 1000
cob=(2) /lib/libc.so.6
cfn=(2) malloc
calls=2 0
1 300
cfn=(3) free
calls=1 0
1 50
fn=(3)
1 7
ob=(2)
fn=(4) calloc
1 20
cfn=(2)
calls=1 0
1 150
fn=(2)
1 450
ob=(1)
fn=(1)
1 100
cob=(2)
cfn=(4)
calls=1 0
1 170
fn=(5) free_all
1 10
ob=(3) /usr/libexec/valgrind/vgpreload_core.so
fn=(6) start
1 5000
"""


class WhatIsCounted(unittest.TestCase):
    def test_calls_of_the_family(self):
        """Work of malloc for calloc counts as calloc's, and valgrind's own as nobody's."""
        costs = counting.family_costs(CALLGRIND.splitlines(True))
        self.assertEqual(costs, {"malloc": 300, "realloc": 0, "calloc": 170, "free": 50})
        figures = counting.callgrind_figures(CALLGRIND.splitlines(True))
        self.assertEqual((figures["instructions"], figures["family"], round(figures["share"], 1)), (1587, 520, 32.8))

    def test_calls_through_the_linkers_code(self):
        """One by the program, one by calloc, each through a place of its own."""
        text = "".join(f"ob=(1) /bin/program\nfn=(1) {caller}\ncob=(2) ???\ncfn=({place}) 0x{place}\ncalls=1 0\n1 {cost}\n"
                       f"ob=(2)\nfn=({place})\ncob=(3) /lib/libc.so.6\ncfn=(4) malloc\ncalls=1 0\n1 {cost}\n"
                       for caller, place, cost in (("main", 5, 100), ("calloc", 6, 70))).replace("fn=(1) calloc", "fn=(7) calloc")
        self.assertEqual(counting.family_costs(text.splitlines(True))["malloc"], 100)

    def test_calls_by_the_library_itself(self):
        self.assertEqual(counting.family_costs(CALLGRIND.splitlines(True), "/elsewhere/program"), dict.fromkeys(counting.FUNCTIONS, 0))

    def test_names(self):
        names = ("malloc", "malloc'2", "__libc_malloc", "mi_malloc", "operator new(unsigned long)", "operator new[](unsigned long)", "_Znam",
                 "operator delete(void*)", "_ZdlPvm", "cfree", "mi_free", "__posix_memalign", "Perl_safesysmalloc", "free_all", "mallopt")
        self.assertEqual([counting.of_family(name) for name in names], ["malloc"] * 7 + ["free"] * 4 + ["malloc"] + [None] * 3)

    def test_the_model_gives_the_thesis_figures(self):
        """Its table A.3 has 3.62 for tonto, table 7.3 3.617; perlbench 3.47."""
        def cpi(instructions, reads, writes, l1, l3):
            return counting.model_figures({"Ir": instructions, "Dr": reads, "Dw": writes, "I1mr": 0, "D1mr": l1, "D1mw": 0, "ILmr": 0,
                                           "DLmr": l3, "DLmw": 0})["cpi"]
        self.assertEqual(round(cpi(2904560000000, 1199990000000, 436845000000, 34196723504, 926451704), 3), 3.617)
        self.assertEqual(round(cpi(410037000000, 140040000000, 89264105432, 3135406330, 41683188), 3), 3.469)

    def test_cachegrind(self):
        self.assertEqual(counting.cachegrind_counts(["desc: x\n", "events: Ir Dr\n", "fl=a\n", "summary: 12 5\n"]), {"Ir": 12, "Dr": 5})

    def test_perf(self):
        self.assertEqual(counting.perf_figures("# x\n\n30,,cycles:u,1,100.00,,\n20,,instructions:u,1,100.00,,\n")["cpi"], 1.5)
        self.assertEqual(counting.perf_figures("<not supported>,,cycles:u,0,100.00,,\n<not supported>,,instructions:u,0,100.00,,\n"), {})

    def test_moments(self):
        self.assertEqual(counting.moments([(0, 1), (1, 2), (2, 3), (3, 4)]), {"moment 1": 2, "moment 2": 3, "moment 3": 4, "mean": 3})
        self.assertEqual(counting.moments([(0.5, 8)])["mean"], 8)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
# The documents.

documents = \
	CONTRIBUTING.md \
	README.md \
	doc/README.md \
	doc/compatibility.md \
	doc/concurrent.md \
	doc/cpp.md \
	doc/debugging.md \
	doc/design/README.md \
	doc/theses.md \
	doc/design/concurrent-pace.md \
	doc/design/concurrent.md \
	doc/design/concurrent-marker.md \
	doc/design/cycle.md \
	doc/design/expiry.md \
	doc/design/fast-path.md \
	doc/design/debug.md \
	doc/design/finalization.md \
	doc/design/heap-mix.md \
	doc/design/heap.md \
	doc/design/kinds.md \
	doc/design/large-objects.md \
	doc/design/limits.md \
	doc/design/malloc.md \
	doc/design/marking.md \
	doc/design/pacing.md \
	doc/design/page-policy.md \
	doc/design/numa.md \
	doc/design/parallel-marking.md \
	doc/design/profile.md \
	doc/design/remote-free.md \
	doc/design/regions.md \
	doc/design/roots.md \
	doc/design/shared-pages.md \
	doc/design/shortterm.md \
	doc/design/simulator.md \
	doc/design/small-objects.md \
	doc/design/testing.md \
	doc/design/threads.md \
	doc/design/torture.md \
	doc/design/tour.md \
	doc/design/typed.md \
	doc/design/verify.md \
	doc/design/world.md \
	doc/design/written-pages.md \
	doc/journal/README.md \
	doc/journal/allocation-profile.md \
	doc/journal/assertions.md \
	doc/journal/check-long.md \
	doc/journal/concurrent.md \
	doc/journal/cuts.md \
	doc/journal/endo-model.md \
	doc/journal/endo.md \
	doc/journal/fast-path.md \
	doc/journal/heap.md \
	doc/journal/marking.md \
	doc/journal/marks-checked.md \
	doc/journal/names.md \
	doc/journal/pacing.md \
	doc/journal/parallel-marking.md \
	doc/journal/shortterm.md \
	doc/journal/perfmodel.md \
	doc/journal/simulator.md \
	doc/journal/snapshots.md \
	doc/journal/threads-and-roots.md \
	doc/journal/timeline.md \
	doc/installing.md \
	doc/libscm.md \
	doc/herrmann.md \
	doc/log-format.md \
	doc/malloc.md \
	doc/numa.md \
	doc/options.md \
	doc/pauses.md \
	doc/porting.md \
	doc/shortterm.md \
	doc/shortterm-porting.md \
	doc/sgc.gdb \
	doc/sgc-gdb.py \
	doc/sgc_gdb_commands.py \
	doc/sgc_gdb_heap.py \
	doc/sgc_gdb_why.py \
	doc/pictures/sgc-report.png \
	doc/profiling.md \
	doc/snapshot-format.md \
	doc/studies/endo.md \
	doc/studies/perfmodel.md \
	doc/threads-and-signals.md \
	doc/tracing.md \
	doc/troubleshooting.md

# They are installed as they lie here, so that the links from one to the other are good.
nobase_dist_doc_DATA = $(documents) bench/PROGRAMS.md bench/README.md bench/RESULTS.md bench/STUDIES.md bench/TABLES.md \
	bench/acdc/README.md bench/malloc/README.md bench/shortterm/README.md examples/wordindex/README.md perfmodel/README.md \
	snapshot/README.md tests/stress/README.md

dist_man_MANS = doc/man/sgc-machine.1 doc/man/sgc-pauses.1 doc/man/sgc-predict.1 doc/man/sgc-report.1 doc/man/sgc-run.1 doc/man/sgc-snapshot.1 doc/man/sgc-topo.1 doc/man/sgc.7

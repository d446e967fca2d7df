# SPDX-License-Identifier: MIT
# Tests of heap snapshots and of the performance model (perfmodel/local.mk).

# Heap snapshots, and who reads them.
snapshot_tests = \
	tests/api/test_snapshot \
	tests/unit/perfmodel/test_graph \
	tests/unit/perfmodel/test_reader
unit_tests += tests/unit/gc/snapshot/test_snapshot tests/unit/platform/test_out_file $(snapshot_tests)
thread_tests += tests/unit/gc/snapshot/test_snapshot
tests_api_test_snapshot_LDADD = libsgcgraph.la libsgccore.la
tests_unit_perfmodel_test_graph_LDADD = libsgcgraph.la libsgccore.la
tests_unit_perfmodel_test_reader_LDADD = libsgcgraph.la libsgccore.la
script_tests += tests/check/check_snapshot

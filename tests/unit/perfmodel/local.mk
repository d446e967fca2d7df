# SPDX-License-Identifier: MIT
# Tests of heap snapshots and of the performance model (perfmodel/local.mk).

# Heap snapshots, and who reads them.
snapshot_tests = \
	tests/api/test_snapshot \
	tests/api/test_snapshot_hook \
	tests/api/test_snapshot_procs \
	tests/unit/perfmodel/test_graph \
	tests/unit/perfmodel/test_reader
unit_tests += tests/unit/gc/snapshot/test_snapshot tests/unit/platform/test_out_file $(snapshot_tests)
thread_tests += tests/unit/gc/snapshot/test_snapshot tests/api/test_snapshot_procs tests/api/test_snapshot tests/api/test_snapshot_hook
test_headers += tests/api/snapshot.h
tests_api_test_snapshot_LDADD = libsgcgraph.la libsgccore.la
tests_api_test_snapshot_hook_LDADD = libsgcgraph.la libsgccore.la
tests_api_test_snapshot_procs_LDADD = libsgcgraph.la libsgccore.la
tests_unit_perfmodel_test_graph_LDADD = libsgcgraph.la libsgccore.la
tests_unit_perfmodel_test_reader_LDADD = libsgcgraph.la libsgccore.la
script_tests += tests/check/check_snapshot

# The performance model: machines, what is counted, predictions.
model_tests = \
	tests/unit/perfmodel/test_bench \
	tests/unit/perfmodel/test_cache_model \
	tests/unit/perfmodel/test_machine_file \
	tests/unit/perfmodel/test_predict \
	tests/unit/perfmodel/test_serial_mark \
	tests/unit/perfmodel/test_work
unit_tests += tests/unit/mark/test_contention_rules $(model_tests)
test_headers += tests/unit/perfmodel/model.h
script_tests += tests/check/check_predict
model_ldadd = libsgcmodel.la libsgccore.la
tests_unit_mark_test_contention_rules_LDADD = libsgccore.la -lm
tests_unit_perfmodel_test_bench_LDADD = $(model_ldadd)
tests_unit_perfmodel_test_cache_model_LDADD = $(model_ldadd)
tests_unit_perfmodel_test_machine_file_LDADD = $(model_ldadd)
tests_unit_perfmodel_test_predict_LDADD = $(model_ldadd)
tests_unit_perfmodel_test_serial_mark_LDADD = $(model_ldadd)
tests_unit_perfmodel_test_work_LDADD = $(model_ldadd)

# SPDX-License-Identifier: MIT
# The models of the protocols, for the checker spin.
model_scripts = \
	tests/model/check_brief \
	tests/model/check_cards \
	tests/model/check_concurrent \
	tests/model/check_dates \
	tests/model/check_deque \
	tests/model/check_flip \
	tests/model/check_gc_lock \
	tests/model/check_interruption \
	tests/model/check_phase \
	tests/model/check_remote \
	tests/model/check_stop \
	tests/model/check_suspend \
	tests/model/check_termination \
	tests/model/check_time
slow_scripts += $(model_scripts)
long_test_scripts += tests/model/check-models-long
EXTRA_DIST += \
	tests/model/brief.pml \
	tests/model/gc_lock.pml \
	tests/model/interruption.pml \
	tests/model/phase.pml \
	tests/model/phase_lead.pml \
	tests/model/phase_stops.pml \
	tests/model/phase_turn.pml \
	tests/model/remote.pml \
	tests/model/remote_protocol.pml \
	tests/model/search.sh \
	tests/model/stop.pml \
	tests/model/stop_stopper.pml \
	tests/model/stop_thread.pml

# A region's word.
model_scripts += tests/model/check_regions
EXTRA_DIST += tests/model/regions.pml

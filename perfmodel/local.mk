# SPDX-License-Identifier: MIT
# The performance model of marking.  Its parts stand apart from the library: see perfmodel/README.md.
EXTRA_DIST += perfmodel/README.md

include perfmodel/model/local.mk

# SPDX-License-Identifier: MIT
# The documents, for the distribution.

documents =

EXTRA_DIST += $(documents)
documents += doc/options.md doc/log-format.md

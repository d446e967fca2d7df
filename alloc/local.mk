# SPDX-License-Identifier: MIT
# The heap.

alloc_sources =

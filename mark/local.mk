# SPDX-License-Identifier: MIT
# Marking.

mark_sources =

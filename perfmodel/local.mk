# SPDX-License-Identifier: MIT
# The performance model of marking.

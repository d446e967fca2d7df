# SPDX-License-Identifier: MIT
"""The modules of sgc-report; tools/sgc-report.in is its front."""

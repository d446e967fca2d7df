# SPDX-License-Identifier: MIT
"""What sgc-pauses is made of; tools/sgc-pauses.in is its front."""

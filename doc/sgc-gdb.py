# SPDX-License-Identifier: MIT
"""Commands for gdb that need its Python, sgc types and sgc why ADDRESS: "source doc/sgc-gdb.py".  They only read memory, so they
answer on a stopped process and on a core dump.  The library must have been built with -g.  See doc/debugging.md."""
import os
import sys

folder, writes = os.path.dirname(os.path.abspath(__file__)), sys.dont_write_bytecode
sys.path.insert(0, folder)
sys.dont_write_bytecode = True          # it may be a folder of the system's
import sgc_gdb_commands
sys.dont_write_bytecode = writes
sys.path.remove(folder)

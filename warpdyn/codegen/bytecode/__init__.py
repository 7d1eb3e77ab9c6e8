"""Recorded programs as bytecode, and the interpreter that runs it while no kernel is compiled."""

"""The command line: one module a verb, each a thin skin over a function that Python users call too."""

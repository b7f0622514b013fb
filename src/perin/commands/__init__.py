"""The command line: one module per verb, each a thin skin over a function that Python users call too."""

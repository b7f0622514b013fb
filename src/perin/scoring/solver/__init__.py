"""The exact search for the correspondence of nodes that matches most items.

A :class:`~perin.scoring.solver.problem.Problem` is built from the features that two graphs share, weighed by a
metric's levels; :func:`~perin.scoring.solver.solve.solve` finds its best map and proves it.
"""

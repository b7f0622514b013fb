"""The exact search for the correspondence of nodes that matches most items.

An :class:`~perin.scoring.solver.problem.AssignmentProblem` is built from the features that two graphs share, weighed by
a metric's levels; :func:`~perin.scoring.solver.solve.solve` finds its best map and proves it.
"""

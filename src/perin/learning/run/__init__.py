"""A run: loop, schedule, checkpoints, journal, evaluation, report."""

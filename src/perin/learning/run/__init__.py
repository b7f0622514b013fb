"""A run: its folder, the loop, checkpoints, journal, evaluation, report."""

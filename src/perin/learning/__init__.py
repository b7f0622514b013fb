"""Matching, losses, loss balance, batches, schedule, trainer, checkpoints."""

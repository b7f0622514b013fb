"""The trained network in NumPy and C: what ``network`` computes in PyTorch, for parsing on a processor without it."""

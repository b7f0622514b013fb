"""Formats of meaning graphs, one module each; :mod:`perin.graphs.codecs.registry` finds them by name."""

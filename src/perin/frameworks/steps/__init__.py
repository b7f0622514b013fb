"""Reversible steps between a treebank's graphs and the simpler ones that the network learns, one file each."""

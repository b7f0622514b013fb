"""Corpora: a parser on any number of sentences, shard by shard, on one machine, several, or a Ray cluster.

    files -> plan (which lines are which shard) -> shards, each parsed by one process -> a file and a mark for each

A folder of shards is all the state there is: whoever runs the same command on it does what is missing.
"""

from __future__ import annotations

from perin.bulk.cluster import RayParser
from perin.bulk.corpus import parse_corpus
from perin.bulk.shards import Summary

__all__ = ["RayParser", "Summary", "parse_corpus"]

"""The kinds of words in SBN, told by their form."""

from __future__ import annotations

import re

CONCEPT = re.compile(r'[^\s"]\S*\.[a-z]\.[0-9]{1,3}')
SEPARATOR = re.compile(r"[A-Z]{4,}")
"""Relates boxes."""
ROLE = re.compile(r"[A-Z](?:[A-Za-z0-9-]*[a-z][A-Za-z0-9-]*|[A-Z0-9]{0,2})")
"""A role (it has a small letter) or an operator (three capitals)."""
CONCEPT_INDEX = re.compile(r"[-+][0-9]{1,4}")
SEPARATOR_INDEX = re.compile(r"([-+<>])([0-9]{1,4})")
POINTER = re.compile(r"([<>])([0-9]{1,4})")

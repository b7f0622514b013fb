"""Attributes that are computed when they are first needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """As in newer Pythons: without the lock that all objects share.

        Threads would wait for each other, and a process that is forked while one of them has the lock hangs.
        """

        def __init__(self, function: Any) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Once computed, the value in the instance's dictionary goes first."""
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["cached_property"]

"""What is computed or imported when it is first needed: attributes of objects, names of packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
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


def imported_on_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package that has some of its names only when they are used.

    ``homes`` has the module of each name; a package below it is a name whose home is the package itself.
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    return getattr_


__all__ = ["cached_property", "imported_on_use"]

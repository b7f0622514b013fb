"""Typed settings from TOML: dataclasses whose field texts are the reference manual.

A key that no dataclass has, a value of the wrong type, a value out of range: an error that names the key, before
anything starts.  Nothing here knows what the settings mean.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import json
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from perin.errors import UsageError

T = TypeVar("T")


def option(default: Any, text: str, *, check: Callable[[Any], bool] | None = None, must: str = "") -> Any:
    """A dataclass field with its explanation; ``check`` says whether a value is allowed, ``must`` what it has to be."""
    metadata = {"text": text, "check": check, "must": must}
    if isinstance(default, (list, dict)) or dataclasses.is_dataclass(default):
        raise TypeError("use section() or a tuple")
    return dataclasses.field(default=default, metadata=metadata)


def required(text: str) -> Any:
    """A dataclass field without a default, with its explanation."""
    return dataclasses.field(metadata={"text": text})


def section(kind: type, text: str) -> Any:
    """A nested dataclass, a TOML table."""
    return dataclasses.field(default_factory=kind, metadata={"text": text})


POSITIVE: dict[str, Any] = {"check": lambda value: value > 0, "must": "greater than 0"}
NOT_NEGATIVE: dict[str, Any] = {"check": lambda value: value >= 0, "must": "0 or greater"}
PROBABILITY: dict[str, Any] = {"check": lambda value: 0 <= value < 1, "must": "at least 0 and below 1"}


def build(kind: type[T], data: Mapping[str, Any], where: str = "") -> T:
    """A dataclass from parsed TOML; raises :class:`~perin.errors.UsageError` at the first thing that is wrong."""
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in data:
        if key not in fields:
            raise UsageError(f"unknown key {where}{key}{_nearest(key, fields)}")
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = _convert(hints[name], data[name], where + name)
            _check(field, values[name], where + name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise UsageError(f"missing key {where}{name} ({field.metadata['text']})")
    return kind(**values)


def override(data: Mapping[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Parsed TOML with ``key.key=value`` assignments applied; a value is TOML, or else taken as a string.

    >>> override({"a": {"b": 1}}, ["a.b=2", "a.name=small"])
    {'a': {'b': 2, 'name': 'small'}}
    """
    result: dict[str, Any] = _copied(data)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path.strip():
            raise UsageError(f"can't use {assignment!r}: an assignment looks like learning.epochs=20")
        *parents, last = path.strip().split(".")
        place: Any = result
        for parent in parents:
            place = _step(place, parent, path)
        if isinstance(place, list):
            place[_index(place, last, path)] = _value(text)
        else:
            place[last] = _value(text)
    return result


def explain(kind: type, where: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Key, type, default and explanation of each setting, nested ones after their table."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint, key = hints[field.name], where + field.name
        if dataclasses.is_dataclass(hint):
            yield f"[{key}]", "", "", field.metadata["text"]
            assert isinstance(hint, type)
            yield from explain(hint, key + ".")
        elif (item := _item_class(hint)) is not None:
            yield f"[[{key}]]", "", "", field.metadata["text"]
            yield from explain(item, key + ".")
        else:
            default = "required" if field.default is dataclasses.MISSING else value_text(field.default)
            yield key, _type_name(hint), default, field.metadata["text"]


def as_dict(settings: Any) -> dict[str, Any]:
    """All settings as plain values, for JSON and for TOML."""
    return {key: _plain(value) for key, value in dataclasses.asdict(settings).items()}


def as_toml(settings: Mapping[str, Any], where: str = "") -> str:
    """Plain settings as TOML; what is None, which TOML can't say, is left out.

    >>> print(as_toml({"name": "x", "seed": None, "learning": {"rates": [1, 2.5]}, "treebanks": [{"dev": True}]}))
    name = "x"
    <BLANKLINE>
    [learning]
    rates = [1, 2.5]
    <BLANKLINE>
    [[treebanks]]
    dev = true
    """
    lines, tables = [], []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            tables.append(f"\n[{where}{key}]\n{as_toml(value, f'{where}{key}.')}")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            tables += [f"\n[[{where}{key}]]\n{as_toml(item, f'{where}{key}.')}" for item in value]
        elif value is not None:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines + tables)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return _convert(next(argument for argument in arguments if argument is not type(None)), value, where)
    if origin is Literal:
        if value in arguments:
            return value
        raise UsageError(
            f"{where} must be one of {', '.join(map(str, arguments))}, not {value!r}{_nearest(value, arguments)}"
        )
    if origin is tuple:
        if isinstance(value, str) and arguments[0] is str:
            value = [value]
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"{where} must be a list, not {value!r}")
        return tuple(_convert(arguments[0], item, f"{where}.{index}") for index, item in enumerate(value))
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise UsageError(f"{where} must be a table, not {value!r}")
        assert isinstance(hint, type)
        return build(hint, value, where + ".")
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise UsageError(f"{where} must be {_type_name(hint)}, not {value!r}")
    return value


def _check(field: dataclasses.Field[Any], value: Any, where: str) -> None:
    check = field.metadata.get("check")
    if check is not None and value is not None and not check(value):
        raise UsageError(f"{where} must be {field.metadata['must']}, not {value!r}")


def _nearest(key: Any, known: Any) -> str:
    close = difflib.get_close_matches(str(key), [str(name) for name in known], n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are: {', '.join(map(str, known))}"


def _item_class(hint: Any) -> type | None:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and dataclasses.is_dataclass(arguments[0]):
        found = arguments[0]
        assert isinstance(found, type)
        return found
    return None


def _type_name(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " | ".join(map(str, arguments))
    if origin is tuple:
        return f"a list of {_type_name(arguments[0]).removeprefix('a ')}s"
    if origin in (typing.Union, types.UnionType):
        return _type_name(arguments[0])
    return names.get(hint, str(hint))


def value_text(value: Any) -> str:
    """A value as the reference manual shows it."""
    if value is None or value == ():
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _step(place: Any, key: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, key, path)]
    if not isinstance(place, dict):
        raise UsageError(f"can't set {path}: {key} is below a value that is no table")
    return place.setdefault(key, {})


def _index(place: list[Any], key: str, path: str) -> int:
    if not key.isdecimal() or int(key) >= len(place):
        raise UsageError(f"can't set {path}: {key} is no number from 0 to {len(place) - 1}")
    return int(key)


def _value(text: str) -> Any:
    toml = toml_module()
    try:
        return toml.loads(f"value = {text}")["value"]
    except toml.TOMLDecodeError:
        return text.strip()
    except RecursionError:
        raise UsageError(f"the value {text[:20]}… is nested too deeply") from None


def toml_module() -> Any:
    """The TOML reader of the standard library, or on Python 3.10 the package that it came from."""
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

"""Fields of configuration classes that carry their explanation and their limits with them."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from draughts_env.errors import DraughtsError


class OptionError(DraughtsError, ValueError):
    """A configuration with an unknown name, a wrong type or a value out of range; the message names it."""


def option(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """A dataclass field with its explanation.

    Args:
        default: its value when nothing else is said.
        help: what it does, in one line.
        minimum, maximum: limits of a number, themselves allowed.
        above: limit of a number, itself not allowed.
        choices: the only values allowed.
    """
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "above": above, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


def check_options(config: Any, prefix: str) -> None:
    """Check types and limits of a configuration object's fields, those of fields that are configurations too.

    Raises:
        OptionError: the first field that is wrong, named with ``prefix``.
    """
    hints = typing.get_type_hints(type(config))
    for field in dataclasses.fields(config):
        name = f"{prefix}.{field.name}" if prefix else field.name
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            check_options(value, name)
            continue
        if not _fits(value, hints[field.name]):
            raise OptionError(f"{name} must be {type_name(hints[field.name])}, not {value!r}")
        if isinstance(value, list):
            for i, entry in enumerate(value):
                if dataclasses.is_dataclass(entry):
                    check_options(entry, f"{name}[{i}]")
        rules = field.metadata
        if value is None or "choices" not in rules:  # not made by option()
            continue
        if rules["choices"] is not None and value not in rules["choices"]:
            raise OptionError(f"{name} must be one of {', '.join(rules['choices'])}, not {value!r}")
        for limit, words, wrong in (
            ("minimum", "at least", lambda v, x: not v >= x),
            ("maximum", "at most", lambda v, x: not v <= x),
            ("above", "greater than", lambda v, x: not v > x),
        ):
            if rules[limit] is not None and wrong(value, rules[limit]):
                raise OptionError(f"{name} must be {words} {rules[limit]}, not {value!r}")
        if isinstance(value, float) and not math.isfinite(value):
            raise OptionError(f"{name} must be a finite number, not {value!r}")


def _fits(value: Any, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, k) for k in typing.get_args(kind))
    if origin is list:
        return isinstance(value, list) and all(_fits(v, typing.get_args(kind)[0]) for v in value)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def type_name(kind: Any) -> str:
    """A field's type in words a user reads: ``a whole number or null``."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(k) for k in typing.get_args(kind))
    if origin is list:
        return "a list"
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text", type(None): "null"}
    return words.get(kind, "a group of options")


def walk_options(cls: type, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every option of a configuration class and of the classes inside it: dotted name, type, explanation."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        name = f"{prefix}.{field.name}" if prefix else field.name
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            yield from walk_options(typing.cast(type, kind), name)
        else:
            yield name, kind, field.metadata.get("help", "")

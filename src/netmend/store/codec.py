"""Codec: frozen dataclasses to JSON and back, driven by type hints. Nothing is ever unpickled.

Reading is forgiving where a later minor version may differ (unknown fields are ignored, missing ones take their
default) and strict otherwise, so that a damaged file is noticed instead of giving odd values.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Data = TypeVar("Data")
Decoder = Callable[[Any], Any]

FLOAT_MARK = "$float"  # {"$float": "NaN"}: a number that JSON cannot hold
DEEPEST = 50  # settings are flat; anything deeper is a mistake or a cycle
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class CodecError(ValueError):
    """JSON that does not fit the class it should become."""


def special_name(value: float) -> str:
    """The name of a non-finite number."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def encode(value: Any, depth: int = 0) -> Any:
    """Plain JSON values. What JSON does not know (a dtype, a path, a cycle) becomes its text: writing must not fail."""
    if depth > DEEPEST:
        return text_of(value)
    inner = depth + 1
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {FLOAT_MARK: special_name(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: encode(getattr(value, item.name), inner) for item in fields(value)}
    if isinstance(value, Mapping):
        return {text_of(key): encode(item, inner) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item, inner) for item in value]
    if isinstance(value, (set, frozenset)):
        return [encode(item, inner) for item in sorted(value, key=text_of)]
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:  # a numpy scalar
        return encode(value.item(), inner)
    return text_of(value)


def text_of(value: Any) -> str:
    """The text of a user's object, whose own code may be at fault."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - foreign code may raise anything, and a fact must still be written
        return f"<{type(value).__name__}>"


def to_json(value: Any) -> str:
    return json.dumps(encode(value), separators=(",", ":"), allow_nan=False)


def from_json(cls: type[Data], text: str) -> Data:
    """The dataclass that `to_json` wrote; CodecError when the text does not fit."""
    try:
        return cast(Data, decoder_of(cast(Any, cls))(json.loads(text)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise CodecError(f"not JSON: {error}") from error


@cache
def decoder_of(hint: Any) -> Decoder:
    """The function that turns plain JSON values into values of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return free
    if hint is float:
        return number
    if hint in (int, str, bool):
        return lambda value: scalar(hint, value)
    if origin in (Union, types.UnionType):
        return optional(arguments)
    if origin is tuple:
        return sequence(arguments)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return mapping(decoder_of(arguments[1]))
    if is_dataclass(hint) and isinstance(hint, type):
        return record(hint)
    raise TypeError(f"the codec does not know the type {hint!r}")


def free(value: Any) -> Any:
    """A value of type Any: arrays become tuples, since facts are frozen."""
    if isinstance(value, list):
        return tuple(free(item) for item in value)
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(name := value.get(FLOAT_MARK), str) and name in SPECIAL:
            return SPECIAL[name]
        return {key: free(item) for key, item in value.items()}
    return value


def number(value: Any) -> float:
    plain = free(value) if isinstance(value, dict) else value
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise CodecError(f"a number was expected, not {value!r:.40}")
    try:
        return float(plain)
    except OverflowError as error:
        raise CodecError(f"a number is too large: {value!r:.40}") from error


def scalar(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:
        raise CodecError(f"{kind.__name__} was expected, not {value!r:.40}")
    return value


def optional(arguments: tuple[Any, ...]) -> Decoder:
    decoders = [decoder_of(argument) for argument in arguments if argument is not type(None)]
    if len(decoders) != 1:
        raise TypeError(f"the codec knows unions with None only, not {arguments!r}")
    return lambda value: None if value is None else decoders[0](value)


def sequence(arguments: tuple[Any, ...]) -> Decoder:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        each = decoder_of(arguments[0])
        return lambda value: tuple(map(each, scalar(list, value)))
    decoders = [decoder_of(argument) for argument in arguments]

    def decode(value: Any) -> Any:
        if len(scalar(list, value)) != len(decoders):
            raise CodecError(f"{len(decoders)} values were expected, not {len(value)}")
        return tuple(one(item) for one, item in zip(decoders, value, strict=True))

    return decode


def mapping(each: Decoder) -> Decoder:
    return lambda value: {key: each(item) for key, item in scalar(dict, value).items()}


def record(cls: type[Any]) -> Decoder:
    hints = get_type_hints(cls)
    decoders = {item.name: decoder_of(hints[item.name]) for item in fields(cls)}
    required = [
        item.name for item in fields(cls) if item.default is MISSING and item.default_factory is MISSING
    ]

    def decode(value: Any) -> Any:
        known = {key: item for key, item in scalar(dict, value).items() if key in decoders}
        for name in required:
            if name not in known:
                raise CodecError(f"{cls.__name__} has no {name!r}")
        return cls(**{key: decoders[key](item) for key, item in known.items()})

    return decode

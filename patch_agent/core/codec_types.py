"""Encoders and decoders made once from the type hints of frozen dataclasses."""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from patch_agent.core.messages import Json

Encoder = Callable[[Any], Json]
Decoder = Callable[[Json], Any]


def encoder_of(hint: Any) -> Encoder:
    """Value of this type -> JSON value."""
    if is_dataclass(hint):
        return _dataclass_encoder(hint, tagged=False)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        item = encoder_of(arguments[0])
        return lambda value: [item(part) for part in value]
    if _is_mapping(origin):
        item = encoder_of(arguments[1])
        return lambda value: {key: item(part) for key, part in value.items()}
    if _is_union(origin):
        return _union_encoder(arguments)
    return lambda value: value


def decoder_of(hint: Any) -> Decoder:
    """JSON value -> value of this type."""
    if is_dataclass(hint):
        return _dataclass_decoder(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _tuple_decoder(arguments)
    if _is_mapping(origin):
        item = decoder_of(arguments[1])
        return lambda value: {key: item(part) for key, part in value.items()}
    if _is_union(origin):
        return _union_decoder(arguments)
    if hint is float:
        return lambda value: float(value) if isinstance(value, int) else value
    return lambda value: value


def _is_mapping(origin: Any) -> bool:
    return origin is dict or origin is Mapping or origin is typing.Mapping


def _is_union(origin: Any) -> bool:
    return origin in (Union, types.UnionType)


def _tuple_decoder(arguments: tuple[Any, ...]) -> Decoder:
    item = decoder_of(arguments[0])
    return lambda value: tuple(item(part) for part in value)


def _dataclass_encoder(kind: Any, tagged: bool) -> Encoder:
    hints = get_type_hints(kind)
    parts = [(field.name, encoder_of(hints[field.name])) for field in fields(kind)]
    name = kind.__name__

    def encode(value: Any) -> Json:
        body = {key: part(getattr(value, key)) for key, part in parts}
        if tagged:
            body["type"] = name
        return body

    return encode


def _dataclass_decoder(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    parts = [
        (field.name, decoder_of(hints[field.name]), _has_default(field)) for field in fields(kind)
    ]

    def decode(value: Json) -> Any:
        given = {}
        for key, part, optional in parts:
            if key in value:
                given[key] = part(value[key])
            elif not optional:
                raise ValueError(f"{kind.__name__}: {key} is missing")
        return kind(**given)

    return decode


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _union_encoder(arguments: tuple[Any, ...]) -> Encoder:
    kinds = [kind for kind in arguments if is_dataclass(kind)]
    if kinds:
        tagged = {kind: _dataclass_encoder(kind, tagged=True) for kind in kinds}
        return lambda value: None if value is None else tagged[type(value)](value)
    others = [hint for hint in arguments if hint is not type(None)]
    inner = encoder_of(others[0]) if len(others) == 1 else lambda value: value
    return lambda value: None if value is None else inner(value)


def _union_decoder(arguments: tuple[Any, ...]) -> Decoder:
    kinds = {
        kind.__name__: decoder_of(kind)
        for kind in arguments
        if isinstance(kind, type) and is_dataclass(kind)
    }
    if kinds:
        return lambda value: None if value is None else kinds[value["type"]](value)
    others = [hint for hint in arguments if hint is not type(None)]
    inner: Decoder = decoder_of(others[0]) if len(others) == 1 else lambda value: value
    return lambda value: None if value is None else inner(value)

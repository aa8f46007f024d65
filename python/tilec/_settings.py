"""Settings of ops: objects of Python as the words that the library takes, `axes=(0, 2)` as 0,2."""
from __future__ import annotations

from typing import Any

from ._numbers import is_integer
from ._operands import as_number, full_name, is_number
from .dtypes import DType, dtype_of


def word_of(name: str, value: Any, kind: str | None = None) -> str:
    """The word for a value of a setting, whose kind is known where the op is described. Texts are words already, and what is wrong with
    one is for the library to say. TypeError for objects of another type."""
    if isinstance(value, str) and kind != "dtype":
        return value
    return _WORDS[kind](name, value)


def _expected(name: str, value: Any, what: str) -> TypeError:
    return TypeError(f"{name}={value!r}: {what} expected, got a {full_name(value)}")


def _integer(name: str, value: Any) -> str:
    if not is_integer(value):
        raise _expected(name, value, "an integer is")
    return str(value.__index__())


def _number(name: str, value: Any) -> str:
    if not is_number(value):
        raise _expected(name, value, "a number is")
    number = as_number(value)
    return repr(int(number) if isinstance(number, bool) else number)


def _flag(name: str, value: Any) -> str:
    number = as_number(value) if is_number(value) else None
    if number not in (0, 1):
        raise _expected(name, value, "True or False is")
    return str(int(number))


def _dtype(name: str, value: Any) -> str:
    return dtype_of(value, name).name


def _integers(name: str, value: Any) -> str:
    if is_integer(value):
        return _integer(name, value)
    if not hasattr(value, "__iter__"):
        raise _expected(name, value, "an integer or a sequence of them is")
    return ",".join(_integer(name, one) for one in value)


def _text(name: str, value: Any) -> str:
    raise _expected(name, value, "a text is")


def _any(name: str, value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if is_number(value):
        return _number(name, value)
    if hasattr(value, "__iter__"):
        return ",".join(word_of(name, one) for one in value)
    raise _expected(name, value, "a number, a dtype, a text or a sequence of them is")


_WORDS = {None: _any, "integer": _integer, "number": _number, "flag": _flag, "dtype": _dtype, "integers": _integers, "text": _text}

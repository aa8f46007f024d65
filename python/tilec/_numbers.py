"""Integers of Python and NumPy, held to what the C API takes: none is cut."""
from __future__ import annotations

import operator
from typing import Any


def is_integer(value: Any) -> bool:
    """Whether it is one integer: of Python or NumPy, but no bool, which is a mistake where a number is asked for."""
    if isinstance(value, bool) or getattr(value, "ndim", 0) or not hasattr(value, "__index__"):
        return False
    if getattr(getattr(value, "dtype", None), "kind", "") == "b":  # a bool of NumPy
        return False
    try:
        operator.index(value)
    except TypeError:  # an array of one real
        return False
    return True


def integer(value: Any, name: str, bits: int = 64) -> int:
    """The integer, for messages under its name. TypeError for what is none, OverflowError beyond the signed integers of so many bits."""
    if not is_integer(value):
        raise TypeError(f"{name}: an integer is expected, got {value!r}")
    number = operator.index(value)
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise OverflowError(f"{name}={number} is beyond {bits} bits")
    return number


def address(value: Any, name: str) -> int:
    """A handle of another library, as a number of 64 bits without a sign."""
    if not is_integer(value):
        raise TypeError(f"{name}: an address is expected, got {value!r}")
    number = operator.index(value)
    if not 0 <= number < 2**64:
        raise OverflowError(f"{name}={number} is no address of 64 bits")
    return number


def dimension(value: Any, rank: int, name: str = "dimension") -> int:
    """A dimension counted from the first; negative ones count from the last. IndexError for one that there is not."""
    if not is_integer(value):
        raise TypeError(f"{name}: an integer is expected, got {value!r}")
    number = operator.index(value)
    if not -rank <= number < rank:
        raise IndexError(f"{name} {number} is none of a tensor of rank {rank}")
    return number % rank


def listed(values: tuple) -> tuple:
    """The arguments of a call such as f(2, 3), which may be one sequence: f((2, 3))."""
    if len(values) == 1 and not is_integer(values[0]) and hasattr(values[0], "__iter__") and not isinstance(values[0], (str, bytes)):
        return tuple(values[0])
    return tuple(values)

"""Calls of the C API that raise its errors, and objects that own a handle.

An object releases its handle when it is collected, closed or, at the latest, when the interpreter ends; the order does not matter,
since the library keeps what a handle needs. A process that was forked releases nothing: the threads of the library are not in it.
"""
from __future__ import annotations

import ctypes
import operator
import os
import sys
import weakref
from typing import Any, TypeVar

from . import _abi
from .errors import Error, last_error

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


_files: dict[str, bytes | None] = {}  # names of source files for the C API, by themselves; None for those of this package


def _file_of(name):
    file = _files[name] = None if name.startswith(_PACKAGE) else os.fsencode(name)
    return file


def _line() -> tuple[bytes, int] | None:
    """The line outside of this package that calls it, or None."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        file = _files[name] if name in _files else _file_of(name)
        if file is not None:
            return file, frame.f_lineno
        frame = frame.f_back
    return None


def refused(message: str, code: str = "InvalidArgument", status: int = _abi.INVALID_ARGUMENT) -> Error:
    """An Error of the caller's line, for what this package refuses itself."""
    file, line = _line() or (b"", 0)
    place = f"{os.fsdecode(file)}:{line}: " if line else ""
    return Error(f"{place}error: {message}", code=code, status=status, message=message, file=os.fsdecode(file), line=line, fault="user")


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the C API, for which errors and reports name the caller's line; raises Error unless it succeeds."""
    line = _line()
    if line:
        _abi.library.tile_at(*line)
    status = function(*arguments)
    if status:
        raise last_error(status)


def made(function: Any, *arguments: Any) -> Any:
    """The handle that a function writes through its last parameter."""
    handle = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(handle))
    return handle.value


def require_compiler(what: str) -> None:
    if not _abi.has_compiler:
        raise Error(f"{what} need the compiler, which {_abi.library_name} has not: set TILE_LIBRARY to the path of libtile.so",
                    code="Unsupported", status=_abi.UNSUPPORTED, fault="user")


def encoded(text: Any) -> bytes:
    """A text for the C API. ValueError for one with a zero in it, where it would end."""
    given = os.fsencode(text)
    if b"\0" in given:
        raise ValueError(f"{text!r} has a zero in it")
    return given


def int64s(values: Any) -> Any:
    """An array of these integers. TypeError for what is no integer, OverflowError beyond 64 bits."""
    numbers = [operator.index(value) for value in values]
    for number in numbers:
        if not -2**63 <= number < 2**63:
            raise OverflowError(f"{number} is beyond 64 bits")
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _release(function, handle, process, words):
    if words:
        words.clear()
    if os.getpid() == process:
        function(handle)


Own = TypeVar("Own", bound="Handle")


class Handle:
    """What owns a handle. A context manager: leaving it closes it."""

    _release_function: str  # the name of a function of the C API
    __slots__ = ("_handle", "_finalizer", "__weakref__")

    def __init__(self, handle: int, words: list | None = None) -> None:
        """`words` are a list that is emptied when the handle is released."""
        self._handle = handle
        function = getattr(_abi.library, self._release_function)
        self._finalizer = weakref.finalize(self, _release, function, handle, os.getpid(), words)

    def close(self) -> None:
        """Releases it now. What is called with it later is an Error; closing it again does nothing."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        return not self._finalizer.alive

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __copy__(self):
        raise TypeError(f"a {type(self).__name__} is not copied: hand on the object")

    def __reduce_ex__(self, _):
        raise TypeError(f"a {type(self).__name__} belongs to its process and cannot be pickled")

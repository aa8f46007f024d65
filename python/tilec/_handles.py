"""Calls of the C API that raise its errors, and objects that own a handle.

An object releases its handle when it is collected, closed or, at the latest, when the interpreter ends; the order does not matter,
since the library keeps what a handle needs. A process that was forked releases nothing: the threads of the library are not in it.
"""
import ctypes
import operator
import os
import sys
import weakref

from . import _abi
from .errors import Error, last_error

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


_files = {}  # names of source files for the C API, by themselves; None for those of this package


def _file_of(name):
    file = _files[name] = None if name.startswith(_PACKAGE) else os.fsencode(name)
    return file


def _tell_line():
    """Errors and reports of this thread name the line outside of this package that calls it."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        file = _files[name] if name in _files else _file_of(name)
        if file is not None:
            _abi.library.tile_at(file, frame.f_lineno)
            return
        frame = frame.f_back


def call(function, *arguments):
    """Calls a function of the C API; raises Error unless it succeeds."""
    _tell_line()
    status = function(*arguments)
    if status:
        raise last_error(status)


def made(function, *arguments):
    """The handle that a function writes through its last parameter."""
    handle = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(handle))
    return handle.value


def require_compiler(what):
    if not _abi.has_compiler:
        raise Error(f"{what} need the compiler, which {_abi.library_name} has not: set TILE_LIBRARY to the path of libtile.so",
                    code="Unsupported", status=_abi.UNSUPPORTED, fault="user")


def encoded(text):
    """A text for the C API. ValueError for one with a zero in it, where it would end."""
    given = os.fsencode(text)
    if b"\0" in given:
        raise ValueError(f"{text!r} has a zero in it")
    return given


def int64s(values):
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


class Handle:
    """What owns a handle. A context manager: leaving it closes it."""

    _release_function = None  # the name of a function of the C API
    __slots__ = ("_handle", "_finalizer", "__weakref__")

    def __init__(self, handle, words=None):
        """`words` are a list that is emptied when the handle is released."""
        self._handle = handle
        function = getattr(_abi.library, self._release_function)
        self._finalizer = weakref.finalize(self, _release, function, handle, os.getpid(), words)

    def close(self):
        """Releases it now. What is called with it later is an Error; closing it again does nothing."""
        self._finalizer()

    @property
    def closed(self):
        return not self._finalizer.alive

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __copy__(self):
        raise TypeError(f"a {type(self).__name__} is not copied: hand on the object")

    def __reduce_ex__(self, _):
        raise TypeError(f"a {type(self).__name__} belongs to its process and cannot be pickled")

"""Kernels that `tilec aot` has compiled ahead of time (docs/aot.md). They need no compiler."""
from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _abi
from ._handles import Handle, call, encoded, made
from .arguments import parameter, words_of
from .device import Device, Stream, stream_handle


class Archive(Handle):
    """The functions that one run of `tilec aot` has compiled: NAME.tilekernels."""

    _release_function = "tile_archive_release"
    __slots__ = ()

    def __init__(self, path: str | os.PathLike) -> None:
        super().__init__(made(_abi.library.tile_archive_open, encoded(path)))

    @classmethod
    def read(cls, content: bytes, source: str = "<bytes>") -> Archive:
        """The same from bytes in memory, which messages call `source`."""
        content = bytes(content)
        archive = cls.__new__(cls)
        Handle.__init__(archive, made(_abi.library.tile_archive_read, content, len(content), encoded(source)))
        return archive

    @property
    def names(self) -> list[str]:
        """The names of its functions."""
        count = ctypes.c_size_t()
        call(_abi.library.tile_archive_function_count, self._handle, ctypes.byref(count))
        return [Function(made(_abi.library.tile_archive_function_at, self._handle, index)).name for index in range(count.value)]

    def function(self, name: str) -> Function:
        """The function of a name."""
        return Function(made(_abi.library.tile_archive_function, self._handle, encoded(name)))


class Function(Handle):
    """A kernel with its constants, compiled for some GPUs; from Archive.function(). Calling it launches it:

        scale(stream, x, y, 0.5)
    """

    _release_function = "tile_function_release"
    __slots__ = ("name", "targets", "parameters", "constants")

    def __init__(self, handle: int) -> None:
        super().__init__(handle)
        info = _abi.FunctionDescription()
        call(_abi.library.tile_function_info, handle, ctypes.byref(info))
        self.name, self.targets = info.name.decode(), info.targets.decode().split(", ")
        self.parameters = [parameter(_abi.library.tile_function_parameter, handle, index) for index in range(info.parameters)]
        self.constants = dict(self._constant(index) for index in range(info.constants))

    def _constant(self, index: int) -> tuple[str, int]:
        name, value = ctypes.c_char_p(), ctypes.c_int64()
        call(_abi.library.tile_function_constant, self._handle, index, ctypes.byref(name), ctypes.byref(value))
        return name.value.decode(), value.value

    def __call__(self, stream: Stream, *arguments: Any) -> None:
        """Launches on the stream: tensors and numbers, one for each parameter."""
        call(_abi.library.tile_function_launch, self._handle, stream_handle(stream), words_of(arguments), len(arguments))

    def prepare(self, device: Device) -> None:
        """Loads all that calls on this device may need: at start-up, or before a graph is captured."""
        if not isinstance(device, Device):
            raise TypeError(f"a tilec.Device is expected, got a {type(device).__name__}")
        call(_abi.library.tile_function_prepare, self._handle, device._handle)

    def __repr__(self) -> str:
        return f"<tilec.Function {self.name}({', '.join(parameter.name for parameter in self.parameters)})>"

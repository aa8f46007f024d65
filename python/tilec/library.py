"""Kernels of the language in a shared library."""
from __future__ import annotations

import ctypes
import operator
import os
from typing import Any

from . import _abi
from ._handles import Handle, call, encoded, made, require_compiler
from .arguments import parameter, words_of
from .device import Device, Stream, stream_handle

_MOST_OPTIONS = 256  # that a kernel remembers


class Library(Handle):
    """A library of kernels, compiled from C++ against libtile.so. Its code stays in the process."""

    _release_function = "tile_library_release"
    __slots__ = ()

    def __init__(self, path: str | os.PathLike) -> None:
        require_compiler("libraries of kernels")
        super().__init__(made(_abi.library.tile_library_open, encoded(path)))

    @property
    def names(self) -> list[str]:
        """The names of its kernels."""
        count = ctypes.c_size_t()
        call(_abi.library.tile_library_kernel_count, self._handle, ctypes.byref(count))
        return [Kernel(made(_abi.library.tile_library_kernel_at, self._handle, index)).name for index in range(count.value)]

    def kernel(self, name: str) -> Kernel:
        """The kernel of a name."""
        return Kernel(made(_abi.library.tile_library_kernel, self._handle, encoded(name)))


class Kernel(Handle):
    """A kernel; from Library.kernel(). Calling it launches it.

        scale(stream, x, y, 0.5, B=1024, warps=4)

    The arguments are tensors and numbers, one for each parameter that is no constant. Constants are given by name; those that are
    tuned may be left out. Settings of a launch: `grid`, `warps`, `max_registers`, `occupancy`, `fp_fusion`, `ftz`, `checked`, `assume`,
    which mean what they mean in include/tile/Kernel.h. A constant of such a name is given in `constants={...}`."""

    _release_function = "tile_kernel_release"
    __slots__ = ("name", "file", "line", "is_tuned", "parameters", "_options")

    def __init__(self, handle: int) -> None:
        super().__init__(handle)
        info = _abi.KernelDescription()
        call(_abi.library.tile_kernel_info, handle, ctypes.byref(info))
        self.name, self.file, self.line = info.name.decode(), info.file.decode(), info.line
        self.is_tuned = bool(info.is_tuned)
        self._options: dict[tuple, Any] = {}  # of calls so far, by what they were given
        self.parameters = [parameter(_abi.library.tile_kernel_parameter, handle, index) for index in range(info.parameters)]

    def __call__(self, stream: Stream, *arguments: Any, **settings: Any) -> None:
        """Launches on the stream; compiles on first use."""
        call(_abi.library.tile_kernel_launch, self._handle, stream_handle(stream), self._options_of(settings),
             words_of(arguments), len(arguments))

    def prepare(self, place: Device | Stream, *arguments: Any, **settings: Any) -> None:
        """Compiles and loads what such a call needs, without launching: on a device, or on a stream, whose options count."""
        if isinstance(place, Stream):
            function, handle = _abi.library.tile_kernel_prepare_for, stream_handle(place)
        elif isinstance(place, Device):
            function, handle = _abi.library.tile_kernel_prepare, place._handle
        else:
            raise TypeError(f"a tilec.Device or tilec.Stream is expected, got a {type(place).__name__}")
        call(function, self._handle, handle, self._options_of(settings), words_of(arguments), len(arguments))

    def _options_of(self, settings: dict[str, Any]) -> Any:
        key = tuple(settings.items())
        try:
            known = self._options.get(key)
        except TypeError:  # of settings such as lists
            return ctypes.byref(_options(**settings))
        if known is None:
            if len(self._options) >= _MOST_OPTIONS:
                self._options.clear()
            known = self._options[key] = ctypes.byref(_options(**settings))
        return known

    def __repr__(self) -> str:
        return f"<tilec.Kernel {self.name}({', '.join(parameter.name for parameter in self.parameters)})>"


def _within(bits: int, name: str, value: Any) -> int:
    number = operator.index(value)
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise OverflowError(f"{name}={value} is beyond {bits} bits")
    return number


def _options(*, grid: Any = None, warps: int = 0, max_registers: int = 0, occupancy: int = 0, fp_fusion: bool = True, ftz: bool = False,
             checked: bool = False, assume: bool = True, constants: dict[str, int] | None = None, **named: int) -> _abi.LaunchOptions:
    options = _abi.LaunchOptions()
    values = {**named, **(constants or {})}
    options.constants = (_abi.Constant * len(values))(*(
        _abi.Constant(encoded(name), _within(64, name, value)) for name, value in values.items()))
    options.constant_count = len(values)
    options.warps = _within(32, "warps", warps)
    options.max_registers = _within(32, "max_registers", max_registers)
    options.occupancy = _within(32, "occupancy", occupancy)
    options.flags = ((not fp_fusion) * _abi.NO_FP_FUSION | bool(ftz) * _abi.FLUSH_DENORMALS | bool(checked) * _abi.CHECKED |
                     (not assume) * _abi.NO_ASSUME)
    if grid is not None:
        extents = (grid,) if hasattr(grid, "__index__") else tuple(grid)
        if not 1 <= len(extents) <= 3:
            raise ValueError(f"a grid has 1 to 3 extents, got {len(extents)}")
        for axis in range(3):
            options.grid[axis] = _within(64, "grid", extents[axis]) if axis < len(extents) else 1
    return options

"""Tensors: memory of a device with a shape and strides."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import _abi, dlpack
from ._copies import Copies
from ._elements import Elements
from ._handles import Handle, call, made
from ._operators import Operators
from ._printing import represented
from ._signatures import is_op, op_names
from ._suggest import did_you_mean, remedy
from ._views import Views
from .device import Device, Stream, default_stream, stream_handle
from .dtypes import DType, to_numpy


class Tensor(Handle, Views, Elements, Operators, Copies):
    """Memory of a device. Views (x[2:8], x.T, x.reshape(...)) share it and keep it. Made by tilec.empty, zeros, full, tensor, from_numpy
    and from_dlpack, and by ops."""

    _release_function = "tile_tensor_release"
    __slots__ = ("_layout", "_words")
    __array_priority__ = 1000  # operators with arrays of NumPy are ours

    def __init__(self, handle: int) -> None:
        self._words = []  # what a launch takes for it, in bytes, until it is released
        super().__init__(handle, self._words)
        self._layout = _abi.TensorLayout()
        call(_abi.library.tile_tensor_info, handle, _abi.ctypes.byref(self._layout))
        argument = _abi.Argument()
        call(_abi.library.tile_tensor_argument, handle, _abi.ctypes.byref(argument))
        self._words.append(bytes(argument))

    def _view(self, handle: int) -> Tensor:
        return Tensor(handle)

    # --- What it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._layout.shape[:self._layout.rank])

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements, unlike NumPy's."""
        return tuple(self._layout.strides[:self._layout.rank])

    @property
    def ndim(self) -> int:
        return self._layout.rank

    @property
    def dtype(self) -> DType:
        return DType(self._layout.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._layout.elements

    def numel(self) -> int:
        """The number of elements."""
        return self.size

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """What the elements take without gaps."""
        return self._layout.bytes

    @property
    def is_contiguous(self) -> bool:
        """Row-major without gaps."""
        return bool(self._layout.is_contiguous)

    @property
    def data_ptr(self) -> int:
        """The address of the first element in the device's memory."""
        return self._layout.data or 0

    @property
    def device(self) -> Device:
        return Device._of(made(_abi.library.tile_tensor_device, self._handle))

    def _default_stream(self) -> Stream:
        return default_stream(self._layout.device, lambda: self.device)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Ops are methods of their first input: x.relu(), x.softmax(dim=0)."""
        from . import ops
        if name.startswith("_"):  # what others look for; hints would take time
            raise AttributeError(f"a tilec.Tensor has no '{name}'")
        if is_op(name):
            return functools.partial(getattr(ops, name), self)
        own = [known for known in dir(type(self)) if not known.startswith("_")]
        hint = remedy(name) or did_you_mean(name, [*own, *op_names()])
        raise AttributeError(f"a tilec.Tensor has no '{name}'{': ' + hint if hint else ''}")

    # --- Copies ---

    def numpy(self, stream: Stream | None = None, raw: bool = False) -> Any:
        """A copy of the elements as a NumPy array. It waits for the stream that writes them, without one for the whole device. With
        `raw` elements that NumPy does not have (bf16, e4m3, e5m2) come as their bits."""
        import numpy
        array = numpy.empty(self.shape, to_numpy(self.dtype, raw))
        call(_abi.library.tile_tensor_download, self._handle, None if stream is None else stream_handle(stream),
             array.ctypes.data, array.nbytes)
        return array

    cpu = numpy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("memory of a device is copied to become an array")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    # --- Exchange ---

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        return dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_of(self)

    def __repr__(self) -> str:
        return "<tilec.Tensor, closed>" if self.closed else represented(self)

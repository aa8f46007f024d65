"""Elements that are copied, converted or set."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _abi
from ._handles import call
from ._operands import as_number, expected, is_foreign, is_number
from ._promotion import holds
from .device import Device, Stream, stream_handle
from .dtypes import DType, dtype_of, find_dtype, reinterpreted
from .errors import Error

if TYPE_CHECKING:
    from ._tensor import Tensor


def _run(name: str, *tensors: Any, **settings: Any) -> Any:
    from . import ops  # which needs tensors
    return ops.run(name, *tensors, **settings)


def _device_of(word: Device | str) -> Device:
    if isinstance(word, Device):
        return word
    try:
        return Device(word)
    except Error as error:
        if error.code != "InvalidArgument":  # there is none of it here
            raise
        raise TypeError(f"to: {word!r} is no dtype ({', '.join(DType.__members__)}) and no device: {error.message}") from None


class Copies:
    """Copies and assignment. What computes is work of the device's default stream."""

    __slots__ = ()

    def clone(self) -> Tensor:
        """A row-major copy."""
        return _run("copy", self)

    copy = clone

    def contiguous(self) -> Tensor:
        """The tensor itself if it is row-major without gaps, else a copy that is."""
        return self if self.is_contiguous else self.clone()

    def astype(self, dtype: Any) -> Tensor:
        """A row-major copy, its elements converted."""
        return _run("copy", self, dtype=dtype_of(dtype))

    def to(self, *words: Any, dtype: Any = None, device: Device | str | None = None) -> Tensor:
        """In another dtype, on another device or both: to("f16"), to(torch.float16), to("virtual:sm_80"), to(other.device, "bf16"). The
        tensor itself if it is so already."""
        for word in words:
            if isinstance(word, Device) or isinstance(word, str) and find_dtype(word) is None:
                device = word
            else:
                dtype = word
        result = self if dtype is None or dtype_of(dtype) == self.dtype else self.astype(dtype)
        if device is None:
            return result
        device = _device_of(device)
        return result if device == self.device else result._on(device)

    def _on(self, device: Device) -> Tensor:
        """A copy on another device, by way of the host."""
        from ._making import empty
        data = bytearray(self.nbytes)
        place = (_abi.ctypes.c_char * len(data)).from_buffer(data) if data else None
        call(_abi.library.tile_tensor_download, self._handle, None, place, len(data))
        moved = empty(self.shape, self.dtype, device)
        call(_abi.library.tile_tensor_upload, moved._handle, None, place, len(data))
        return moved

    # --- Setting elements ---

    def copy_from(self, array: Any, stream: Stream | None = None) -> None:
        """Sets all elements to those of an array of this shape and dtype, and waits for it."""
        import numpy
        from ._making import native
        array = native(numpy.asarray(array))
        reinterpreted(array, self.dtype)
        if array.shape != self.shape:
            raise ValueError(f"an array of shape {array.shape} does not fill a tensor of shape {self.shape}")
        call(_abi.library.tile_tensor_upload, self._handle, None if stream is None else stream_handle(stream),
             array.ctypes.data, array.nbytes)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Sets the elements of a view to a number, or to those of a tensor or array that broadcasts to it, converted."""
        view = self[key]
        if is_number(value):
            view._fill(as_number(value))
        elif isinstance(value, Copies):
            view._assign(value)
        elif is_foreign(value) or isinstance(value, (list, tuple)):
            from ._making import tensor
            view._assign(tensor(value, device=self.device))
        else:
            raise TypeError(f"elements are set to numbers or tensors: {expected(value)}")

    def _fill(self, number: bool | int | float, stream: Stream | None = None) -> None:
        if not self.dtype.is_float:
            if isinstance(number, float) and not number.is_integer():
                raise TypeError(f"{number} is no {self.dtype.name}: round it")
            number = int(bool(number) if self.dtype == DType.i1 else number)
            if not holds(self.dtype, number):
                raise OverflowError(f"{number} is no {self.dtype.name}: take a wider dtype")
        _run("fill", self, value=number, stream=stream)

    def _assign(self, value: Tensor) -> None:
        if value.data_ptr == self.data_ptr and (value.shape, value.strides, value.dtype) == (self.shape, self.strides, self.dtype):
            return  # x[1:] += y has computed in place
        if value.ndim > self.ndim:  # leading extents of 1 are dropped, as NumPy does
            value = value[(0,) * (value.ndim - self.ndim)] if set(value.shape[:value.ndim - self.ndim]) == {1} else value
        try:
            _run("copy", value, out=self)
        except Error as error:
            if error.code != "Aliasing":
                raise
            _run("copy", value.clone(), out=self)  # x[1:] = x[:-1]

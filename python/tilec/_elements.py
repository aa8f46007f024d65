"""Elements of tensors as numbers of Python, without NumPy."""
from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from . import _abi
from ._handles import call
from .dtypes import DType

if TYPE_CHECKING:
    from ._tensor import Tensor
    from .device import Stream

_FORMATS = {DType.i1: "?", DType.i8: "b", DType.i16: "h", DType.i32: "i", DType.i64: "q", DType.u8: "B", DType.u16: "H",
            DType.u32: "I", DType.u64: "Q", DType.f16: "e", DType.f32: "f", DType.f64: "d", DType.bf16: "H", DType.e4m3: "B",
            DType.e5m2: "B"}


def _of_bf16(bits: int) -> float:
    return struct.unpack("=f", struct.pack("=I", bits << 16))[0]


def _of_e5m2(bits: int) -> float:
    return struct.unpack("=e", struct.pack("=H", bits << 8))[0]


def _of_e4m3(bits: int) -> float:
    sign, exponent, fraction = (-1.0 if bits & 0x80 else 1.0), bits >> 3 & 0xf, bits & 0x7
    if bits & 0x7f == 0x7f:
        return float("nan")
    return sign * (2.0**(exponent - 7) * (1 + fraction / 8) if exponent else 2.0**-6 * fraction / 8)


_DECODED = {DType.bf16: _of_bf16, DType.e4m3: _of_e4m3, DType.e5m2: _of_e5m2}


def elements_of(tensor: Tensor, stream: Stream | None = None) -> list:
    """All elements in row-major order: a list of bools, ints or floats. Waits for the stream that writes them, or for the device."""
    data = bytearray(tensor.nbytes)
    place = (_abi.ctypes.c_char * len(data)).from_buffer(data) if data else None
    call(_abi.library.tile_tensor_download, tensor._handle, None if stream is None else stream._handle, place, len(data))
    values = struct.unpack(f"={tensor.size}{_FORMATS[tensor.dtype]}", data)
    decoded = _DECODED.get(tensor.dtype)
    return list(map(decoded, values)) if decoded else list(values)


def nested(values: list, shape: tuple[int, ...]) -> Any:
    """A list of lists with these extents; of none the one value."""
    if not shape:
        return values[0]
    rows = values
    for extent in reversed(shape[1:]):
        count = len(rows) // extent if extent else 0
        rows = [rows[row * extent:(row + 1) * extent] for row in range(count)]
    return rows if all(shape) else _empty(shape)


def _empty(shape: tuple[int, ...]) -> list:
    return [_empty(shape[1:]) for _ in range(shape[0])] if shape else []


class Elements:
    """What a tensor is as numbers of Python. Each waits for the device's work."""

    __slots__ = ()

    def tolist(self) -> Any:
        """The elements in nested lists; a number of a tensor of rank 0."""
        return nested(elements_of(self), self.shape)

    def item(self, *index: int) -> bool | int | float:
        """The one element as a number of Python; with an index, as x.item(2, 3), the one there."""
        one = self[tuple(index)] if index else self
        if one.size != 1:
            raise ValueError(f"a tensor of shape {one.shape} has {one.size} elements; only one of a single element is a number")
        return elements_of(one)[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth of a tensor of shape {self.shape} is ambiguous: ask for its any() or all()")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if self.dtype.is_float or self.dtype == DType.i1 or self.size != 1:
            raise TypeError(f"only a tensor of one integer is an index, not {self.dtype.name} of shape {self.shape}")
        return self.item()

    def __format__(self, how: str) -> str:
        return format(self.item(), how) if how and self.size == 1 else format(str(self), how)

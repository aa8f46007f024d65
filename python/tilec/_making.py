"""New tensors: of a shape, and of what a program has."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _abi, dlpack
from ._handles import call, int64s, made
from ._numbers import is_integer
from ._operands import as_number, expected, is_array, is_foreign, is_number
from ._tensor import Tensor
from .device import Device, Stream, device_or_default, stream_handle
from .dtypes import DType, dtype_of, find_dtype, of_numpy, reinterpreted


def _extents(shape: Any, name: str) -> tuple[int, ...]:
    """The extents of a shape, which is an integer or a sequence of integers."""
    if is_integer(shape):
        return (shape,)
    if isinstance(shape, (str, bytes, DType)) or not hasattr(shape, "__iter__"):
        raise TypeError(f"{name}: an integer or a sequence of them is expected, got {shape!r}")
    shape = tuple(shape)
    for extent in shape:
        if not is_integer(extent):
            raise TypeError(f"{name}: integers are expected, got {extent!r}")
    return shape


def _asked(words: tuple, dtype: Any, device: Device | str | None, fallback: DType = DType.f32) -> tuple[Any, DType, Device | str | None]:
    """Shape, dtype and device of a call: zeros(2, 3), zeros((2, 3), "f16"), zeros((2, 3), tilec.f16, device). An integer is an extent,
    wherever it stands, and no dtype."""
    count = next((at for at, word in enumerate(words) if not is_integer(word)), len(words))
    if count:
        shape, rest = words[:count], list(words[count:])
    elif words:
        shape, rest = _extents(words[0], "shape"), list(words[1:])
    else:
        raise TypeError("a shape is needed: zeros(2, 3) or zeros((2, 3))")
    for word in rest:
        if device is None and (isinstance(word, Device) or isinstance(word, str) and find_dtype(word) is None and dtype is not None):
            device = word
        elif dtype is None and not is_number(word):
            dtype = dtype_of(word)
        elif is_number(word) and not is_integer(word):
            raise TypeError(f"shape: integers are expected, got {word!r}")
        else:
            raise TypeError(f"a shape, a dtype and a device are expected; {word!r} is one too many")
    return shape, fallback if dtype is None else dtype_of(dtype), device


def _new(shape: Any, dtype: DType, device: Device | str | None, stream: Stream | None, strides: Any = None) -> Tensor:
    extents = int64s(shape)
    places = None if strides is None else int64s(_extents(strides, "strides"))
    if places is not None and len(places) != len(extents):
        raise ValueError(f"{len(places)} strides for {len(extents)} extents")
    if stream is not None:
        return Tensor(made(_abi.library.tile_tensor_create_on, stream_handle(stream), dtype.value, len(extents), extents, places))
    owner = device_or_default(device)
    return Tensor(made(_abi.library.tile_tensor_create, owner._handle, dtype.value, len(extents), extents, places))


def empty(*shape: Any, dtype: Any = None, device: Device | str | None = None, stream: Stream | None = None,
          strides: Sequence[int] | None = None) -> Tensor:
    """A tensor whose elements are not set: empty(2, 3), empty((2, 3), tilec.f16, device). With `stream` it has memory of that stream,
    which takes it again as soon as the tensor is gone. Strides are in elements; row-major without them. f32 unless a dtype is given."""
    extents, dtype, device = _asked(shape, dtype, device)
    return _new(extents, dtype, device, stream, strides)


def zeros(*shape: Any, dtype: Any = None, device: Device | str | None = None, stream: Stream | None = None) -> Tensor:
    """A row-major tensor of zeros: zeros(2, 3), zeros((2, 3), tilec.f16, device)."""
    extents, dtype, device = _asked(shape, dtype, device)
    tensor = _new(extents, dtype, device, stream)
    return _uploaded(tensor, bytes(tensor.nbytes), stream)


def full(shape: int | Sequence[int], value: Any, dtype: Any = None, device: Device | str | None = None, *,
         stream: Stream | None = None) -> Tensor:
    """A row-major tensor whose elements are all `value`: f32, of an integer i64, of a bool i1, unless a dtype is given."""
    if not is_number(value):
        raise TypeError(f"full: a number is expected, got {value!r}")
    number = as_number(value)
    dtype = _OF_NUMBERS[type(number)] if dtype is None else dtype_of(dtype)
    tensor = _new(_extents(shape, "shape"), dtype, device, stream)
    tensor._fill(number, stream)
    return tensor


def ones(*shape: Any, dtype: Any = None, device: Device | str | None = None, stream: Stream | None = None) -> Tensor:
    """A row-major tensor of ones: ones(2, 3), ones((2, 3), tilec.f16, device)."""
    extents, dtype, device = _asked(shape, dtype, device)
    return full(extents, 1, dtype, device, stream=stream)


def empty_like(tensor: Tensor, dtype: Any = None) -> Tensor:
    """A row-major tensor of this one's shape and device, and of its dtype unless another is given."""
    return _new(tensor.shape, tensor.dtype if dtype is None else dtype_of(dtype), tensor.device, None)


def zeros_like(tensor: Tensor, dtype: Any = None) -> Tensor:
    """The same of zeros."""
    return zeros(tensor.shape, dtype=dtype or tensor.dtype, device=tensor.device)


_OF_NUMBERS = {bool: DType.i1, int: DType.i64, float: DType.f32}


def _uploaded(tensor: Tensor, data: bytes, stream: Stream | None) -> Tensor:
    call(_abi.library.tile_tensor_upload, tensor._handle, None if stream is None else stream_handle(stream), data, len(data))
    return tensor


def from_numpy(array: Any, device: Device | str | None = None, *, dtype: Any = None, stream: Stream | None = None) -> Tensor:
    """A row-major tensor with the elements of an array, or of what NumPy makes one of. An array of unsigned integers may be the bits of
    `dtype`, one of those that NumPy does not have."""
    import numpy
    array = native(numpy.asarray(array))
    tensor = _new(array.shape, reinterpreted(array, dtype), device, stream)
    call(_abi.library.tile_tensor_upload, tensor._handle, None if stream is None else stream_handle(stream), array.ctypes.data,
         array.nbytes)
    return tensor


def native(array: Any) -> Any:
    """Row-major, in this machine's order of bytes."""
    import numpy
    return numpy.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def from_dlpack(source: Any, device: Device | str | None = None, *, stream: Stream | None = None) -> Tensor:
    """A tensor of another library, by its `__dlpack__` or a capsule. Memory of the device is shared; memory of the host, which is what
    NumPy has, is copied. `stream` is the one that will use it first: it then waits for the work that writes it; without one the host
    waits."""
    return Tensor(dlpack.take(source, device_or_default(device), stream))


def tensor(data: Any, dtype: Any = None, device: Device | str | None = None) -> Tensor:
    """A row-major tensor with the elements of numbers, nested lists, an array or a tensor of another library, converted to `dtype` if
    one is given. Numbers of Python become f32, i64 or i1, as PyTorch has it; arrays keep their dtype."""
    dtype = None if dtype is None else dtype_of(dtype)
    if isinstance(data, Tensor):
        moved = data if device is None else data.to(device_or_default(device))
        return moved.clone() if moved is data and dtype in (None, data.dtype) else moved.to(dtype or data.dtype)
    if is_foreign(data):
        moved = taken(data, device)
        return moved if dtype is None else moved.to(dtype)
    if not is_number(data) and not isinstance(data, (list, tuple, range)):
        raise TypeError(f"tensor: {expected(data)}")
    import numpy
    array = numpy.asarray(data)
    if array.dtype == numpy.float64:
        made_of = from_numpy(array if dtype is DType.f64 else array.astype("f4"), device)
    else:
        made_of = from_numpy(array, device)
    return made_of if dtype is None else made_of.to(dtype)


def arange(*bounds: int | float, dtype: Any = None, device: Device | str | None = None) -> Tensor:
    """The numbers of a range: arange(5), arange(2, 10, 2), arange(0, 1, 0.25). i64, of fractions f32, unless a dtype is given."""
    import numpy
    if not 1 <= len(bounds) <= 3 or not all(map(is_number, bounds)):
        raise TypeError(f"arange: one to three numbers are expected, got {bounds}")
    if len(bounds) == 3 and not bounds[2]:
        raise ValueError(f"arange: the step is {bounds[2]}, which leads nowhere")
    array = numpy.arange(*map(as_number, bounds))
    return tensor(array if array.dtype.kind == "i" or dtype else array.astype("f4"), dtype, device)


def taken(source: Any, device: Device | str | None = None, stream: Stream | None = None) -> Tensor:
    """A tensor that shares or copies that of another library; a tensor of tilec is itself."""
    if isinstance(source, Tensor):
        return source
    if is_array(source):
        return from_numpy(source, device, stream=stream)
    return from_dlpack(source, device, stream=stream)

"""Tensors: memory of a device with a shape and strides."""
import ctypes
import operator

from . import _abi, dlpack
from ._handles import Handle, call, int64s, made
from .device import Device, default_stream, device_or_default, stream_handle
from .dtypes import DType, reinterpreted, to_numpy


class Tensor(Handle):
    """Memory of a device. Views (slices, `T`, `permute`, `reshape`) share it and keep it. Made by tilec.empty, zeros, from_numpy and
    from_dlpack."""

    _release_function = "tile_tensor_release"
    __slots__ = ("_layout", "_words")

    def __init__(self, handle):
        self._words = []  # what a launch takes for it, in bytes, until it is released
        super().__init__(handle, self._words)
        self._layout = _abi.TensorLayout()
        call(_abi.library.tile_tensor_info, handle, ctypes.byref(self._layout))
        argument = _abi.Argument()
        call(_abi.library.tile_tensor_argument, handle, ctypes.byref(argument))
        self._words.append(bytes(argument))

    @property
    def shape(self):
        return tuple(self._layout.shape[:self._layout.rank])

    @property
    def strides(self):
        """In elements, unlike NumPy's."""
        return tuple(self._layout.strides[:self._layout.rank])

    @property
    def ndim(self):
        return self._layout.rank

    @property
    def dtype(self):
        return DType(self._layout.dtype)

    @property
    def size(self):
        """The number of elements."""
        return self._layout.elements

    @property
    def nbytes(self):
        """What the elements take without gaps."""
        return self._layout.bytes

    @property
    def is_contiguous(self):
        """Row-major without gaps."""
        return bool(self._layout.is_contiguous)

    @property
    def data_ptr(self):
        """The address of the first element in the device's memory."""
        return self._layout.data or 0

    @property
    def device(self):
        return Device._of(made(_abi.library.tile_tensor_device, self._handle))

    def _default_stream(self):
        return default_stream(self._layout.device, lambda: self.device)

    # --- Copies ---

    def numpy(self, stream=None, raw=False):
        """A copy of the elements as a NumPy array. It waits for the stream that writes them, without one for the whole device. With
        `raw` elements that NumPy does not have (bf16, e4m3, e5m2) come as their bits."""
        import numpy
        array = numpy.empty(self.shape, to_numpy(self.dtype, raw))
        call(_abi.library.tile_tensor_download, self._handle, None if stream is None else stream_handle(stream),
             array.ctypes.data, array.nbytes)
        return array

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("memory of a device is copied to become an array")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def copy_from(self, array, stream=None):
        """Sets all elements to those of an array of this shape and dtype, and waits for it."""
        import numpy
        array = _native(numpy.asarray(array))
        reinterpreted(array, self.dtype)
        if array.shape != self.shape:
            raise ValueError(f"an array of shape {array.shape} does not fill a tensor of shape {self.shape}")
        call(_abi.library.tile_tensor_upload, self._handle, None if stream is None else stream_handle(stream),
             array.ctypes.data, array.nbytes)

    # --- Views ---

    def permute(self, *order):
        """The dimensions in another order."""
        if len(order) != self.ndim:
            raise ValueError(f"permute needs each of the {self.ndim} dimensions once, got {order}")
        numbers = (ctypes.c_int32 * len(order))(*int64s(order))
        return Tensor(made(_abi.library.tile_tensor_permute, self._handle, numbers))

    @property
    def T(self):
        """The dimensions in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    def reshape(self, *shape):
        """The same elements in another shape, one extent of which may be -1. Contiguous tensors only."""
        if len(shape) == 1 and not hasattr(shape[0], "__index__"):
            shape = tuple(shape[0])
        return Tensor(made(_abi.library.tile_tensor_reshape, self._handle, len(shape), int64s(shape)))

    def __getitem__(self, key):
        """A view: an index or a slice with a positive step for each of the first dimensions, or behind `...` of the last."""
        keys = key if isinstance(key, tuple) else (key,)
        gaps = [place for place, each in enumerate(keys) if each is Ellipsis]
        if len(gaps) > 1:
            raise IndexError("an index has one ... at most")
        if gaps:
            rest = self.ndim - (len(keys) - 1)
            keys = keys[:gaps[0]] + (slice(None),) * rest + keys[gaps[0] + 1:]
        if len(keys) > self.ndim:
            raise IndexError(f"{len(keys)} indices for a tensor of rank {self.ndim}")
        view, shape, strides = self, [], []
        for dim, extent in enumerate(self.shape):
            start, count, step, is_index = _cut(keys[dim] if dim < len(keys) else slice(None), extent, dim)
            span = 1 + (count - 1) * step if count else 0
            view = Tensor(made(_abi.library.tile_tensor_slice, view._handle, dim, start, span))
            if not is_index:
                shape.append(count)
                strides.append(self.strides[dim] * step)
        return Tensor(made(_abi.library.tile_tensor_restride, view._handle, len(shape), int64s(shape), int64s(strides)))

    def __len__(self):
        if not self.ndim:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    # --- Exchange ---

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        return dlpack.device_of(self)

    def __repr__(self):
        if self.closed:
            return "<tilec.Tensor, closed>"
        return f"<tilec.Tensor {self.dtype.name}{list(self.shape)} on {self.device.name}>"


def _cut(key, extent, dim):
    """Start, count and step of a slice or index, and whether it is an index."""
    if isinstance(key, slice):
        start, stop, step = key.indices(extent)
        if step < 0:
            raise ValueError(f"a view with step {step} would have a negative stride: copy the data in the other order")
        return start, len(range(start, stop, step)), step, False
    # A bool is an int in Python, and a mask in NumPy.
    if isinstance(key, bool) or not hasattr(key, "__index__") or getattr(key, "ndim", 0):
        raise TypeError(f"dimension {dim} of a tensor takes an integer, a slice or ..., got a {type(key).__name__}")
    index = operator.index(key)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is outside of dimension {dim} of extent {extent}")
    return index % extent, 1, 1, True


def _native(array):
    """Row-major, in this machine's order of bytes."""
    import numpy
    return numpy.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def _shape(shape):
    return int64s((shape,) if hasattr(shape, "__index__") else shape)


def empty(shape, dtype=DType.f32, device=None, *, stream=None, strides=None):
    """A tensor whose elements are not set. With `stream` it has memory of that stream, which takes it again as soon as the tensor is
    gone. Strides are in elements; row-major without them."""
    extents = _shape(shape)
    places = None if strides is None else _shape(strides)
    if places is not None and len(places) != len(extents):
        raise ValueError(f"{len(places)} strides for {len(extents)} extents")
    if stream is not None:
        return Tensor(made(_abi.library.tile_tensor_create_on, stream_handle(stream), DType(dtype), len(extents), extents, places))
    owner = device_or_default(device)
    return Tensor(made(_abi.library.tile_tensor_create, owner._handle, DType(dtype), len(extents), extents, places))


def zeros(shape, dtype=DType.f32, device=None, *, stream=None):
    """A row-major tensor of zeros."""
    tensor = empty(shape, dtype, device, stream=stream)
    nothing = bytes(tensor.nbytes)
    call(_abi.library.tile_tensor_upload, tensor._handle, None if stream is None else stream._handle, nothing, len(nothing))
    return tensor


def from_numpy(array, device=None, *, dtype=None, stream=None):
    """A row-major tensor with the elements of an array, or of what NumPy makes one of. An array of unsigned integers may be the bits of
    `dtype`, one of those that NumPy does not have."""
    import numpy
    array = _native(numpy.asarray(array))
    tensor = empty(array.shape, reinterpreted(array, dtype), device, stream=stream)
    call(_abi.library.tile_tensor_upload, tensor._handle, None if stream is None else stream._handle, array.ctypes.data,
         array.nbytes)
    return tensor


def from_dlpack(source, device=None, *, stream=None):
    """A tensor of another library, by its `__dlpack__` or a capsule. Memory of the device is shared; memory of the host, which is what
    NumPy has, is copied. `stream` is the one that will use it first: it then waits for the work that writes it; without one the host
    waits."""
    return Tensor(dlpack.take(source, device_or_default(device), stream))

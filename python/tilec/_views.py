"""Views of tensors: other extents and strides of the same memory."""
from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _abi
from ._handles import call, int64s, made
from ._numbers import dimension, integer, is_integer, listed

if TYPE_CHECKING:
    from ._tensor import Tensor


class Views:
    """What needs no copy, unless it says so."""

    __slots__ = ()

    # --- Dimensions ---

    def permute(self, *order: int | Sequence[int]) -> Tensor:
        """The dimensions in another order: permute(2, 0, 1) or permute((2, 0, 1)); negative ones count from the last."""
        order = listed(order)
        dims = [dimension(dim, self.ndim) for dim in order]
        if sorted(dims) != list(range(self.ndim)):
            raise ValueError(f"permute needs each of the {self.ndim} dimensions once, got {order}")
        return self._view(made(_abi.library.tile_tensor_permute, self._handle, (ctypes.c_int32 * len(dims))(*dims)))

    def transpose(self, *dims: int) -> Tensor:
        """Two dimensions exchanged, as PyTorch has it: transpose(0, 1). Without any, all in reverse order."""
        if not dims:
            return self.T
        if len(dims) != 2:
            raise TypeError(f"transpose exchanges two dimensions, got {len(dims)}: permute takes all")
        first, second = (dimension(dim, max(self.ndim, 1)) for dim in dims)
        if not self.ndim:
            return self
        order = list(range(self.ndim))
        order[first], order[second] = second, first
        return self.permute(*order)

    swapaxes = transpose

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        return self.transpose(-2, -1)

    def unsqueeze(self, dim: int) -> Tensor:
        """A dimension of extent 1 more, which will be number `dim`."""
        at = dimension(dim, self.ndim + 1)
        return self[(slice(None),) * at + (None,)]

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Tensor:
        """Without the dimensions of extent 1, or without those of them that are named."""
        if dim is None:
            dims = range(self.ndim)
        else:
            dims = [dimension(one, max(self.ndim, 1)) for one in listed((dim,))]
        return self[tuple(0 if at in dims and extent == 1 else slice(None) for at, extent in enumerate(self.shape))]

    # --- Shapes ---

    def view(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements in another shape, one extent of which may be -1. ValueError if that needs a copy."""
        shape = self._extents(shape)
        strides = _strides_as(shape, self.shape, self.strides)
        if strides is None:
            raise ValueError(f"no view of shape {self.shape} with strides {self.strides} has the shape {shape}: use reshape, which copies")
        return self._restrided(shape, strides)

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements in another shape, one extent of which may be -1: a view where there is one, else a copy."""
        shape = self._extents(shape)
        strides = _strides_as(shape, self.shape, self.strides)
        return self.clone().view(shape) if strides is None else self._restrided(shape, strides)

    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        """The dimensions from `start` to `end` as one; a copy where no view is."""
        if not self.ndim:
            return self.reshape(1)
        first, last = dimension(start, self.ndim), dimension(end, self.ndim)
        if first > last:
            raise ValueError(f"flatten: dimension {start} comes after dimension {end}")
        return self.reshape(*self.shape[:first], math.prod(self.shape[first:last + 1]), *self.shape[last + 1:])

    def expand(self, *shape: int | Sequence[int]) -> Tensor:
        """Repeated, without a copy, to a shape that this one broadcasts to; -1 keeps an extent."""
        shape = [integer(extent, "extent") for extent in listed(shape)]
        missing = len(shape) - self.ndim
        if missing < 0:
            raise ValueError(f"a tensor of shape {self.shape} does not broadcast to {tuple(shape)}")
        strides = [0] * missing
        for at, (extent, stride) in enumerate(zip(self.shape, self.strides), missing):
            shape[at] = extent if shape[at] == -1 else shape[at]
            if extent not in (1, shape[at]):
                raise ValueError(f"a tensor of shape {self.shape} does not broadcast to {tuple(shape)}")
            strides.append(stride if extent == shape[at] else 0)
        return self._restrided(shape, strides)

    def _extents(self, shape: tuple) -> tuple[int, ...]:
        """The shape that is asked for, its -1 computed. What is wrong with it is for the library to say."""
        shape = [integer(extent, "extent") for extent in listed(shape)]
        others = math.prod(extent for extent in shape if extent != -1)
        if shape.count(-1) == 1 and others > 0 and self.size % others == 0:
            shape[shape.index(-1)] = self.size // others
        if min(shape, default=0) < 0 or math.prod(shape) != self.size or len(shape) > _abi.MAX_RANK:
            call(_abi.library.tile_tensor_reshape, self._handle, len(shape), int64s(shape), ctypes.byref(ctypes.c_void_p()))
            raise ValueError(f"a tensor of shape {self.shape} has no shape {tuple(shape)}")
        return tuple(shape)

    # --- Indices ---

    def __getitem__(self, key: Any) -> Tensor:
        """A view: an index or a slice for each of the first dimensions, or after `...` of the last; None is a dimension of extent 1."""
        view, shape, strides = self, [], []
        dim = 0
        for one in _keys(key, self.ndim):
            if one is None:
                shape.append(1)
                strides.append(None)
                continue
            start, count, step, is_index = _cut(one, self.shape[dim], dim)
            if start:
                view = self._view(made(_abi.library.tile_tensor_slice, view._handle, dim, start, 1 + (count - 1) * step))
            if not is_index:
                shape.append(count)
                strides.append(self.strides[dim] * step)
            dim += 1
        for at in reversed(range(len(shape))):
            if strides[at] is None:  # as if it ran over all that comes after it
                strides[at] = shape[at + 1] * strides[at + 1] if at + 1 < len(shape) else 1
        return view._restrided(shape, strides)

    def _restrided(self, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
        return self._view(made(_abi.library.tile_tensor_restride, self._handle, len(shape), int64s(shape), int64s(strides)))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[index] for index in range(len(self)))


def _keys(key: Any, rank: int) -> tuple:
    """A key for each dimension, and the Nones between them."""
    keys = key if isinstance(key, tuple) else (key,)
    gaps = [place for place, each in enumerate(keys) if each is Ellipsis]
    if len(gaps) > 1:
        raise IndexError("an index has one ... at most")
    given = sum(each is not None and each is not Ellipsis for each in keys)
    if given > rank:
        raise IndexError(f"{given} indices for a tensor of rank {rank}")
    rest = (slice(None),) * (rank - given)
    return (*keys[:gaps[0]], *rest, *keys[gaps[0] + 1:]) if gaps else (*keys, *rest)


def _cut(key: Any, extent: int, dim: int) -> tuple[int, int, int, bool]:
    """Start, count and step of a slice or index, and whether it is an index."""
    if isinstance(key, slice):
        start, stop, step = key.indices(extent)
        count = len(range(start, stop, step))
        if step < 0 and count > 1:
            raise ValueError(f"a view with step {step} would have a negative stride, which tensors have not: "
                             "take the data in the other order from NumPy")
        return (start, count, max(step, 1), False) if count else (0, 0, 1, False)
    if not is_integer(key):  # a bool is an int in Python, and a mask in NumPy
        raise TypeError(f"dimension {dim} of a tensor takes an integer, a slice, None or ..., got a {type(key).__name__}; "
                        "tilec.ops.embedding picks rows by a tensor of indices")
    index = operator.index(key)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is outside of dimension {dim} of extent {extent}")
    return index % extent, 1, 1, True


def _strides_as(shape: Sequence[int], old_shape: Sequence[int], old_strides: Sequence[int]) -> list[int] | None:
    """The strides by which memory of these extents and strides has another shape in the same order, or None if no strides do:
    NumPy's rule. Each group of old dimensions that multiplies to a group of new ones must run without gaps."""
    if not math.prod(shape):
        return _row_major(shape)
    old = [(extent, stride) for extent, stride in zip(old_shape, old_strides) if extent != 1]
    strides, at = [], 0
    new = list(shape)
    begin = 0
    while begin < len(new):
        if new[begin] == 1:  # a stride that is never taken
            strides.append(old[at][0] * old[at][1] if at < len(old) else 1)
            begin += 1
            continue
        end, first = begin + 1, at
        count, had = new[begin], old[at][0]
        at += 1
        while count != had:
            if count < had:
                count *= new[end]
                end += 1
            else:
                had *= old[at][0]
                at += 1
        for left, right in zip(old[first:at], old[first + 1:at]):
            if left[1] != right[0] * right[1]:
                return None
        inner = old[at - 1][1]
        strides += [inner * stride for stride in _row_major(new[begin:end])]
        begin = end
    return strides


def _row_major(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for at in range(len(shape) - 2, -1, -1):
        strides[at] = strides[at + 1] * max(shape[at + 1], 1)
    return strides

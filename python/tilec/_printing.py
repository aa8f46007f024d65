"""How tensors are printed: as NumPy prints arrays, large ones by their edges, of which alone elements are fetched."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._elements import elements_of, nested
from .dtypes import DType

if TYPE_CHECKING:
    from ._tensor import Tensor

_EDGE = 3  # elements at each end of a long dimension
_MOST = 1000  # elements that are printed whole


def _ends(extent: int) -> list[slice]:
    """What is shown of a dimension of a large tensor."""
    return [slice(0, extent)] if extent <= 2 * _EDGE else [slice(0, _EDGE), slice(extent - _EDGE, extent)]


def _array(tensor: Tensor) -> Any:
    """The elements as NumPy can print them: 8- and 16-bit floats as f32."""
    import numpy
    if tensor.dtype in (DType.bf16, DType.e4m3, DType.e5m2):
        return numpy.array(elements_of(tensor), "f4").reshape(tensor.shape)
    return tensor.numpy()


def _edges(tensor: Tensor, dim: int = 0) -> Any:
    """The edges, with one row for what is left out between two, which NumPy does not print."""
    import numpy
    if dim == tensor.ndim:
        return _array(tensor)
    parts = [_edges(tensor[(slice(None),) * dim + (end,)], dim + 1) for end in _ends(tensor.shape[dim])]
    if len(parts) == 2:
        parts.insert(1, parts[0].take([0], axis=dim))
    return numpy.concatenate(parts, axis=dim)


def _text(tensor: Tensor, prefix: str) -> str:
    try:
        import numpy
    except ImportError:
        return str(nested(elements_of(tensor), tensor.shape)) if tensor.size <= _MOST else "[...]"
    is_large = tensor.size > _MOST
    array = _edges(tensor) if is_large else _array(tensor)
    return numpy.array2string(array, separator=", ", prefix=prefix, threshold=0 if is_large else _MOST, edgeitems=_EDGE)


def represented(tensor: Tensor) -> str:
    """`tensor([1., 2.], dtype=f32, device='virtual:sm_80')`"""
    about = f"dtype={tensor.dtype.name}, device={tensor.device.name!r}"
    if not tensor.size or tensor.size > _MOST:
        about = f"shape={tensor.shape}, {about}"
    return f"tensor({_text(tensor, 'tensor(')}, {about})"

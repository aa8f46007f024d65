"""Operators of tensors: each is an op of the library, in NumPy's and PyTorch's sense.

Operands of two dtypes are promoted (_promotion.py); numbers take the dtype of the tensor. Arrays of NumPy and tensors of others are
operands too, and the result is a tensor of tilec, computed on the device's default stream.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._operands import as_number, is_foreign, is_number
from ._promotion import for_comparison, of_ranks, with_number
from .dtypes import DType

if TYPE_CHECKING:
    from ._tensor import Tensor

# What adds a number to a float tensor or multiplies it needs no tensor of that number: y = factor x + offset. An offset of -0
# leaves every x as it is, 0 and -0 too.
_AFFINE = {"add": lambda number, is_left: (1, number), "multiply": lambda number, is_left: (number, -0.0),
           "subtract": lambda number, is_left: (-1, number) if is_left else (1, -number)}
_SIGNED = (DType.i8, DType.i16, DType.i32, DType.i64)
_WIDE = (DType.f16, DType.bf16, DType.f32, DType.f64)


def _run(name: str, *tensors: Any, **settings: Any) -> Any:
    from . import ops  # which needs tensors
    return ops.run(name, *tensors, **settings)


def _is_operand(value: Any) -> bool:
    return isinstance(value, Operators) or is_number(value) or is_foreign(value)


def _tensors(a: Any, b: Any) -> list:
    """Both as tensors or numbers of Python."""
    from ._making import taken
    device = (a if isinstance(a, Operators) else b).device
    return [value if isinstance(value, Operators) else as_number(value) if is_number(value) else taken(value, device)
            for value in (a, b)]


def _common(a: Any, b: Any, beside: Callable[[DType, Any], DType] = with_number) -> tuple[Tensor, Tensor]:
    """Both as tensors of one dtype, which is `beside` a number what that function says."""
    from ._making import full
    if isinstance(a, Operators) and isinstance(b, Operators):
        dtype = of_ranks(a.dtype, b.dtype, not a.ndim, not b.ndim)
        return a.to(dtype), b.to(dtype)
    tensor, number = (a, b) if isinstance(a, Operators) else (b, a)
    dtype = beside(tensor.dtype, number)
    tensor, number = tensor.to(dtype), full((), number, dtype, stream=tensor._default_stream())
    return (tensor, number) if isinstance(a, Operators) else (number, tensor)


def _computed(name: str, a: Any, b: Any, out: Tensor | None = None) -> Any:
    """The result of an op of two operands; NotImplemented if one of them is none."""
    if not (_is_operand(a) and _is_operand(b)):
        return NotImplemented
    a, b = _tensors(a, b)
    number, tensor = (a, b) if isinstance(b, Operators) else (b, a)
    if name in _AFFINE and not isinstance(number, Operators) and tensor.dtype in _WIDE:
        factor, offset = _AFFINE[name](number, a is number)
        return _run("affine", tensor, factor=factor, offset=offset, out=out)
    a, b = _common(a, b)
    if name == "divide" and not a.dtype.is_float:
        a, b = a.to(DType.f32), b.to(DType.f32)
    if out is not None and out.dtype != a.dtype:
        raise TypeError(f"the result is {a.dtype.name}, which a tensor of {out.dtype.name} does not take in place")
    return _run(name, a, b, out=out)


def _compared(name: str, a: Any, b: Any) -> Any:
    if isinstance(b, (list, tuple, complex)):  # else Python would say False, whatever is in it
        raise TypeError(f"a tensor is not compared with a {type(b).__name__}: tilec.tensor makes a tensor of numbers")
    if not _is_operand(b):
        return NotImplemented
    a, b = _common(*_tensors(a, b), for_comparison)
    if a.dtype == DType.i1:
        a, b = a.to(DType.u8), b.to(DType.u8)
    return _run(name, a, b)


def _joined(name: str, a: Any, b: Any) -> Any:
    """The result of an op on the bits of two tensors of integers, or on two masks."""
    if not (_is_operand(a) and _is_operand(b)):
        return NotImplemented
    a, b = _common(*_tensors(a, b))
    return NotImplemented if a.dtype.is_float else _run(name, a, b)


def _raised(a: Any, b: Any) -> Any:
    """a to the power b. An integer has no power of a negative number of Python, as NumPy has it."""
    if not (_is_operand(a) and _is_operand(b)):
        return NotImplemented
    a, b = _tensors(a, b)
    if isinstance(b, Operators):
        return _run("power", *_common(a, b))
    dtype = with_number(a.dtype, b)
    if not dtype.is_float and b < 0:
        raise ValueError(f"integers have no power of {b}: convert them to floats by to(...)")
    a = a.to(dtype)
    if b in (2, 3):
        return a * a if b == 2 else a * a * a
    return _run("power", *_common(a, b))


def _multiplied(a: Any, b: Any) -> Any:
    """The matrix product; vectors are a row on the left and a column on the right, as NumPy has it."""
    if not (_is_operand(a) and _is_operand(b)) or is_number(a) or is_number(b):
        return NotImplemented
    a, b = _common(*_tensors(a, b))
    if not a.ndim or not b.ndim:
        raise ValueError(f"@ multiplies matrices and vectors, not shapes {a.shape} and {b.shape}")
    c = _run("matmul", a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b)
    if b.ndim == 1:
        c = c[..., 0]
    if a.ndim == 1:
        c = c[..., 0] if b.ndim == 1 else c[..., 0, :]
    return c


def _forms(name: str) -> tuple:
    """x + y, y + x and x += y."""
    def left(self, other):
        return _computed(name, self, other)

    def right(self, other):
        return _computed(name, other, self)

    def in_place(self, other):
        return _computed(name, self, other, out=self)

    return left, right, in_place


def _comparison(name: str) -> Any:
    return lambda self, other: _compared(name, self, other)


class Operators:
    """x + y, x @ w, -x, x < y, and what computes one result of all elements."""

    __slots__ = ()

    __add__, __radd__, __iadd__ = _forms("add")
    __sub__, __rsub__, __isub__ = _forms("subtract")
    __mul__, __rmul__, __imul__ = _forms("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _forms("divide")
    __eq__, __ne__ = _comparison("equal"), _comparison("not_equal")
    __lt__, __le__ = _comparison("less"), _comparison("less_equal")
    __gt__, __ge__ = _comparison("greater"), _comparison("greater_equal")
    __hash__ = object.__hash__  # of the object, as of PyTorch's: == is of elements

    # --- Bits of integers, and masks, which are tensors of i1 ---

    def __and__(self, other: Any) -> Tensor:
        return _joined("bitwise_and", self, other)

    def __or__(self, other: Any) -> Tensor:
        return _joined("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Tensor:
        return _joined("bitwise_xor", self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Tensor:
        if self.dtype.is_float:
            raise TypeError(f"~ is of integers and of masks, tensors of i1, not of {self.dtype.name}")
        return _run("bitwise_not", self)

    def __matmul__(self, other: Any) -> Tensor:
        return _multiplied(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _multiplied(other, self)

    def __neg__(self) -> Tensor:
        return self * -1 if self.dtype in _WIDE else 0 - self

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return _run("maximum", self, -self) if self.dtype.is_float or self.dtype in _SIGNED else self.clone()

    def __pow__(self, exponent: Any) -> Tensor:
        return _raised(self, exponent)

    def __rpow__(self, base: Any) -> Tensor:
        return _raised(base, self)

    # --- One result of many elements: `axis=` or `dim=` names dimensions, `keepdims=` or `keepdim=` keeps them ---

    def sum(self, axis: Any = None, **settings: Any) -> Tensor:
        """The sum, in the tensor's dtype; of a mask the number of its ones, in i64."""
        return _run("sum", self.to(DType.i64) if self.dtype == DType.i1 else self, axes=axis, **settings)

    def mean(self, axis: Any = None, **settings: Any) -> Tensor:
        """The mean; of integers in f32."""
        return _run("mean", self if self.dtype.is_float else self.to(DType.f32), axes=axis, **settings)

    def max(self, axis: Any = None, **settings: Any) -> Tensor:
        """The largest."""
        return self._reduced("reduce_max", axis, settings)

    def min(self, axis: Any = None, **settings: Any) -> Tensor:
        """The smallest."""
        return self._reduced("reduce_min", axis, settings)

    def any(self, axis: Any = None, **settings: Any) -> Tensor:
        """Whether an element is not 0."""
        return (self != 0).max(axis, **settings)

    def all(self, axis: Any = None, **settings: Any) -> Tensor:
        """Whether no element is 0."""
        return (self != 0).min(axis, **settings)

    def _reduced(self, name: str, axis: Any, settings: dict) -> Tensor:
        if self.dtype == DType.i1:
            return _run(name, self.to(DType.u8), axes=axis, **settings).to(DType.i1)
        return _run(name, self, axes=axis, **settings)

    def __contains__(self, value: Any) -> bool:
        return _is_operand(value) and bool((self == value).any())

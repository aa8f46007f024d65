"""What ops and operators take beside tensors of tilec: tensors of NumPy, PyTorch and others, and numbers."""
from __future__ import annotations

import numbers
import sys
from typing import Any


def full_name(value: Any) -> str:
    """The type of a value as a program would write it: torch.Tensor."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def is_number(value: Any) -> bool:
    """Whether it is a number of Python or NumPy; a complex one is none."""
    return isinstance(value, numbers.Real) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def as_number(value: Any) -> bool | int | float:
    """The same as a bool, an int or a float of Python."""
    if isinstance(value, numbers.Integral):
        return value if isinstance(value, bool) else int(value)
    return float(value) if isinstance(value, numbers.Real) else bool(value)


def is_array(value: Any) -> bool:
    """Whether it is an array of NumPy, which nobody has who has not imported that."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_foreign(value: Any) -> bool:
    """Whether it is a tensor of another library: an array of NumPy, or what has DLPack."""
    return is_array(value) or (hasattr(value, "__dlpack__") and not isinstance(value, type))


def expected(value: Any) -> str:
    """What is said of an object that is no tensor."""
    return f"a tilec.Tensor is expected, got a {full_name(value)}: tilec.tensor, from_numpy or from_dlpack make one"

"""Arguments and parameters of kernels."""
import collections
import ctypes
import struct

from . import _abi
from ._handles import call
from .dtypes import DType
from ._tensor import Tensor

Parameter = collections.namedtuple("Parameter", "name kind dtype rank")
Parameter.__doc__ = """A parameter of a kernel. `kind` is "in", "out", "inout", "scalar" or "const"; `dtype` is None where any is taken."""


def parameter(function, handle, index):
    """A parameter, which a function of the C API describes."""
    found = _abi.ParameterDescription()
    call(function, handle, index, ctypes.byref(found))
    return Parameter(found.name.decode(), _abi.PARAMETER_KINDS[found.kind], DType(found.dtype) if found.dtype else None,
                     found.rank)


# An argument that is a number: its kind, then the number as an integer and as a real.
_NUMBER = struct.Struct(f"=i{_abi.Argument.integer.offset - 4}xqd")


def words_of(arguments):
    """The arguments of a launch as the C API takes them, in bytes: ctypes makes structures ten times slower than these are joined."""
    return b"".join([_WORDS.get(type(value), _other)(value) for value in arguments])


def _tensor(value):
    if not value._words:
        call(_abi.library.tile_tensor_info, value._handle, None)  # says that it was released
    return value._words[0]


def _real(value):
    return _NUMBER.pack(_abi.REAL_ARGUMENT, 0, value)


def _integer(value):
    if not -2**63 <= value < 2**64:
        raise OverflowError(f"{value} is beyond 64 bits")
    if value >= 2**63:
        return _NUMBER.pack(_abi.UNSIGNED_ARGUMENT, value - 2**64, 0)
    return _NUMBER.pack(_abi.INTEGER_ARGUMENT, value, 0)


def _other(value):
    """A tensor or a number of another type than those that most are of."""
    if isinstance(value, Tensor):
        return _tensor(value)
    if getattr(value, "shape", ()) == ():  # numbers of NumPy have one
        if hasattr(value, "__index__") or isinstance(value, bool):
            return _integer(int(value))
        if hasattr(value, "__float__"):
            return _real(float(value))
    raise TypeError(f"an argument of a kernel is a tilec.Tensor or a number, got a {type(value).__name__}")


_WORDS = {Tensor: _tensor, float: _real, int: _integer}

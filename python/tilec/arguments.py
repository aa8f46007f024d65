"""Arguments and parameters of kernels."""
import collections
import ctypes

from . import _abi
from ._handles import call
from .dtypes import DType
from .tensor import Tensor

Parameter = collections.namedtuple("Parameter", "name kind dtype rank")
Parameter.__doc__ = """A parameter of a kernel. `kind` is "in", "out", "inout", "scalar" or "const"; `dtype` is None where any is taken."""


def parameter(function, handle, index):
    """A parameter, which a function of the C API describes."""
    found = _abi.ParameterDescription()
    call(function, handle, index, ctypes.byref(found))
    return Parameter(found.name.decode(), _abi.PARAMETER_KINDS[found.kind], DType(found.dtype) if found.dtype else None,
                     found.rank)


def words_of(arguments):
    """The arguments of a launch, for the C API."""
    return (_abi.Argument * len(arguments))(*map(_word, arguments))


def _word(value):
    """A tensor or a number, as a launch takes it."""
    if isinstance(value, Tensor):
        if value.closed:
            call(_abi.library.tile_tensor_info, value._handle, None)  # says that it was released
        return value._argument
    if getattr(value, "shape", ()) == ():  # numbers of NumPy have one
        if hasattr(value, "__index__") or isinstance(value, bool):
            return _integer(int(value))
        if hasattr(value, "__float__"):
            return _abi.Argument(kind=_abi.REAL_ARGUMENT, real=float(value))
    raise TypeError(f"an argument of a kernel is a tilec.Tensor or a number, got a {type(value).__name__}")


def _integer(value):
    if not -2**63 <= value < 2**64:
        raise OverflowError(f"{value} is beyond 64 bits")
    if value >= 2**63:
        return _abi.Argument(kind=_abi.UNSIGNED_ARGUMENT, integer=value - 2**64)
    return _abi.Argument(kind=_abi.INTEGER_ARGUMENT, integer=value)

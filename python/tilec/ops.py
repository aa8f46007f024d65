"""Ops on tensors, one function for each op that the library has by name (docs/ops.md, `tilec build op:NAME`).

    c = tilec.ops.matmul(a, b)
    tilec.ops.add(a, b, out=c, stream=stream)

Each takes its input tensors, then `out=` for a tensor to write to, `stream=`, and the op's settings by name. Without a stream the
work is of the device's default stream; without `out` the result is a new tensor in memory of that stream."""
import ctypes

from . import _abi
from ._handles import call, encoded, require_compiler
from .device import stream_handle
from .dtypes import DType
from .tensor import Tensor, empty

_functions = {}


def names():
    """The names of all ops."""
    require_compiler("ops")
    count = ctypes.c_size_t()
    call(_abi.library.tile_op_count, ctypes.byref(count))
    return [_described(_abi.library.tile_op_at, index)[0] for index in range(count.value)]


def _described(function, key):
    description = _abi.OpDescription()
    call(function, key, ctypes.byref(description))
    return description.name.decode(), description.summary.decode(), description.inputs


def _settings(settings):
    """Words as the command line has them: 1 for True, f16 for tilec.f16."""
    words = (_abi.Setting * len(settings))()
    for word, (name, value) in zip(words, settings.items()):
        word.name, word.value = encoded(name), encoded(_word(value))
    return words


def _word(value):
    if isinstance(value, DType):
        return value.name
    return str(int(value) if isinstance(value, bool) else value)


def _output(name, inputs, count, words, stream):
    dtype, rank, shape = ctypes.c_int32(), ctypes.c_int32(), (ctypes.c_int64 * _abi.MAX_RANK)()
    call(_abi.library.tile_op_output, name, inputs, count, words, len(words), ctypes.byref(dtype), ctypes.byref(rank), shape)
    return empty(shape[:rank.value], dtype.value, stream=stream)


def run(name, *tensors, out=None, stream=None, **settings):
    """The op of a name: what the functions of this module do."""
    require_compiler("ops")
    for tensor in tensors if out is None else (*tensors, out):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}: a tilec.Tensor is expected, got a {type(tensor).__name__}")
    if stream is None and tensors:
        stream = tensors[0]._default_stream()
    handle = stream_handle(stream)
    inputs = (ctypes.c_void_p * len(tensors))(*(tensor._handle for tensor in tensors))
    word, words = encoded(name), _settings(settings)
    result = _output(word, inputs, len(tensors), words, stream) if out is None else out
    call(_abi.library.tile_op_run, word, handle, inputs, len(tensors), result._handle, words, len(words))
    return result


def __getattr__(name):
    if name.startswith("_") or not _abi.has_compiler:
        raise AttributeError(f"tilec.ops has no {name}")
    if name not in _functions:
        if name not in names():
            raise AttributeError(f"there is no op {name}; there are {', '.join(names())}")
        _, summary, inputs = _described(_abi.library.tile_op_find, encoded(name))

        def function(*tensors, out=None, stream=None, **settings):
            return run(name, *tensors, out=out, stream=stream, **settings)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"{summary}, of {inputs} tensor{'s' if inputs != 1 else ''}."
        _functions[name] = function
    return _functions[name]


def __dir__():
    return ["names", "run", *(names() if _abi.has_compiler else [])]

"""Ops on tensors, one function for each op that the library has by name (docs/ops.md, `tilec build op:NAME`).

    c = tilec.ops.matmul(a, b)
    tilec.ops.add(a, b, out=c, stream=stream)
    values, indices = tilec.ops.top_k(logits, k=40)
    tilec.ops.adamw(weights, gradient, m, v, step=1)     # changes them in place

Each takes its input tensors, then `out=` for a tensor to write to, or a tuple of as many as the op has, `stream=`, and the op's settings by
name. Without a stream the work is of the device's default stream; without `out` results are new tensors in memory of that stream."""
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
    return (description.name.decode(), description.summary.decode(), description.inputs, description.optional_inputs,
            description.changed)


def _settings(settings):
    """Words as the command line has them: 1 for True, f16 for tilec.f16."""
    words = (_abi.Setting * len(settings))()
    for word, (name, value) in zip(words, settings.items()):
        word.name, word.value = encoded(name), encoded(_word(value))
    return words


def _word(value):
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (tuple, list)):
        return ",".join(_word(one) for one in value)
    return str(int(value) if isinstance(value, bool) else value)


def _new_outputs(call_words, stream):
    count = ctypes.c_size_t()
    call(_abi.library.tile_op_output_count, *call_words, ctypes.byref(count))
    dtype, rank, shape = ctypes.c_int32(), ctypes.c_int32(), (ctypes.c_int64 * _abi.MAX_RANK)()
    outputs = []
    for index in range(count.value):
        call(_abi.library.tile_op_output_at, *call_words, index, ctypes.byref(dtype), ctypes.byref(rank), shape)
        outputs.append(empty(tuple(shape[:rank.value]), dtype.value, stream=stream))
    return outputs


def _handles(tensors):
    return (ctypes.c_void_p * len(tensors))(*(tensor._handle for tensor in tensors))


def run(name, *tensors, out=None, stream=None, **settings):
    """The op of a name: what the functions of this module do. Returns the output, a tuple of several, or None if there is none."""
    require_compiler("ops")
    outputs = () if out is None else tuple(out) if isinstance(out, (tuple, list)) else (out,)
    for tensor in (*tensors, *outputs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}: a tilec.Tensor is expected, got a {type(tensor).__name__}")
    if stream is None and tensors:
        stream = tensors[0]._default_stream()
    handle = stream_handle(stream)
    inputs, word, words = _handles(tensors), encoded(name), _settings(settings)
    if out is None:
        outputs = _new_outputs((word, inputs, len(tensors), words, len(words)), stream)
    call(_abi.library.tile_op_launch, word, handle, inputs, len(tensors), _handles(outputs), len(outputs), words, len(words))
    if out is not None:
        return out
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def _document(summary, inputs, optional, changed):
    count = f"{inputs} to {inputs + optional}" if optional else str(inputs)
    text = f"{summary}, of {count} tensor{'' if (inputs, optional) == (1, 0) else 's'}"
    places = [str(i) for i in range(min(inputs + optional, 8)) if changed >> i & 1]
    return text + (f". Changes tensor {', '.join(places)}{', ...' if changed >> 8 else ''} in place." if places else ".")


def __getattr__(name):
    if name.startswith("_") or not _abi.has_compiler:
        raise AttributeError(f"tilec.ops has no {name}")
    if name not in _functions:
        if name not in names():
            raise AttributeError(f"there is no op {name}; there are {', '.join(names())}")
        _, *described = _described(_abi.library.tile_op_find, encoded(name))

        def function(*tensors, out=None, stream=None, **settings):
            return run(name, *tensors, out=out, stream=stream, **settings)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = _document(*described)
        _functions[name] = function
    return _functions[name]


def __dir__():
    return ["names", "run", *(names() if _abi.has_compiler else [])]

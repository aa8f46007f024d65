"""Ops on tensors, one function for each op that the library has by name (docs/ops.md, `tilec build op:NAME`).

    c = tilec.ops.matmul(a, b)
    tilec.ops.add(a, b, out=c, stream=stream)
    y = tilec.ops.layernorm(x, bias=bias)                # inputs by name too; None leaves one out
    values, indices = tilec.ops.top_k(logits, k=40)
    tilec.ops.adamw(weights, gradient, m, v, step=1)     # changes them in place

Each takes its input tensors, then `out=` for a tensor to write to, or a tuple of as many as the op has, `stream=`, and the op's settings by
name; help() of a function lists them. Inputs may be arrays of NumPy, tensors of other libraries, and numbers beside a tensor. Without a
stream the work is of the device's default stream; without `out` results are new tensors in memory of that stream."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from . import _abi
from ._handles import call, encoded, refused, require_compiler
from ._inputs import bound, inputs_of, outputs_of, require_all
from ._making import empty
from ._settings import word_of
from ._signatures import Signature, is_op, op_names, signature_of
from ._suggest import did_you_mean
from ._tensor import Tensor
from .device import Stream, stream_handle
from .dtypes import DType

_functions: dict[str, Callable[..., Any]] = {}
_NO_SETTINGS = (_abi.Setting * 0)()


def names() -> list[str]:
    """The names of all ops."""
    require_compiler("ops")
    return op_names()


def _setting_words(op: Signature, settings: dict[str, Any]) -> Any:
    """The settings that are given, None being none, as the C API takes them."""
    if not settings:
        return _NO_SETTINGS
    words, names = {}, {}
    for name, value in settings.items():
        known = op.setting_named(name)
        if known is None and op.is_described:
            raise refused(f"{op.name}: nothing is called '{name}'; {_what_is(op, name)}")
        if value is None:
            continue
        own = known.name if known else name
        if own in words:
            raise refused(f"{op.name}: setting '{own}' is given twice, by {names[own]}= and {name}=")
        names[own] = name
        words[own] = word_of(name, value, known.kind if known else None)
    settings = (_abi.Setting * len(words))()
    for place, (name, word) in zip(settings, words.items()):
        place.name, place.value = encoded(name), encoded(word)
    return settings


def _what_is(op: Signature, name: str) -> str:
    question = did_you_mean(name, [*op.settings, *op.inputs])
    known = ", ".join(f"{setting.name}={setting.word}" if setting.word else setting.name for setting in op.settings.values())
    return f"{question + ' ' if question else ''}{'settings are ' + known if known else 'the op has no settings'}"


def _handles(tensors: Any) -> Any:
    return (ctypes.c_void_p * len(tensors))(*(None if tensor is None else tensor._handle for tensor in tensors))


def _new_outputs(call_words: tuple, stream: Stream) -> list[Tensor]:
    count = ctypes.c_size_t()
    call(_abi.library.tile_op_output_count, *call_words, ctypes.byref(count))
    dtype, rank, shape = ctypes.c_int32(), ctypes.c_int32(), (ctypes.c_int64 * _abi.MAX_RANK)()
    outputs = []
    for index in range(count.value):
        call(_abi.library.tile_op_output_at, *call_words, index, ctypes.byref(dtype), ctypes.byref(rank), shape)
        outputs.append(empty(tuple(shape[:rank.value]), dtype=DType(dtype.value), stream=stream))
    return outputs


def run(name: str, *tensors: Any, out: Any = None, stream: Stream | None = None, **settings: Any) -> Any:
    """The op of a name: what the functions of this module do. Returns the output, a tuple of several, or None if there is none."""
    require_compiler("ops")
    if not is_op(name):
        raise refused(_no_op(name))
    op = signature_of(name)
    given = bound(op, tensors, settings)
    words = _setting_words(op, settings)
    require_all(op, given)
    outputs = outputs_of(op, out)
    inputs, stream, is_lent = inputs_of(op, given, outputs, stream)
    handles, word = _handles(inputs), encoded(name)
    if out is None:
        outputs = _new_outputs((word, handles, len(inputs), words, len(words)), stream)
    call(_abi.library.tile_op_launch, word, stream_handle(stream), handles, len(inputs), _handles(outputs), len(outputs), words,
         len(words))
    if is_lent:
        stream.synchronize()
    if out is not None:
        return out
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def _no_op(name: str) -> str:
    return f"there is no op {name!r}: {did_you_mean(name, op_names()) or 'tilec.ops.names() lists all'}"


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or not _abi.has_compiler:
        raise AttributeError(f"tilec.ops has no {name}")
    if name not in _functions:
        if not is_op(name):
            raise AttributeError(_no_op(name))

        def function(*tensors: Any, out: Any = None, stream: Stream | None = None, **settings: Any) -> Any:
            return run(name, *tensors, out=out, stream=stream, **settings)

        op = signature_of(name)
        function.__name__ = function.__qualname__ = name
        function.__doc__, function.__signature__ = op.document(), op.of_python()
        _functions[name] = function
    return _functions[name]


def __dir__() -> list[str]:
    return ["names", "run", *(names() if _abi.has_compiler else [])]

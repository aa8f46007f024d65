"""The tensors of a call of an op: by place and by name, of this and of other packages."""
from __future__ import annotations

from typing import Any

from ._handles import refused
from ._making import full, taken
from ._operands import as_number, expected, is_foreign, is_number
from ._signatures import Signature
from ._tensor import Tensor
from .device import Device, Stream, stream_handle
from .dlpack import is_shared


def bound(op: Signature, tensors: tuple, settings: dict) -> list:
    """The input at each place, None where one is left out. Inputs that are given by name are taken out of `settings`."""
    given = list(tensors)
    if len(given) > op.most:
        by_name = "; settings are given by name" if is_number(given[op.most]) else ""
        raise refused(f"{op.name}: the op reads {_count(op)}, got {len(given)}: {op.text()}{by_name}")
    if settings:
        _take_named(op, given, settings)
    while len(given) > op.needed and given[-1] is None:
        given.pop()
    return given


def require_all(op: Signature, given: list) -> None:
    """Refuses a call that lacks an input."""
    missing = [op.input_name(place) for place in range(op.needed) if place >= len(given) or given[place] is None]
    if missing:
        raise refused(f"{op.name}: the op reads {_count(op)}, got {sum(one is not None for one in given)}: {op.text()} "
                      f"lacks {', '.join(missing)}")


def _take_named(op: Signature, given: list, settings: dict) -> None:
    single = op.inputs[:-1] if op.repeats else op.inputs  # a name for each
    for place, name in enumerate(single):
        if name not in settings:
            continue
        if place < len(given):
            raise refused(f"{op.name}: input '{name}' is given twice, as tensor {place} and by name")
        given += [None] * (place - len(given)) + [settings.pop(name)]


def _count(op: Signature) -> str:
    if op.most > op.needed:
        return f"{op.needed} to {op.most} tensors"
    return "1 tensor" if op.needed == 1 else f"{op.needed} tensors"


def outputs_of(op: Signature, out: Any) -> tuple[Tensor, ...]:
    """The tensors that are to be written."""
    outputs = () if out is None else tuple(out) if isinstance(out, (tuple, list)) else (out,)
    for one in outputs:
        if not isinstance(one, Tensor):
            raise TypeError(f"{op.name}: 'out': {expected(one)}, and their memory would not be written")
    return outputs


def inputs_of(op: Signature, given: list, outputs: tuple[Tensor, ...],
              stream: Stream | None) -> tuple[list[Tensor | None], Stream, bool]:
    """The inputs as tensors, the stream of the work, and whether others may take memory of an input back before it is done."""
    if stream is not None:
        stream_handle(stream)
    if given and all(type(one) is Tensor for one in given):  # as most calls are
        return given, given[0]._default_stream() if stream is None else stream, False
    for place, one in enumerate(given):
        if not (one is None and place >= op.needed or isinstance(one, Tensor) or is_number(one) or is_foreign(one)):
            raise TypeError(f"{op.name}: '{op.input_name(place)}': {expected(one)}")
    device = _device_beside(given, outputs) if stream is None else stream.device
    work = device.default_stream if stream is None else stream
    foreign = [one for one in given if is_foreign(one) and not isinstance(one, Tensor)]
    is_lent = stream is None and any(is_shared(one, device) for one in foreign)  # else their stream is the work's
    tensors = [_taken(op, place, one, work) if any(one is other for other in foreign) else one for place, one in enumerate(given)]
    beside = next((one for one in (*tensors, *outputs) if isinstance(one, Tensor)), None)
    return [_of_number(op, one, beside, work) if is_number(one) else one for one in tensors], work, is_lent


def _device_beside(given: list, outputs: tuple[Tensor, ...]) -> Device:
    """Where tensors of others go: to the device of those that are here, to the GPU that they are on, or to that of Device()."""
    for one in (*given, *outputs):
        if isinstance(one, Tensor):
            return one.device
    for one in given:
        kind, ordinal = one.__dlpack_device__() if hasattr(one, "__dlpack_device__") else (1, 0)
        if int(kind) == 2:
            return Device(f"cuda:{int(ordinal)}")
    return Device()


def _taken(op: Signature, place: int, source: Any, stream: Stream) -> Tensor:
    device = stream.device
    if op.changed >> min(place, 63) & 1 and not is_shared(source, device):
        raise TypeError(f"{op.name} changes '{op.input_name(place)}' in place, and of this one it would change a copy: {expected(source)}")
    return taken(source, device, stream)


def _of_number(op: Signature, number: Any, beside: Tensor | None, stream: Stream) -> Tensor:
    """A tensor of rank 0, in the dtype of the tensor that it stands beside."""
    if beside is None:
        raise TypeError(f"{op.name}: a tensor is expected beside the number {number!r}: tilec.tensor({number!r}) makes one")
    return full((), as_number(number), beside.dtype, stream=stream)

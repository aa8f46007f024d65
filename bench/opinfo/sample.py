"""One sample: PyTorch's results, tilec's, and what is to be said of them."""
import dataclasses

import torch

import tilec
from compare import difference
from definitions import DEFINITIONS
from storage import mapped, placed, tensors_in

# What a refusal is: an error with tilec's or Python's own meaning of a wrong argument.
REFUSALS = (TypeError, ValueError, IndexError, OverflowError, BufferError, NotImplementedError)


@dataclasses.dataclass
class Outcome:
    """`kind` is "right", "definition", "refused", "wrong", or "none" where PyTorch computes nothing itself."""
    kind: str
    reason: str = ""


def outcome_of(title, name, info, sample, storage, device):
    arguments, settings = (sample.input, *sample.args), dict(sample.kwargs)
    try:
        theirs = results_of(info.op(*mapped(arguments, torch.clone), **settings))
    except Exception:
        return Outcome("none")
    try:
        ours = ours_of(name, info, arguments, settings, storage, device)
    except Exception as error:
        return refusal_of(error)
    return judged(title, name, info, arguments, settings, theirs, ours)


def refusal_of(error):
    text = (error.message if isinstance(error, tilec.Error) else str(error)).strip().splitlines()
    reason = f"{type(error).__name__}: {text[0] if text else ''}"
    is_ours = isinstance(error, tilec.Error) and error.fault == "user" and text
    return Outcome("refused" if is_ours or isinstance(error, REFUSALS) and text else "wrong", reason)


def ours_of(name, info, arguments, settings, storage, device):
    """tilec's results as tensors of PyTorch."""
    def here(tensor):
        return placed(tensor, storage, device)

    arguments, settings = mapped(arguments, here), mapped(settings, here)
    settings.pop("device", None)
    if getattr(name.call, "takes_device", False):
        arguments = (device, *arguments)
    elif not any(isinstance(one, (tilec.Tensor, tuple, list)) for one in arguments):
        raise ValueError("no tensor is among the operands: nothing says that tilec computes")
    return results_of(name.call(*arguments, **settings))


def results_of(value):
    """A list of tensors of PyTorch, of one, several or of a number."""
    if isinstance(value, tilec.Tensor):
        return [torch.from_dlpack(value)]
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)]
    if isinstance(value, (tuple, list)):
        return [one for each in value for one in results_of(each)]
    raise AssertionError(f"a {type(value).__name__} is the result")


def judged(title, name, info, arguments, settings, theirs, ours):
    reason = differs(title, name, ours, theirs, wide_results(info, arguments, settings, theirs), arguments)
    if reason is None:
        return Outcome("right")
    rule, why = DEFINITIONS.get(title, (None, None))
    if rule:
        defined = results_of(rule(as_given(theirs), *arguments, **settings))
        wide = wide_results(lambda *a, **s: rule(as_given(results_of(info.op(*a, **s))), *a, **s), arguments, settings, defined)
        if differs(title, name, ours, defined, wide, arguments) is None:
            return Outcome("definition", why)
    return Outcome("wrong", reason)


def as_given(results):
    return results[0] if len(results) == 1 else tuple(results)


def differs(title, name, ours, theirs, wide, arguments):
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    for at, (own, their, reference) in enumerate(zip(ours, theirs, wide)):
        if name.is_empty and (own.shape, own.dtype) == (their.shape, their.dtype):
            continue
        if title == "topk" and at == 1:  # of equal elements any
            own, their = picked(arguments, own, theirs), picked(arguments, their, theirs)
        reason = difference(own, their, reference, name)
        if reason:
            return reason
    return None


def picked(arguments, indices, theirs):
    x, dim = arguments[0], arguments[2] if len(arguments) > 2 else -1
    if not x.ndim or indices.shape != theirs[1].shape or indices.dtype != theirs[1].dtype:
        return indices
    return x.detach().gather(dim, indices)


def wide_results(function, arguments, settings, theirs):
    """PyTorch's results from the same inputs in f64, where it has a float as a result; else its own."""
    if not any(result.dtype.is_floating_point for result in theirs):
        return theirs
    has_floats = any(tensor.dtype.is_floating_point for tensor in tensors_in([arguments, settings]))

    def wide(tensor):
        return tensor.detach().double() if tensor.dtype.is_floating_point or not has_floats else tensor.detach()

    settings = {key: torch.float64 if isinstance(value, torch.dtype) and value.is_floating_point else value
                for key, value in mapped(settings, wide).items()}
    try:
        results = results_of((function.op if hasattr(function, "op") else function)(*mapped(arguments, wide), **settings))
    except Exception:  # what has no f64
        return theirs
    fits = len(results) == len(theirs) and all(one.shape == other.shape for one, other in zip(results, theirs))
    return results if fits else theirs

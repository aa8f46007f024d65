"""The names that somebody may have meant."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

# What other packages call ops and settings.
_ELSEWHERE = {
    "mm": "matmul", "bmm": "matmul", "dot": "matmul", "sub": "subtract", "mul": "multiply", "div": "divide", "true_divide": "divide",
    "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min", "amin": "reduce_min", "clip_grad_norm_": "clip_by_norm",
    "scaled_dot_product_attention": "attention", "sdpa": "attention", "normal": "randn", "uniform": "rand", "multinomial": "sample_top_k",
    "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "clone": "copy",
    "cast": "copy", "f2": "f16", "f4": "f32", "f8": "f64", "scale": "affine", "neg": "negative", "nll_loss": "cross_entropy", "swish": "silu",
}


# What is written otherwise here than with tensors of PyTorch or arrays of NumPy.
_REMEDIES = {
    "float": "x.to(tilec.f32)", "half": "x.to(tilec.f16)", "bfloat16": "x.to(tilec.bf16)", "double": "x.to(tilec.f64)",
    "int": "x.to(tilec.i32)", "long": "x.to(tilec.i64)", "bool": "x != 0", "type": "x.to(dtype)", "cuda": 'x.to("cuda")',
    "fill_": "x[...] = value", "zero_": "x[...] = 0", "copy_": "x[...] = other", "t": "x.T", "stride": "x.strides", "abs": "abs(x)",
    "dot": "x @ y", "mm": "x @ y", "bmm": "x @ y", "pow": "x**2", "add_": "x += y", "mul_": "x *= y", "sub_": "x -= y", "div_": "x /= y",
    "nelement": "x.size", "element_size": "x.itemsize", "ravel": "x.flatten()", "broadcast_to": "x.expand(shape)",
    "expand_dims": "x.unsqueeze(dim)", "astensor": "x", "detach": "x, of which Python knows no gradient",
    "backward": "C++, where gradients are (docs/autograd.md)", "grad": "C++, where gradients are (docs/autograd.md)",
    "requires_grad": "C++, where gradients are (docs/autograd.md)"}


def remedy(name: str) -> str:
    """What is written instead of an attribute that tensors do not have, or nothing."""
    return f"write {_REMEDIES[name]}" if name in _REMEDIES else ""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Up to `most` of these names, the likeliest first: those spelt alike, and those of which `name` is a word."""
    def likeness(known: str) -> float:
        if _ELSEWHERE.get(name.lower()) == known:
            return 2
        alike = difflib.SequenceMatcher(None, _plain(name), _plain(known)).ratio()
        words = known.split("_")
        return max(alike, 0.9 - 0.01 * len(words)) if len(name) > 1 and name.lower() in words else alike

    scored = sorted(((likeness(known), known) for known in names), key=lambda one: (-one[0], one[1]))
    best = scored[0][0] if scored else 0
    return [known for score, known in scored[:most] if score >= max(0.65, best - 0.1)]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question, or nothing if no name is near."""
    found = nearest(str(name), names)
    return f"did you mean {' or '.join(found)}?" if found else ""

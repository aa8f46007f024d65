"""What differs from PyTorch by definition: what tilec's result must be instead, with the reason that docs/ops.md gives.

Each rule computes the result that tilec defines from PyTorch's arguments and result; a sample differs by definition only if tilec's
result is exactly as right by that one as others are by PyTorch's. The reasons are lines of "Where this differs from PyTorch".
"""
import torch


def limits(theirs, x, *_, **__):
    """Activations that are x times what tends to 0."""
    return torch.where(x == -torch.inf, torch.tensor(-0.0, dtype=theirs.dtype), theirs)


def nan_last_argmax(theirs, x, dim=None, keepdim=False):
    return torch.argmax(nan_lowest(x), dim, keepdim)


def nan_last_top_k(theirs, x, k, dim=-1, largest=True, sorted=True):
    return torch.topk(nan_lowest(x), k, dim, largest, sorted)


def nan_lowest(x):
    return torch.where(x.isnan(), torch.tensor(-torch.inf, dtype=x.dtype), x) if x.dtype.is_floating_point else x


def own_dtype_sum(theirs, x, *_, **settings):
    """Sums of integers."""
    return theirs if settings.get("dtype") else theirs.to(torch.int64 if x.dtype == torch.bool else x.dtype)


def aligned_at_ends(theirs, q, k, v, *, is_causal=False, attn_mask=None, **settings):
    if not is_causal:
        return theirs
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - q.shape[-2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **settings).nan_to_num(0)


def in_f32(theirs, *_, **__):
    return theirs.float() if theirs.dtype in (torch.float16, torch.bfloat16) else theirs


def nearest_end(dtype):
    """Casts of floats beyond an integer's ends; NaN is 0."""
    ends = torch.iinfo(dtype)

    def rule(theirs, x, *_, **__):
        if not x.dtype.is_floating_point:
            return theirs
        whole = x.double().nan_to_num(0, torch.inf, -torch.inf).trunc()
        inside = torch.where((whole < ends.max) & (whole > ends.min), whole, 0).to(dtype)
        return torch.where(whole >= ends.max, ends.max, torch.where(whole <= ends.min, ends.min, inside)).to(dtype)
    return rule


def rounded_once(dtype):
    """Casts of f64: half of what is cut off, added before, rounds up; the bit that decides a tie rounds to even."""
    fraction = {torch.float16: 10, torch.bfloat16: 7}[dtype]
    least = {torch.float16: -14, torch.bfloat16: -126}[dtype]

    def rule(theirs, x, *_, **__):
        if x.dtype != torch.float64:
            return theirs
        exponent = torch.frexp(x)[1].clamp(min=least + 1) - 1
        unit = torch.ldexp(torch.ones_like(x), exponent - fraction)
        once = (x / unit).round() * unit  # exact but for round, which is to even
        return torch.where(x.isfinite() & (x != 0), once, x).to(dtype)
    return rule


def each_truncated(theirs, *bounds, start=None, end=None, step=None, dtype=None, **_):
    """A range of fractions in integers."""
    words = [word for word in (start, *bounds, end, step) if word is not None]
    if theirs.dtype.is_floating_point:
        return theirs
    return nearest_end(theirs.dtype)(theirs, torch.arange(*words, dtype=torch.float64))


def statistics_in_f32(theirs, *_, **__):
    y, mean, rstd = theirs
    return y, in_f32(mean), in_f32(rstd)


def masks(theirs, *_, **__):
    return theirs.to(torch.bool)


_CASTS = "casts of -6.0 to u8, and of other floats beyond an integer's ends"
_LIMITS = "silu, gelu and gelu_tanh of -infinity"
DEFINITIONS = {
    "nn.functional.silu": (limits, _LIMITS),
    "nn.functional.gelu": (limits, _LIMITS),
    "argmax": (nan_last_argmax, "argmax and top_k of 1, NaN, 2, 3"),
    "topk": (nan_last_top_k, "argmax and top_k of 1, NaN, 2, 3"),
    "sum": (own_dtype_sum, "sums of i8, i16, i32 and u8"),
    "sum_to_size": (own_dtype_sum, "sums of i8, i16, i32 and u8"),
    "nn.functional.scaled_dot_product_attention": (aligned_at_ends, "causal attention with more keys than queries, Lq and Lk"),
    "nn.functional.cross_entropy": (in_f32, "losses of cross_entropy and the result of global_norm"),
    "byte": (nearest_end(torch.uint8), _CASTS),
    "char": (nearest_end(torch.int8), _CASTS),
    "short": (nearest_end(torch.int16), _CASTS),
    "int": (nearest_end(torch.int32), _CASTS),
    "long": (nearest_end(torch.int64), _CASTS),
    "half": (rounded_once(torch.float16), "casts of f64 to f16 and bf16"),
    "bfloat16": (rounded_once(torch.bfloat16), "casts of f64 to f16 and bf16"),
    "native_layer_norm": (statistics_in_f32, "statistics of norms, mean and rstd"),
    "any": (masks, "any and all of u8"),
    "all": (masks, "any and all of u8"),
    "arange": (each_truncated, "arange of fractions in integers"),
}

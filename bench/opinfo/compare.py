"""Whether a result is the reference's, and how far it may be from it.

The reference of a float is PyTorch's result for the same inputs in f64, so that inputs of f16 and bf16 were rounded once; that of
integers, masks and everything exact is PyTorch's own result in the same dtype. A float may differ by what PyTorch allows its own results
(torch.testing's tolerances), and by four times what PyTorch's own result in that dtype differs from the reference there, since roundings
on the way are the dtype's, not tilec's. In sums of many terms that is the largest such difference in the tensor: what cancels in one
element of a product may not in another, by chance alone. NaN must be where the reference has NaN, infinities too with their sign, and
what is finite in the reference but infinite in PyTorch's own result, since it overflows on the way, may be so here.
"""
import torch

# torch.testing.assert_close has these.
_TOLERANCES = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}
_FREE = 4  # times PyTorch's own error


def difference(ours, theirs, reference, name):
    """None if `ours` is right, else what is wrong in one line. `theirs` is PyTorch's own result, `reference` the same in f64."""
    if ours.shape != theirs.shape:
        return f"shape {tuple(ours.shape)} for {tuple(theirs.shape)}"
    if ours.dtype != theirs.dtype:
        return f"dtype {name_of(ours.dtype)} for {name_of(theirs.dtype)}"
    if not theirs.numel():
        return None
    if name.is_exact or not theirs.dtype.is_floating_point:
        wrong = ~same(ours, theirs)
        return described(wrong, ours, theirs) if wrong.any() else None
    rounded = reference.to(theirs.dtype)
    wrong = ~same(ours, rounded) & ~is_close(ours.double(), theirs.double(), reference.double(), theirs.dtype, name.is_sum)
    wrong &= ~(same(ours, theirs) & ~theirs.isfinite())  # what overflows on the way, overflows there too
    return described(wrong, ours, rounded) if wrong.any() else None


def same(a, b):
    """Equal, or both NaN."""
    equal = a == b
    return equal | (a.isnan() & b.isnan()) if a.dtype.is_floating_point else equal


def is_close(ours, theirs, reference, dtype, is_sum):
    relative, absolute = _TOLERANCES[dtype]
    own_error = (theirs - reference).abs().nan_to_num(0, 0, 0)
    allowed = absolute + relative * reference.abs() + _FREE * (own_error.max() if is_sum else own_error)
    return ((ours - reference).abs() <= allowed) & reference.isfinite() & ours.isfinite()


def described(wrong, ours, expected):
    at = tuple(wrong.nonzero()[0].tolist())
    return f"{int(wrong.sum())} of {wrong.numel()} elements, at {list(at)} {ours[at].item()} for {expected[at].item()}"


def name_of(dtype):
    return str(dtype).removeprefix("torch.")

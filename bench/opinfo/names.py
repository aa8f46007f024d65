"""The names of PyTorch's operator database that tilec has, each with the call that a user of tilec would write.

A call takes the arguments of PyTorch's function, as tensors of tilec, and says the same by tilec's names. Nothing is computed here that
tilec does not have: a parameter that a call does not name, and an argument that tilec refuses, makes the sample a refused one.
"""
import dataclasses
from collections.abc import Callable

import tilec

ops = tilec.ops


@dataclasses.dataclass(frozen=True)
class Name:
    """`is_exact`: the result must be PyTorch's bit for bit, since nothing is rounded, or one rounding is all there is. `is_empty`: the
    elements are not set, and only shape and dtype count. `is_sum`: each element is computed from many terms."""
    call: Callable
    is_exact: bool = False
    is_sum: bool = False
    is_empty: bool = False


def exact(call):
    return Name(call, is_exact=True)


def near(call):
    return Name(call)


def of_sums(call):
    return Name(call, is_sum=True)


# --- Arguments in PyTorch's order ---

def gelu(x, *, approximate="none"):
    return ops.gelu_tanh(x) if approximate == "tanh" else ops.gelu(x)


def div_trunc(a, b, *, rounding_mode):
    return ops.divide(a, b, rounding=rounding_mode)


def reduced(method):
    def call(x, dim=None, keepdim=False, *, dtype=None):
        return getattr(x, method)(dim, keepdim=keepdim, **({} if dtype is None else {"dtype": dtype}))
    return call


def softmax(op):
    return lambda x, dim, *, dtype=None: op(x, dim=dim, dtype=dtype)


def softmax_backward(dy, y, dim, input_dtype):
    return ops.softmax_backward(dy, y, dim=dim)


def argmax(x, dim=None, keepdim=False):
    if dim is None and not keepdim:
        return ops.argmax(x.flatten(), indices="i64")
    return ops.argmax(x, dim=dim, keepdim=keepdim, indices="i64")


def topk(x, k, dim=-1, largest=True, sorted=True):
    return ops.top_k(x, k=k, dim=dim, indices="i64", **({} if largest else {"largest": largest}))


def einsum(operands, formula):
    return ops.einsum(*operands, formula=formula)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ops.layernorm(x, weight, bias, eps=eps, **norm_shape(x, normalized_shape))


def native_layer_norm(x, normalized_shape, weight, bias, eps):
    y, mean, rstd = ops.layernorm(x, weight, bias, eps=eps, statistics=True, **norm_shape(x, normalized_shape))
    return y, mean[..., None], rstd[..., None]


def rms_norm(x, normalized_shape, weight=None, eps=None):
    return ops.rmsnorm(x, weight, eps=tilec_eps(x) if eps is None else eps, **norm_shape(x, normalized_shape))


def tilec_eps(x):
    """PyTorch's default: that of the dtype it computes in."""
    return 2.0**-52 if x.dtype == tilec.f64 else 2.0**-23


def norm_shape(x, shape):
    """The norms are over the last dimension; of more dimensions there is no setting."""
    return {} if tuple(shape) == x.shape[-1:] else {"normalized_shape": shape}


def embedding(indices, table, **settings):
    return ops.embedding(table, indices, **settings)


def attention(q, k, v, *, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    others = {name: value for name, value in (("mask", attn_mask), ("dropout_p", dropout_p or None)) if value is not None}
    return ops.attention(q, k, v, is_causal=is_causal, scale=scale, precision="ieee", **others)  # as PyTorch's f32


def converted(dtype):
    return lambda x, *, memory_format=None: x.to(dtype)


def to(x, *words, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
    if words and hasattr(words[0], "shape"):  # another tensor
        return x.to(words[0].dtype, device=words[0].device)
    dtype = next((word for word in words if tilec.dtypes.find_dtype(word)), dtype)
    return x.to(dtype=dtype) if dtype is not None else x


def fill(x, value):
    copy = x.clone()
    copy[...] = value
    return copy


def made(maker):
    def call(device, shape, *value, dtype=None, layout=None, requires_grad=False, memory_format=None, pin_memory=False, **_):
        return maker(shape, *value, device=device, **({} if dtype is None else {"dtype": dtype}))
    call.takes_device = True
    return call


def made_like(maker):
    return lambda x, *, dtype=None, device=None, layout=None, **_: maker(x, dtype=dtype)


def arange(device, *bounds, start=None, end=None, step=None, dtype=None, requires_grad=False, layout=None, **_):
    words = [word for word in (start, *bounds, end, step) if word is not None]
    return tilec.arange(*words, dtype=dtype, device=device)


arange.takes_device = True

NAMES = {
    # elementwise, of one
    "nn.functional.relu": exact(lambda x, inplace=False: ops.relu(x)),
    "nn.functional.gelu": near(gelu),
    "nn.functional.silu": near(lambda x, inplace=False: ops.silu(x)),
    "sigmoid": near(lambda x: ops.sigmoid(x)),
    "tanh": near(lambda x: ops.tanh(x)),
    "neg": exact(lambda x: -x),
    "abs": exact(lambda x: abs(x)),
    "positive": exact(lambda x: +x),
    "square": near(lambda x: x**2),
    "pow": near(lambda x, exponent: x**exponent),
    "bitwise_not": exact(lambda x: ~x),
    # elementwise, of two
    "add": near(lambda a, b: a + b),
    "sub": near(lambda a, b: a - b),
    "mul": near(lambda a, b: a * b),
    "div/no_rounding_mode": near(lambda a, b: a / b),
    "div/trunc_rounding": near(div_trunc),
    "true_divide": near(lambda a, b: a / b),
    "rsub": near(lambda a, b: b - a),
    "__radd__": near(lambda a, b: b + a),
    "__rsub__": near(lambda a, b: b - a),
    "__rmul__": near(lambda a, b: b * a),
    "__rdiv__": near(lambda a, b: b / a),
    "maximum": exact(lambda a, b: ops.maximum(a, b)),
    "minimum": exact(lambda a, b: ops.minimum(a, b)),
    "max/binary": exact(lambda a, b: ops.maximum(a, b)),
    "min/binary": exact(lambda a, b: ops.minimum(a, b)),
    "eq": exact(lambda a, b: a == b),
    "ne": exact(lambda a, b: a != b),
    "lt": exact(lambda a, b: a < b),
    "le": exact(lambda a, b: a <= b),
    "gt": exact(lambda a, b: a > b),
    "ge": exact(lambda a, b: a >= b),
    "bitwise_and": exact(lambda a, b: a & b),
    "bitwise_or": exact(lambda a, b: a | b),
    "bitwise_xor": exact(lambda a, b: a ^ b),
    "__rand__": exact(lambda a, b: b & a),
    "__ror__": exact(lambda a, b: b | a),
    "__rxor__": exact(lambda a, b: b ^ a),
    # reductions
    "sum": of_sums(reduced("sum")),
    "mean": of_sums(reduced("mean")),
    "amax": exact(reduced("max")),
    "amin": exact(reduced("min")),
    "max/reduction_no_dim": exact(reduced("max")),
    "min/reduction_no_dim": exact(reduced("min")),
    "any": exact(reduced("any")),
    "all": exact(reduced("all")),
    "sum_to_size": of_sums(lambda x, *shape: ops.sum_to(x, shape=shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)),
    "argmax": exact(argmax),
    "topk": exact(topk),
    # rows
    "softmax": of_sums(softmax(lambda *x, **settings: ops.softmax(*x, **settings))),
    "softmax/with_dtype": of_sums(softmax(lambda *x, **settings: ops.softmax(*x, **settings))),
    "log_softmax": of_sums(softmax(lambda *x, **settings: ops.log_softmax(*x, **settings))),
    "log_softmax/with_dtype": of_sums(softmax(lambda *x, **settings: ops.log_softmax(*x, **settings))),
    "_softmax_backward_data": of_sums(softmax_backward),
    "nn.functional.layer_norm": of_sums(layer_norm),
    "native_layer_norm": of_sums(native_layer_norm),
    "nn.functional.rms_norm": of_sums(rms_norm),
    "nn.functional.cross_entropy": of_sums(lambda logits, targets, **settings: ops.cross_entropy(logits, targets, **settings)),
    "nn.functional.embedding": exact(embedding),
    # products
    "matmul": of_sums(lambda a, b: a @ b),
    "__rmatmul__": of_sums(lambda a, b: b @ a),
    "mm": of_sums(lambda a, b: a @ b),
    "bmm": of_sums(lambda a, b: a @ b),
    "mv": of_sums(lambda a, b: a @ b),
    "dot": of_sums(lambda a, b: a @ b),
    "vdot": of_sums(lambda a, b: a @ b),
    "nn.functional.linear": of_sums(lambda x, weight, bias=None: ops.linear(x, weight, bias)),
    "einsum": of_sums(einsum),
    "nn.functional.scaled_dot_product_attention": of_sums(attention),
    # copies and conversions
    "clone": exact(lambda x, *, memory_format=None: x.clone()),
    "contiguous": exact(lambda x, *, memory_format=None: x.contiguous()),
    "to": exact(to),
    **{word: exact(converted(dtype)) for word, dtype in {
        "float": "f32", "double": "f64", "half": "f16", "bfloat16": "bf16", "int": "i32", "long": "i64", "short": "i16", "char": "i8",
        "byte": "u8", "bool": "i1"}.items()},
    "fill": exact(fill),
    "item": exact(lambda x: x.item()),
    # makers
    "zeros": exact(made(tilec.zeros)),
    "ones": exact(made(tilec.ones)),
    "full": exact(made(tilec.full)),
    "empty": Name(made(tilec.empty), is_empty=True),
    "zeros_like": exact(made_like(tilec.zeros_like)),
    "empty_like": Name(made_like(tilec.empty_like), is_empty=True),
    "arange": near(arange),
    # views
    "reshape": exact(lambda x, *shape: x.reshape(*shape)),
    "view": exact(lambda x, *shape: x.view(*shape)),
    "permute": exact(lambda x, *dims: x.permute(*dims)),
    "transpose": exact(lambda x, first, second: x.transpose(first, second)),
    "T": exact(lambda x: x.T),
    "mT": exact(lambda x: x.mT),
    "squeeze": exact(lambda x, *dim: x.squeeze(*dim)),
    "squeeze/multiple": exact(lambda x, *dim: x.squeeze(*dim)),
    "unsqueeze": exact(lambda x, dim: x.unsqueeze(dim)),
    "expand": exact(lambda x, *shape: x.expand(*shape)),
    "flatten": exact(lambda x, start_dim=0, end_dim=-1: x.flatten(start_dim, end_dim)),
    "__getitem__": exact(lambda x, *key: x[key if len(key) != 1 else key[0]]),
}

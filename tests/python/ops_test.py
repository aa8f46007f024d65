#!/usr/bin/env python3
"""Every op by name against NumPy."""
import math
import unittest

import support
from support import Case

import numpy
import tilec
from numpy.testing import assert_allclose, assert_array_equal

kCovered = set()


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


erf = numpy.vectorize(math.erf)
kActivations = {
    "relu": lambda x: numpy.maximum(x, 0),
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "tanh": numpy.tanh,
}
kArithmetic = {"add": numpy.add, "subtract": numpy.subtract, "multiply": numpy.multiply, "divide": numpy.divide,
               "maximum": numpy.maximum, "minimum": numpy.minimum}
kComparisons = {"equal": numpy.equal, "not_equal": numpy.not_equal, "less": numpy.less, "less_equal": numpy.less_equal,
                "greater": numpy.greater, "greater_equal": numpy.greater_equal}
kReductions = {"sum": numpy.sum, "mean": numpy.mean, "reduce_max": numpy.max, "reduce_min": numpy.min,
               "sum_of_squares": lambda x, **how: numpy.sum(x * x, **how)}


class ByName(Case):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(3)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype("f4")

    def give(self, *arrays):
        return [tilec.from_numpy(numpy.ascontiguousarray(array), self.device) for array in arrays]

    def op(self, name, *arrays, **settings):
        """The result of an op of arrays, as an array, or as a tuple of arrays."""
        kCovered.add(name)
        result = getattr(tilec.ops, name)(*self.give(*arrays), **settings)
        return tuple(one.numpy() for one in result) if isinstance(result, tuple) else result.numpy()

    def changed(self, name, *arrays, **settings):
        """The inputs of an op that changes some of them, as arrays, when it is done."""
        kCovered.add(name)
        tensors = self.give(*arrays)
        self.assertIsNone(getattr(tilec.ops, name)(*tensors, **settings))
        return [tensor.numpy() for tensor in tensors]

    def slope(self, function, x, dy):
        """The gradient of sum(function(x) * dy) by differences, in f64."""
        x, step = x.astype("f8"), 1e-6
        return dy * (function(x + step) - function(x - step)) / (2 * step)

    def test_activations_and_their_gradients(self):
        x, dy = self.normal(7, 33), self.normal(7, 33)
        for name, function in kActivations.items():
            assert_allclose(self.op(name, x), function(x), rtol=1e-4, atol=1e-5, err_msg=name)
            assert_allclose(self.op(name + "_backward", x, dy), self.slope(function, x, dy), rtol=1e-3, atol=1e-4, err_msg=name)
        a, b = self.normal(5, 16), self.normal(5, 16)
        gate = kActivations["silu"]
        assert_allclose(self.op("swiglu", a, b), gate(a) * b, rtol=1e-4, atol=1e-5)
        dy = self.normal(5, 16)
        da, db = self.op("swiglu_backward", a, b, dy)
        assert_allclose(da, self.slope(gate, a, dy * b), rtol=1e-3, atol=1e-4)
        assert_allclose(db, gate(a) * dy, rtol=1e-4, atol=1e-5)
        both = numpy.concatenate([a, b], -1)
        assert_allclose(self.op("swiglu_halves", both), gate(a) * b, rtol=1e-4, atol=1e-5)
        assert_allclose(self.op("swiglu_halves_backward", both, dy), numpy.concatenate([da, db], -1), rtol=1e-4, atol=1e-5)

    def test_arithmetic(self):
        a, b = self.normal(4, 1, 9), self.normal(3, 9)
        for name, function in kArithmetic.items():
            assert_allclose(self.op(name, a, b), function(a, b), rtol=1e-5, atol=1e-6, err_msg=name)
        assert_allclose(self.op("affine", a, factor=2, offset=-0.5), 2 * a - 0.5, rtol=1e-6)
        assert_array_equal(self.op("copy", a, dtype=tilec.f16), a.astype("f2"))
        assert_array_equal(self.changed("fill", a, value=0.25)[0], numpy.full_like(a, 0.25))

    def test_bits(self):
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
            bits = self.random.integers(0, 256, (3, 4, 8), "u1")
            a = bits.view(kind) if kind != "?" else bits > 99
            b = a[:1, ::-1].copy()
            for name, function in (("bitwise_and", numpy.bitwise_and), ("bitwise_or", numpy.bitwise_or), ("bitwise_xor", numpy.bitwise_xor)):
                assert_array_equal(self.op(name, a, b), function(a, b), f"{name} {kind}")
            assert_array_equal(self.op("bitwise_not", a), ~a, kind)
        x, = self.give(self.normal(4))
        self.fails("InvalidArgument", "bitwise_and: a is f32", tilec.ops.bitwise_and, x, x)
        self.fails("InvalidArgument", "bitwise_not: x is f32", tilec.ops.bitwise_not, x)
        mask = x > 0
        self.fails("InvalidArgument", "bitwise_or:", tilec.ops.bitwise_or, mask, mask.to("u8"))

    def test_powers(self):
        a, b = numpy.abs(self.normal(4, 1, 9)) + 0.1, self.normal(3, 9)
        assert_allclose(self.op("power", a, b), a**b, rtol=3e-6)
        assert_allclose(self.op("power", a.astype("f8"), b.astype("f8")), a.astype("f8")**b.astype("f8"), rtol=1e-14)
        special = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -8, 1, -1], "f4")
        exponents = numpy.array([0, 1, -1, 2, 3, 0.5, numpy.inf, numpy.nan], "f4")
        with numpy.errstate(all="ignore"):
            assert_array_equal(self.op("power", special, exponents[:, None].copy()), special**exponents[:, None])
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            ends = numpy.iinfo(kind)
            bases = [0, 1, 2, 3, 7, ends.max, *([-1, -2, -3, ends.min] if ends.min else [])]
            powers = [0, 1, 2, 5, 31, 63, ends.max, *([-1, -2, ends.min] if ends.min else [])]
            expected = [[self.whole_power(base, power, ends) for base in bases] for power in powers]
            found = self.op("power", numpy.array(bases, kind), numpy.array(powers, kind)[:, None].copy())
            assert_array_equal(found, numpy.array(expected, kind), kind)

    def whole_power(self, base, power, ends):
        """With wrapping; of a negative power the integer part."""
        if power < 0:
            return {1: 1, -1: 1 - power % 2 * 2}.get(base, 0)
        bits = ends.bits
        wrapped = pow(base, power, 2**bits)
        return wrapped - 2**bits if wrapped > ends.max else wrapped

    def test_comparisons(self):
        a = numpy.array([[0, 1, -1, numpy.nan, numpy.inf, -0.0]], "f4").repeat(6, 0)
        for dtype in ("f4", "f2", "f8"):
            x = a.astype(dtype)
            for name, function in kComparisons.items():
                found = self.op(name, x, numpy.ascontiguousarray(x.T))
                self.assertEqual(found.dtype, bool)
                assert_array_equal(found, function(x, x.T), name)
        for dtype, ends in (("i8", (-2**63, 2**63 - 1)), ("u8", (0, 2**64 - 1)), ("i1", (-128, 127)), ("u2", (0, 2**16 - 1))):
            x, y = numpy.array([*ends, 5], dtype), numpy.array([*ends[::-1], 5], dtype)
            for name, function in kComparisons.items():
                assert_array_equal(self.op(name, x, y), function(x, y), name)
        x, = self.give(a)
        self.fails("InvalidArgument", "less:", tilec.ops.less, x, x.to("f16"))
        self.fails("InvalidArgument", "less:", tilec.ops.less, x, x, out=x)

    def test_reductions(self):
        x = self.normal(3, 5, 8)
        for name, function in kReductions.items():
            assert_allclose(self.op(name, x), function(x), rtol=1e-5, atol=1e-5, err_msg=name)
            assert_allclose(self.op(name, x, axes=(0, -1)), function(x, axis=(0, 2)), rtol=1e-5, atol=1e-5, err_msg=name)
            assert_allclose(self.op(name, x, axes=1, keep_dims=True), function(x, axis=1, keepdims=True), rtol=1e-5, atol=1e-5)
        assert_allclose(self.op("sum_to", x, shape=(5, 1)), x.sum((0, 2)).reshape(5, 1), rtol=1e-5, atol=1e-5)

    def test_products(self):
        a, b = self.normal(20, 30), self.normal(30, 12)
        assert_allclose(self.op("matmul", a, b), a @ b, rtol=1e-4, atol=1e-4)
        batch = self.normal(3, 1, 6, 30)
        assert_allclose(self.op("matmul", batch, b), batch @ b, rtol=1e-4, atol=1e-4)
        weight, bias = self.normal(12, 30), self.normal(12)
        assert_allclose(self.op("linear", a, weight), a @ weight.T, rtol=1e-4, atol=1e-4)
        assert_allclose(self.op("linear", a, weight, bias, precision="ieee"), a @ weight.T + bias, rtol=1e-4, atol=1e-4)
        assert_allclose(self.op("einsum", a, b, formula="ij,jk->ki"), (a @ b).T, rtol=1e-4, atol=1e-4)
        three = self.normal(4, 6), self.normal(6, 5), self.normal(5)
        assert_allclose(self.op("einsum", *three, formula="ab,bc,c->a"), numpy.einsum("ab,bc,c->a", *three), rtol=1e-4, atol=1e-4)
        x = tilec.zeros((4, 4), device=self.device)
        self.fails("InvalidArgument", "einsum:", tilec.ops.einsum, x, formula="ij,jk->ik")

    def test_softmax(self):
        x, dy = self.normal(6, 50), self.normal(6, 50)
        y = softmax(x)
        assert_allclose(self.op("softmax", x), y, rtol=1e-5)
        assert_allclose(self.op("softmax", x, dim=0), softmax(x.T).T, rtol=1e-5)
        assert_allclose(self.op("log_softmax", x), numpy.log(y), rtol=1e-4, atol=1e-5)
        assert_allclose(self.op("softmax_backward", dy, y), y * (dy - (dy * y).sum(-1, keepdims=True)), rtol=1e-3, atol=1e-5)
        assert_allclose(self.op("log_softmax_backward", dy, numpy.log(y)), dy - y * dy.sum(-1, keepdims=True), rtol=1e-3, atol=1e-5)

    def normed(self, x, weight, bias=None):
        """What layernorm makes of rows, rmsnorm without a bias; and the mean, 1 / the deviation, and x in units of both."""
        mean = x.mean(-1, keepdims=True) if bias is not None else 0
        rstd = 1 / numpy.sqrt(((x - mean)**2).mean(-1, keepdims=True) + 1e-5)
        unit = (x - mean) * rstd
        return unit * weight + (0 if bias is None else bias), mean, rstd, unit

    def test_norms(self):
        x, weight, bias, dy = self.normal(6, 40), self.normal(40), self.normal(40), self.normal(6, 40)
        close = dict(rtol=1e-3, atol=1e-4)
        y, mean, rstd, unit = self.normed(x, weight, bias)
        assert_allclose(self.op("layernorm", x, weight, bias), y, **close)
        assert_allclose(self.op("layernorm", x), unit, **close)
        found = self.op("layernorm", x, weight, bias, statistics=True)
        for one, expected in zip(found, (y, mean[:, 0], rstd[:, 0])):
            assert_allclose(one, expected, **close)
        g = dy * weight
        dx = rstd * (g - g.mean(-1, keepdims=True) - unit * (g * unit).mean(-1, keepdims=True))
        for one, expected in zip(self.op("layernorm_backward", dy, x, *found[1:], weight), (dx, (dy * unit).sum(0), dy.sum(0))):
            assert_allclose(one, expected, **close)
        y, _, rstd, unit = self.normed(x, weight)
        found = self.op("rmsnorm", x, weight, statistics=True)
        assert_allclose(found[0], y, **close)
        dx = rstd * (g - unit * (g * unit).mean(-1, keepdims=True))
        for one, expected in zip(self.op("rmsnorm_backward", dy, x, found[1], weight), (dx, (dy * unit).sum(0))):
            assert_allclose(one, expected, **close)
        residual = self.normal(6, 40)
        for name, vectors in ("add_layernorm", (weight, bias)), ("add_rmsnorm", (weight,)):
            total, y = self.op(name, x, residual, *vectors)
            assert_allclose(total, x + residual, rtol=1e-6)
            assert_allclose(y, self.normed(x + residual, *vectors)[0], err_msg=name, **close)

    def test_cross_entropy(self):
        logits, targets = self.normal(9, 21), self.random.integers(0, 21, 9)
        targets[4] = -100
        kept = targets >= 0
        losses = numpy.where(kept, numpy.log(numpy.exp(logits).sum(-1)) - logits[numpy.arange(9), numpy.maximum(targets, 0)], 0)
        loss, lse = self.op("cross_entropy", logits, targets, statistics=True)
        assert_allclose(loss, losses[kept].mean(), rtol=1e-5)
        assert_allclose(self.op("cross_entropy", logits, targets, reduction="none"), losses, rtol=1e-4, atol=1e-5)
        one_hot = numpy.eye(21)[numpy.maximum(targets, 0)] * kept[:, None]
        expected = (softmax(logits) * kept[:, None] - one_hot) / kept.sum()
        assert_allclose(self.op("cross_entropy_backward", numpy.float32(1), logits, targets, lse), expected, rtol=1e-3, atol=1e-5)
        with self.assertRaisesRegex(tilec.Error, "reduction=most: mean, none or sum"):
            self.op("cross_entropy", logits, targets, reduction="most")

    def test_choosing(self):
        x = self.normal(5, 300)
        order = numpy.argsort(-x, axis=-1)
        assert_array_equal(self.op("argmax", x), order[:, 0])
        values, indices = self.op("top_k", x, k=4, indices=tilec.i64)
        assert_array_equal(indices, order[:, :4])
        assert_array_equal(values, numpy.take_along_axis(x, order[:, :4], -1))
        drawn = self.op("sample_top_k", x, k=3, temperature=0.7, seed=5)
        self.assertTrue((drawn[:, None] == order[:, :3]).any(-1).all())
        assert_array_equal(drawn, self.op("sample_top_k", x, k=3, temperature=0.7, seed=5))
        assert_array_equal(self.op("sample_top_k", x, k=3, temperature=0, seed=5), order[:, 0])

    def test_embeddings(self):
        table, indices = self.normal(11, 24), self.random.integers(0, 11, (3, 4))
        assert_array_equal(self.op("embedding", table, indices), table[indices])
        dy = self.normal(3, 4, 24)
        expected = numpy.zeros((11, 24))
        numpy.add.at(expected, indices.ravel(), dy.reshape(12, 24))
        assert_allclose(self.op("embedding_backward", indices, dy, rows=11), expected, rtol=1e-4, atol=1e-5)

    def test_rotary_positions(self):
        x, positions = self.normal(2, 3, 5, 8), numpy.arange(5, dtype="i4") + 7
        angles = positions[:, None] * 10000.0**(-numpy.arange(4) / 4)
        cosines, sines = numpy.cos(angles), numpy.sin(angles)
        left, right = x[..., :4], x[..., 4:]
        turned = numpy.concatenate([left * cosines - right * sines, right * cosines + left * sines], -1)
        tables = self.op("rotary_tables", positions, dims=8)
        for one, expected in zip(tables, (cosines, sines)):
            assert_allclose(one, expected, rtol=1e-5, atol=1e-6)
        assert_allclose(self.op("rotate", x, *tables), turned, rtol=1e-4, atol=1e-5)
        assert_allclose(self.op("rotary", x, positions), turned, rtol=1e-4, atol=1e-5)
        assert_allclose(self.op("rotate_backward", turned.astype("f4"), *tables), x, rtol=1e-3, atol=1e-4)
        assert_allclose(self.op("rotary_backward", turned.astype("f4"), positions), x, rtol=1e-3, atol=1e-4)

    def attended(self, q, k, v):
        """Attention, and the logarithms of the sums of its rows."""
        scores = q.astype("f8") @ k.astype("f8").swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        return softmax(scores) @ v, numpy.log(numpy.exp(scores).sum(-1))

    def test_attention(self):
        q, k, v, dout = (self.normal(2, 2, 6, 16) for _ in range(4))
        expected, sums = self.attended(q, k, v)
        out, lse = self.op("attention", q, k, v, statistics=True)
        assert_allclose(out, expected, rtol=1e-3, atol=1e-4)
        assert_allclose(lse, sums, rtol=1e-4, atol=1e-4)
        gradients = self.op("attention_backward", q, k, v, out, lse, dout)
        p = softmax(q @ k.swapaxes(-1, -2) / 4)
        dp = dout @ v.swapaxes(-1, -2)
        ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / 4
        for one, wanted in zip(gradients, (ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dout)):
            assert_allclose(one, wanted, rtol=1e-2, atol=1e-3)
        assert_allclose(self.op("attention_gradient", q, k, v, dout, of="dq"), gradients[0], rtol=1e-3, atol=1e-4)

    def test_caches(self):
        keys, values = numpy.zeros((2, 2, 8, 16), "f4"), numpy.zeros((2, 2, 8, 16), "f4")
        k, v, lengths = self.normal(2, 2, 3, 16), self.normal(2, 2, 3, 16), numpy.array([3, 5], "i4")
        _, _, keys, values, _ = self.changed("kv_cache_append", k, v, keys, values, lengths)
        assert_array_equal(keys[0, :, 0:3], k[0])
        assert_array_equal(values[1, :, 2:5], v[1])
        q = self.normal(2, 2, 16)
        out = self.op("decode_attention", q, keys, values, lengths)
        for b, length in enumerate(lengths):
            expected, _ = self.attended(q[b, :, None], keys[b, :, :length], values[b, :, :length])
            assert_allclose(out[b], expected[:, 0], rtol=1e-3, atol=1e-4)

    def test_random_numbers(self):
        x = numpy.zeros(5000, "f4")
        uniform = self.changed("rand", x, seed=1)[0]
        self.assertTrue(0 <= uniform.min() < 0.01 and 0.99 < uniform.max() < 1)
        assert_array_equal(self.changed("rand", x[:1000], seed=1, offset=2000)[0], uniform[2000:3000])
        drawn = self.changed("randn", x, seed=2, mean=3, deviation=0.5)[0]
        self.assertAlmostEqual(drawn.mean(), 3, delta=0.05)
        self.assertAlmostEqual(drawn.std(), 0.5, delta=0.05)
        whole = self.changed("randint", numpy.zeros(5000, "i4"), low=-2, high=3, seed=3)[0]
        self.assertEqual(set(whole), {-2, -1, 0, 1, 2})
        coins = self.changed("bernoulli", x, probability=0.25, seed=4)[0]
        self.assertEqual(set(coins), {0, 1})
        self.assertAlmostEqual(coins.mean(), 0.25, delta=0.05)

    def test_dropout(self):
        x, residual = self.normal(50, 20) + 10, self.normal(50, 20)
        y = self.op("dropout", x, p=0.5, seed=9, offset=3)
        mask = y != 0
        self.assertAlmostEqual(mask.mean(), 0.5, delta=0.1)
        assert_allclose(y, numpy.where(mask, 2 * x, 0), rtol=1e-6)
        assert_allclose(self.op("dropout_add", x, residual, p=0.5, seed=9, offset=3), y + residual, rtol=1e-5)
        assert_allclose(self.op("dropout_backward", x, p=0.5, seed=9, offset=3), y, rtol=1e-6)

    def test_optimizers(self):
        weights, gradient, velocity = self.normal(300), self.normal(300), self.normal(300)
        stepped, same = self.changed("sgd", weights, gradient, rate=0.1, weight_decay=0.5)
        assert_allclose(stepped, weights - 0.1 * (gradient + 0.5 * weights), rtol=1e-5, atol=1e-6)
        assert_array_equal(same, gradient)
        stepped, _, moved = self.changed("sgd", weights, gradient, velocity, rate=0.1, momentum=0.9)
        assert_allclose(moved, 0.9 * velocity + gradient, rtol=1e-5, atol=1e-6)
        assert_allclose(stepped, weights - 0.1 * moved, rtol=1e-5, atol=1e-6)
        zeros = numpy.zeros(300, "f4")
        stepped, _, m, v = self.changed("adamw", weights, gradient, zeros, zeros, step=1, rate=0.01, weight_decay=0)
        assert_allclose(m, 0.1 * gradient, rtol=1e-4, atol=1e-7)
        assert_allclose(v, 0.001 * gradient**2, rtol=1e-4, atol=1e-9)
        assert_allclose(stepped, weights - 0.01 * numpy.sign(gradient), rtol=1e-4, atol=1e-5)
        norm = self.op("global_norm", weights, gradient)
        assert_allclose(norm, math.sqrt((weights**2).sum() + (gradient**2).sum()), rtol=1e-5)
        _, clipped, other = self.changed("clip_by_norm", norm, weights, gradient, largest=1)
        assert_allclose(clipped, weights / norm, rtol=1e-5)
        assert_allclose(other, gradient / norm, rtol=1e-5)

    def test_outputs_that_are_given(self):
        x, = self.give(self.normal(5, 9))
        values, indices = (tilec.empty((5, 2), dtype, self.device) for dtype in (tilec.f32, tilec.i32))
        self.assertEqual(tilec.ops.top_k(x, k=2, out=(values, indices)), (values, indices))
        assert_array_equal(values.numpy()[:, 0], x.numpy().max(-1))
        self.fails("InvalidArgument", "top_k: the op has 2 outputs, got 1", tilec.ops.top_k, x, k=2, out=values)
        self.fails("InvalidArgument", "fill: the op has 0 outputs, got 1", tilec.ops.fill, x, out=x)
        self.fails("InvalidArgument", "axes=0,: integers, as 4x1024 or 0,2, are expected", tilec.ops.sum, x, axes="0,")
        self.fails("InvalidArgument", "epsilon=small: a number is expected", tilec.ops.layernorm, x, epsilon="small")


class Manual(unittest.TestCase):
    def test_lists_every_op(self):
        manual = (support.kRoot / "docs/ops.md").read_text()
        self.assertEqual([name for name in tilec.ops.names() if f"| `{name}` |" not in manual], [])


class Coverage(unittest.TestCase):
    """Runs last, by its name."""

    def test_z_every_op_was_tried(self):
        names = unittest.TestLoader().getTestCaseNames(ByName)
        if support.sys.argv[1:] or not names:
            self.skipTest("some tests were left out")
        self.assertEqual(set(tilec.ops.names()) - kCovered, set())


if __name__ == "__main__":
    unittest.main()

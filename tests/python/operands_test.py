#!/usr/bin/env python3
"""Ops of what is no matrix of floats: integers, masks, numbers of rank 0, other dimensions than the last."""
import math
import unittest

from support import Case, numpy, tilec
from numpy.testing import assert_allclose, assert_array_equal

erf = numpy.vectorize(math.erf)
kActivations = {
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + numpy.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "tanh": numpy.tanh,
}


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


class Operands(Case):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(11)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype("f4")

    def give(self, *arrays):
        return [tilec.from_numpy(numpy.ascontiguousarray(array), self.device) for array in arrays]

    def op(self, name, *arrays, **settings):
        """The result of an op of arrays, as an array, or as a tuple of arrays."""
        result = getattr(tilec.ops, name)(*(tilec.from_numpy(array, self.device) for array in arrays), **settings)
        return tuple(one.numpy() for one in result) if isinstance(result, tuple) else result.numpy()

    def test_quotients_toward_zero(self):
        for dtype in ("f2", "f4", "f8"):
            a = numpy.array([7, -7, 9, 0.5, 6, -6, 1e4, 0], dtype)
            b = numpy.array([2, 2, 3, 1, 0.1, 0.1, 3, -5], dtype)
            expected = numpy.trunc((a / b) if dtype == "f8" else (a.astype("f4") / b.astype("f4")))
            assert_array_equal(self.op("divide", a, b, rounding="trunc"), expected.astype(dtype), dtype)
        assert_array_equal(self.op("divide", numpy.array([7, -7]), numpy.array([2, 2]), rounding_mode="trunc"), [3, -3])
        x, = self.give(self.normal(4))
        self.fails("InvalidArgument", "rounding", tilec.ops.divide, x, x, rounding="floor")

    def test_masks_are_numbers(self):
        """Of masks a sum is 1 where one of them is, a product where both are."""
        a, b = numpy.array([[False, True]]), numpy.array([[False], [True]])
        for name, function in (("add", numpy.logical_or), ("maximum", numpy.logical_or), ("multiply", numpy.logical_and),
                               ("minimum", numpy.logical_and)):
            found = self.op(name, a, b)
            self.assertEqual(found.dtype, bool)
            assert_array_equal(found.view("u1"), function(a, b).view("u1"), name)
        x, = self.give(a)
        self.fails("InvalidArgument", "subtract: a is i1", tilec.ops.subtract, x, x)
        self.fails("InvalidArgument", "add:", tilec.ops.add, x, x.to("u8"))

    def test_activations_of_integers(self):
        x = numpy.array([[-3, 0, 1, 100]])
        for kind in ("i1", "i2", "i4", "i8", "u1", "?"):
            whole = (numpy.abs(x) if kind == "u1" else x).astype(kind)
            for name, function in kActivations.items():
                found = self.op(name, whole)
                self.assertEqual(found.dtype, numpy.float32)
                assert_allclose(found, function(whole.astype("f8")), rtol=1e-5, atol=1e-6, err_msg=name)
            self.assertEqual(self.op("sigmoid", whole, dtype="f16").dtype, numpy.float16)
            if kind != "?":
                assert_array_equal(self.op("relu", whole), numpy.maximum(whole, 0), kind)
        assert_array_equal(self.op("relu", numpy.array([2**63 + 1], "u8")), numpy.array([2**63 + 1], "u8"))
        large = numpy.array([2**40 + 1, -2**62])
        assert_array_equal(self.op("relu", large), numpy.maximum(large, 0))

    def test_dimensions_of_rank_0(self):
        """Dimension 0 and -1 of a number are itself, as in PyTorch; there are no others."""
        one = numpy.array(-2.5, "f4")
        for dim in (0, -1):
            for name in ("sum", "mean", "reduce_max", "reduce_min"):
                assert_array_equal(self.op(name, one, axes=dim), one, name)
            assert_array_equal(self.op("sum_of_squares", one, axes=dim), one * one)
            assert_array_equal(self.op("softmax", one, dim=dim), numpy.float32(1))
            assert_array_equal(self.op("log_softmax", one, dim=dim), numpy.float32(0))
            assert_array_equal(self.op("softmax_backward", one, numpy.array(1, "f4"), dim=dim), numpy.float32(0))
            assert_array_equal(self.op("argmax", one, dim=dim), 0)
            values, indices = self.op("top_k", one, k=1, dim=dim)
            assert_array_equal(values, one)
            assert_array_equal(indices, 0)
        x, = self.give(one)
        for call in (lambda: tilec.ops.sum(x, axes=1), lambda: tilec.ops.softmax(x, dim=1), lambda: tilec.ops.sum(x, axes=(0, -1)),
                     lambda: tilec.ops.argmax(x, dim=-2)):
            with self.assertRaises(tilec.Error) as caught:
                call()
            self.assertEqual(caught.exception.code, "InvalidArgument")

    def test_softmax_of_integers(self):
        x = numpy.array([[1, 2, 3], [-1, 5, 0]])
        self.assertEqual(self.op("softmax", x, dtype="f64").dtype, numpy.float64)
        assert_allclose(self.op("softmax", x, dtype="f64"), softmax(x.astype("f8")), rtol=1e-12)
        assert_allclose(self.op("log_softmax", x, dim=0, dtype="f32"), numpy.log(softmax(x.T.astype("f8"))).T, rtol=1e-5, atol=1e-6)
        whole, = self.give(x)
        self.fails("InvalidArgument", "softmax: x is i64 2x3", tilec.ops.softmax, whole)

    def test_choosing_along_a_dimension(self):
        x = self.normal(3, 7, 5)
        for dim in (0, 1, -1):
            order = numpy.argsort(-x, dim, kind="stable")
            assert_array_equal(self.op("argmax", x, dim=dim), x.argmax(dim))
            kept = self.op("argmax", x, axis=dim, keepdims=True, indices="i64")
            self.assertEqual(kept.dtype, numpy.int64)
            assert_array_equal(kept, x.argmax(dim, keepdims=True))
            values, indices = self.op("top_k", x, k=2, dim=dim)
            first = order.take(range(2), dim)
            assert_array_equal(indices, first)
            assert_array_equal(values, numpy.take_along_axis(x, first, dim))
        for kind in ("i1", "i2", "u1", "u2"):
            whole = self.random.integers(0, 120, (6, 40)).astype(kind)
            assert_array_equal(self.op("argmax", whole, dim=0), whole.argmax(0), kind)
            values, indices = self.op("top_k", whole, k=3)
            self.assertEqual(values.dtype, whole.dtype)
            assert_array_equal(indices, numpy.argsort(-whole.astype("i4"), -1, kind="stable")[:, :3])
            assert_array_equal(values, numpy.take_along_axis(whole, indices.astype("i8"), -1))
        t, = self.give(x)
        self.fails("InvalidArgument", "argmax: dim is 3", tilec.ops.argmax, t, dim=3)
        self.fails("InvalidShape", "top_k: k is 4", tilec.ops.top_k, t, k=4, dim=0)
        self.fails("InvalidArgument", "argmax: x is f64", tilec.ops.argmax, t.to("f64"))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Operators of tensors against NumPy's of arrays."""
import operator
import unittest

from support import Case, numpy, tilec
from numpy.testing import assert_allclose, assert_array_equal

kArithmetic = (operator.add, operator.sub, operator.mul, operator.truediv)
kComparisons = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
kNumbers = (2, -0.5, True, numpy.float32(1.5), numpy.float64(-3), numpy.int32(7), numpy.bool_(True))


class Foreign:
    """A tensor of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Operators(Case):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(7)
        self.a = random.standard_normal((3, 4)).astype("f4")
        self.b = random.standard_normal(4).astype("f4")
        self.x, self.y = tilec.from_numpy(self.a, self.device), tilec.from_numpy(self.b, self.device)
        for name in "xy":
            self.addCleanup(self.__dict__.pop, name)

    def close(self, tensor, expected, dtype=tilec.f32):
        self.assertIsInstance(tensor, tilec.Tensor)
        self.assertEqual(tensor.dtype, dtype)
        self.assertEqual(tensor.shape, numpy.shape(expected))
        assert_allclose(tensor.numpy().astype("f8"), expected, rtol=1e-6)

    def test_of_two_tensors(self):
        for compute in kArithmetic:
            self.close(compute(self.x, self.y), compute(self.a, self.b))
            self.close(compute(self.y, self.x), compute(self.b, self.a))

    def test_with_numbers_on_both_sides(self):
        for number in kNumbers:
            for compute in kArithmetic:
                plain = numpy.float32(number)
                self.close(compute(self.x, number), compute(self.a, plain))
                self.close(compute(number, self.x), compute(plain, self.a))

    def test_with_arrays_on_both_sides(self):
        for other in (self.b, Foreign(self.b)):
            self.close(self.x + other, self.a + self.b)
            self.close(other * self.x, self.a * self.b)
            self.close(other @ self.x.T, self.b @ self.a.T)
            self.assertTrue((self.y == other).all())

    def test_signs(self):
        self.close(-self.x, -self.a)
        self.close(abs(self.x), abs(self.a))
        self.assertIs(+self.x, self.x)
        self.close(self.x**2, self.a**2)
        self.close(self.x**3, self.a * self.a * self.a)
        zeros = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf], "f4")
        x = tilec.from_numpy(zeros, self.device)
        for result, expected in ((-x, -zeros), (x * 1, zeros), (x * -2, zeros * -2), (x + -0.0, zeros), (0 - x, 0 - zeros)):
            assert_array_equal(numpy.signbit(result.numpy()), numpy.signbit(expected))

    def test_powers(self):
        positive = numpy.abs(self.a) + 0.5
        x = tilec.from_numpy(positive, self.device)
        for exponent in (0.5, -1, 0, 1, 4, numpy.float32(2.5)):
            self.close(x**exponent, positive**numpy.float32(exponent))
        self.close(x**self.y, positive**self.b)
        self.close(2**self.x, numpy.float32(2)**self.a)
        whole = numpy.array([[-3, 2, 0], [1, -1, 7]])
        y = tilec.from_numpy(whole, self.device)
        for exponent in (0, 1, 2, 3, 5, 22):
            self.close(y**exponent, whole**exponent, tilec.i64)
        self.close((-2)**tilec.tensor([0, 1, 62, 63, 64], device=self.device), [1, -2, 2**62, -2**63, 0], tilec.i64)
        self.close((y == 1)**2, (whole == 1).astype("i8"), tilec.i64)
        for wrong in (lambda: y**-1, lambda: y**numpy.int32(-2)):
            with self.assertRaisesRegex(ValueError, "integers have no power of -"):
                wrong()
        with self.assertRaises(TypeError):
            self.x**"2"

    def test_in_place(self):
        x, same, view = self.x, self.x, self.x[1]
        a = self.a.copy()
        for compute, by, plain in ((operator.iadd, self.y, self.b), (operator.imul, 2, 2), (operator.isub, 0.5, numpy.float32(0.5)),
                                   (operator.itruediv, self.b, self.b)):
            x = compute(x, by)
            a = compute(a, plain)
            self.assertIs(x, same)
        assert_allclose(x.numpy(), a, rtol=1e-6)
        assert_allclose(view.numpy(), a[1], rtol=1e-6)
        whole = tilec.tensor([1, 2, 3], device=self.device)
        whole += 2
        self.assertEqual(whole.tolist(), [3, 4, 5])
        for wrong in (lambda: operator.iadd(whole, 1.5), lambda: operator.itruediv(whole, 2)):
            with self.assertRaisesRegex(TypeError, "the result is f32, which a tensor of i64 does not take in place"):
                wrong()
        self.assertEqual(whole.tolist(), [3, 4, 5])

    def test_of_two_dtypes(self):
        of = {dtype: tilec.tensor([1, 2], dtype, self.device) for dtype in tilec.DType if dtype.itemsize > 1 or not dtype.is_float}
        for first, second, expected in (("f16", "f32", "f32"), ("f16", "bf16", "f32"), ("f32", "f64", "f64"), ("i8", "i32", "i32"),
                                        ("u8", "i8", "i16"), ("u32", "i8", "i64"), ("i64", "f16", "f16"), ("u64", "u8", "u64"),
                                        ("bf16", "i32", "bf16"), ("i1", "u8", "u8"), ("i1", "f32", "f32")):
            first, second, expected = (tilec.DType[name] for name in (first, second, expected))
            for a, b in ((of[first], of[second]), (of[second], of[first])):
                self.assertEqual((a + b).dtype, expected)
        for dtype, number, expected in (("i32", 1, "i32"), ("i32", 1.5, "f32"), ("u8", True, "u8"), ("f16", 3, "f16"),
                                        ("bf16", 0.1, "bf16"), ("i1", 2, "i64"), ("f64", 0.1, "f64")):
            for compute in (operator.add, operator.mul):
                result = compute(of[tilec.DType[dtype]], number)
                self.assertEqual(result.dtype, tilec.DType[expected], (dtype, number))
        for dtype, one, expected in (("f16", "f32", "f16"), ("f32", "f64", "f32"), ("i8", "i64", "i8"), ("i32", "f16", "f16"),
                                     ("f16", "i64", "f16"), ("bf16", "f16", "bf16"), ("i1", "i8", "i8")):
            x, single = of[tilec.DType[dtype]], tilec.tensor(1, one, self.device)  # of rank 0, as numbers are
            self.assertEqual((x + single).dtype, tilec.DType[expected], (dtype, one))
            self.assertEqual((single * x).dtype, tilec.DType[expected], (dtype, one))
        with self.assertRaisesRegex(TypeError, "no integers have those of u64 and of i32"):
            of[tilec.u64] + of[tilec.i32]

    def test_integers(self):
        plain = numpy.array([[7, -2], [3, 5]])
        x = tilec.from_numpy(plain, self.device)
        self.close(x + 2**40, plain + 2**40, tilec.i64)
        self.close(3 - x, 3 - plain, tilec.i64)
        self.close(-x, -plain, tilec.i64)
        self.close(abs(x), abs(plain), tilec.i64)
        for kind in ("u1", "u2", "u4", "u8"):
            top = numpy.array([0, 5, numpy.iinfo(kind).max], kind)
            assert_array_equal(abs(tilec.from_numpy(top, self.device)).numpy(), top)
        self.close(x / 2, plain / 2)  # true division
        self.close(1 / x, 1 / plain)
        self.close(x * 0.5, plain * 0.5)
        for dtype, number in (("i8", 300), ("i8", -129), ("u8", -1), ("u64", 2**64), ("i64", 2**63), ("i32", 2**31)):
            with self.assertRaisesRegex(OverflowError, f"{number} is no {dtype}"):
                x.to(dtype) + number

    def test_comparisons(self):
        a = numpy.array([[1, numpy.nan, -1], [numpy.inf, 0, -0.0]], "f4")
        b = numpy.array([1, 2, 0], "f4")
        x, y = tilec.from_numpy(a, self.device), tilec.from_numpy(b, self.device)
        for compare in kComparisons:
            for result, expected in ((compare(x, y), compare(a, b)), (compare(x, 0), compare(a, 0)), (compare(0.5, x), compare(0.5, a)),
                                     (compare(x, numpy.float32(1)), compare(a, numpy.float32(1))), (compare(b, x), compare(b, a))):
                self.assertEqual(result.dtype, tilec.i1)
                assert_array_equal(result.numpy(), expected, compare.__name__)
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f8", "?"):
            left, right = numpy.array([0, 1, 1, 0]).astype(kind), numpy.array([0, 1, 0, 1]).astype(kind)
            for compare in kComparisons:
                found = compare(tilec.from_numpy(left, self.device), tilec.from_numpy(right, self.device))
                assert_array_equal(found.numpy(), compare(left, right), kind)
        small = numpy.array([0, 100], "u1")
        x = tilec.from_numpy(small, self.device)
        for number in (-1, 256, 10**6, -2**63, 100):  # also those that a u8 has not
            for compare in kComparisons:
                assert_array_equal(compare(x, number).numpy(), compare(small.astype("i8"), number), f"{compare.__name__} {number}")
        with self.assertRaisesRegex(OverflowError, "no u64"):
            x.to("u64") > -1
        for wrong in ([0, 100], (0, 100), 1j):
            for compare in (operator.eq, operator.ne):
                with self.assertRaisesRegex(TypeError, "a tensor is not compared with a"):
                    compare(x, wrong)
        self.assertIs(x == None, False)  # noqa: E711
        self.assertIs(x != "a", True)
        with self.assertRaises(TypeError):
            x < "a"
        self.assertEqual(len({x, y, x}), 2)

    def test_products(self):
        a, b = self.a, numpy.arange(20, dtype="f4").reshape(4, 5)
        x, y = self.x, tilec.from_numpy(b, self.device)
        v, w = self.y, tilec.tensor([1.0, 2.0, 3.0], device=self.device)
        plain = numpy.array([1, 2, 3], "f4")
        self.close(x @ y, a @ b)
        self.close(x @ v, a @ self.b)
        self.close(w @ x, plain @ a)
        self.close(w @ w, plain @ plain)
        batch = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
        self.close(tilec.from_numpy(batch, self.device) @ v, batch @ self.b)
        self.close(w @ tilec.from_numpy(batch, self.device), plain @ batch)
        self.close(x.to("f64") @ y, a.astype("f8") @ b, tilec.f64)
        with self.assertRaises(TypeError):
            x @ 2
        with self.assertRaisesRegex(ValueError, "@ multiplies matrices and vectors"):
            x @ x[0, 0]

    def test_one_result_of_many(self):
        self.close(self.x.sum(), self.a.sum())
        self.close(self.x.mean(axis=0), self.a.mean(0))
        self.close(self.x.max(dim=1, keepdim=True), self.a.max(1, keepdims=True))
        self.close(self.x.min((0, 1)), self.a.min())
        mask = self.x > 0
        for axis in (None, 0, 1):
            assert_array_equal(mask.any(axis).numpy(), (self.a > 0).any(axis))
            assert_array_equal(mask.all(axis).numpy(), (self.a > 0).all(axis))
        self.assertTrue(tilec.tensor([0.25, 0.0], device=self.device).any())
        whole = tilec.tensor([[1, 2], [3, 4]], device=self.device)
        self.assertIn(3, whole)
        self.assertNotIn(7, whole)

    def test_masks(self):
        left, right = numpy.array([0, 0, 1, 1], bool), numpy.array([0, 1, 0, 1], bool)
        x, y = tilec.from_numpy(left, self.device), tilec.from_numpy(right, self.device)
        for compute in (operator.and_, operator.or_, operator.xor):
            for result, expected in ((compute(x, y), compute(left, right)), (compute(x, True), compute(left, True)),
                                     (compute(False, x), compute(False, left)), (compute(left, y), compute(left, right))):
                self.assertEqual(result.dtype, tilec.i1)
                assert_array_equal(result.numpy(), expected, compute.__name__)
        assert_array_equal((~x).numpy(), ~left)
        self.assertEqual((x.sum().item(), x.sum().dtype, x.mean().item()), (2, tilec.i64, 0.5))
        self.assertEqual((x.max().item(), x.min().item()), (True, False))
        self.assertEqual(tilec.tensor([1, 2], device=self.device).mean().item(), 1.5)
        for wrong in (lambda: ~self.x, lambda: self.x & self.x, lambda: x & 0.5, lambda: x & "a"):
            with self.assertRaises(TypeError):
                wrong()
        for compute in (operator.add, operator.mul):  # or, and
            result = compute(x, y)
            self.assertEqual(result.dtype, tilec.i1)
            assert_array_equal(result.numpy(), compute(left, right))

    def test_bits(self):
        left, right = numpy.array([0, 5, -7, 2**40], "i8"), numpy.array([3, 6, -2**62, -1], "i8")
        x, y = tilec.from_numpy(left, self.device), tilec.from_numpy(right, self.device)
        for compute in (operator.and_, operator.or_, operator.xor):
            for result, expected in ((compute(x, y), compute(left, right)), (compute(x, 6), compute(left, 6)),
                                     (compute(-9, x), compute(-9, left)), (compute(left, y), compute(left, right)),
                                     (compute(x, y.to("i16")), compute(left, right.astype("i2"))), (compute(x == 5, 6), compute(left == 5, 6))):
                self.close(result, expected, tilec.i64)
        assert_array_equal((~x).numpy(), ~left)
        small = numpy.array([0, 1, 128, 255], "u1")
        assert_array_equal((~tilec.from_numpy(small, self.device)).numpy(), ~small)

    def test_ops_are_methods(self):
        self.close(self.x.relu(), numpy.maximum(self.a, 0))
        powers = numpy.exp(self.a)
        self.close(self.x.softmax(axis=0), powers / powers.sum(0))
        self.assertFalse(hasattr(self.x, "__array_interface__"))
        for wrong, words in (("float", r"write x.to\(tilec.f32\)"), ("fill_", r"write x\[...\] = value"), ("softmaxx", "did you mean softmax"),
                             ("qqq", "has no 'qqq'$")):
            with self.assertRaisesRegex(AttributeError, words):
                getattr(self.x, wrong)
        with self.assertRaisesRegex(AttributeError, "tilec has no 'softmax': tilec.ops.softmax is an op"):
            tilec.softmax
        with self.assertRaisesRegex(AttributeError, r"tilec has no 'zeroes': did you mean zeros\?"):
            tilec.zeroes

    def test_what_is_no_operand(self):
        for wrong in ("a", None, [1, 2], object(), 1j):
            for compute in kArithmetic:
                with self.assertRaises(TypeError):
                    compute(self.x, wrong)
                with self.assertRaises(TypeError):
                    compute(wrong, self.x)

    def test_shapes_that_do_not_broadcast(self):
        """Messages name a and b, which the user has given, and no result that he has not."""
        y = tilec.zeros(3, 2, device=self.device)
        for name, call in (("add", lambda: self.x + y), ("less", lambda: self.x < y), ("divide", lambda: tilec.ops.divide(self.x, y))):
            error = self.fails("InvalidShape", f"{name}: a is f32 3x4, ", call)
            self.assertIn("b is f32 3x2", error.message)
            self.assertNotIn("c is", error.message)
            self.assertTrue(error.file.endswith("operators_test.py"))
        three = tilec.zeros(3, 4, 4, device=self.device)
        error = self.fails("InvalidShape", "matmul: a is f32 2x4x4, ", lambda: tilec.zeros(2, 4, 4, device=self.device) @ three)
        self.assertNotIn("c is", error.message)


if __name__ == "__main__":
    unittest.main()

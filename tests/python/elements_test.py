#!/usr/bin/env python3
"""Elements of tensors as numbers of Python, printed, and set."""
import math
import unittest

from support import Case, numpy, python, tilec
from numpy.testing import assert_array_equal


class Elements(Case):
    def tensor(self, data, dtype=None):
        return tilec.tensor(data, dtype, self.device)

    def test_lists_and_items(self):
        for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            array = (numpy.arange(24) % 2).astype(kind).reshape(2, 3, 4)
            x = tilec.from_numpy(array, self.device)
            self.assertEqual(x.tolist(), array.tolist())
            self.assertEqual(x.T.tolist(), array.T.tolist())
            item = x.item(1, 0, 1)
            self.assertEqual((item, type(item)), (array.item(1, 0, 1), type(array.item(1, 0, 1))))
        self.assertEqual(self.tensor(2**64 - 1).item(), 2**64 - 1)
        self.assertEqual(self.tensor(3.5).tolist(), 3.5)
        for shape in ((0,), (2, 0), (0, 2), (2, 0, 3)):
            self.assertEqual(tilec.zeros(shape, device=self.device).tolist(), numpy.zeros(shape).tolist())
        with self.assertRaisesRegex(ValueError, r"shape \(2,\) has 2 elements"):
            self.tensor([1, 2]).item()

    def test_small_floats(self):
        """Every value of 8 bits, and bf16 by its definition."""
        bits = tilec.from_numpy(numpy.arange(256, dtype="u1"), self.device, dtype=tilec.e5m2)
        expected = (numpy.arange(256, dtype="u2") << 8).view("f2")  # the upper half of an f16
        assert_array_equal(numpy.array(bits.tolist(), "f2"), expected)

        def e4m3(byte):
            if byte & 0x7f == 0x7f:
                return math.nan
            exponent, fraction = byte >> 3 & 15, byte & 7
            size = (8 + fraction) * 2.0**(exponent - 10) if exponent else fraction * 2.0**-9
            return -size if byte & 0x80 else size

        bits = tilec.from_numpy(numpy.arange(256, dtype="u1"), self.device, dtype=tilec.e4m3)
        assert_array_equal(bits.tolist(), [e4m3(byte) for byte in range(256)])
        upper = numpy.arange(0, 65536, 7, dtype="u2")
        with numpy.errstate(invalid="ignore"):
            expected = (upper.astype("u4") << 16).view("f4")
        assert_array_equal(numpy.array(tilec.from_numpy(upper, self.device, dtype=tilec.bf16).tolist(), "f4"), expected)

    def test_numbers(self):
        one = self.tensor([[2.5]])
        self.assertEqual((float(one), int(one), bool(one), f"{one:.2f}"), (2.5, 2, True, "2.50"))
        self.assertIs(bool(self.tensor([0])), False)
        self.assertEqual([10, 20, 30][self.tensor(1)], 20)
        self.assertEqual(list(range(5))[self.tensor([3]):], [3, 4])
        for wrong in (self.tensor(1.0), self.tensor([1, 2]), self.tensor(True)):
            with self.assertRaises(TypeError):
                [1, 2][wrong]
        for wrong in (self.tensor([1, 2]), tilec.zeros(0, device=self.device)):
            with self.assertRaisesRegex(ValueError, "the truth of a tensor of shape .* is ambiguous"):
                bool(wrong)

    def test_printing(self):
        x = self.tensor([[1.0, 2.5], [-3.0, 0.0]])
        self.assertEqual(repr(x), "tensor([[ 1. ,  2.5],\n        [-3. ,  0. ]], dtype=f32, device='virtual:sm_90a')")
        self.assertEqual(str(self.tensor(True)), "tensor(True, dtype=i1, device='virtual:sm_90a')")
        self.assertEqual(str(self.tensor([1.5], tilec.bf16)), "tensor([1.5], dtype=bf16, device='virtual:sm_90a')")
        self.assertEqual(str(tilec.zeros(0, 3, device=self.device)), "tensor([], shape=(0, 3), dtype=f32, device='virtual:sm_90a')")
        self.assertIn("closed", self.closed(x))

    def closed(self, x):
        x.close()
        return repr(x)

    def test_large_tensors_are_printed_by_their_edges(self):
        for shape in ((2000,), (50, 60), (3, 500), (5, 40, 30), (1, 1, 4000)):
            array = numpy.arange(math.prod(shape), dtype="i4").reshape(shape)
            x = tilec.from_numpy(array, self.device)
            expected = numpy.array2string(array, separator=", ", prefix="tensor(", threshold=1000)
            self.assertEqual(repr(x), f"tensor({expected}, shape={shape}, dtype=i32, device='virtual:sm_90a')")
        few = tilec.zeros(1000, device=self.device)
        self.assertEqual(repr(few).count("0."), 1000)

    def test_without_numpy(self):
        done = python("import sys; sys.modules['numpy'] = None\nimport tilec\n"
                      "x = tilec.zeros(2, 2, device='virtual:sm_90a'); x[0, 1] = 2.5\n"
                      "print(x.tolist(), x[0, 1].item(), x)\n")
        self.assertEqual(done.stdout, "[[0.0, 2.5], [0.0, 0.0]] 2.5 "
                         "tensor([[0.0, 2.5], [0.0, 0.0]], dtype=f32, device='virtual:sm_90a')\n", done.stderr)


class Setting(Case):
    def setUp(self):
        super().setUp()
        self.array = numpy.arange(24, dtype="f4").reshape(4, 6)
        self.x = tilec.from_numpy(self.array, self.device)
        self.addCleanup(self.__dict__.pop, "x")

    def same(self):
        assert_array_equal(self.x.numpy(), self.array)

    def test_numbers_and_arrays(self):
        for key, value in ((0, 5), ((slice(None), 1), -0.5), ((slice(1, 3), slice(None, None, 2)), numpy.float64(7)),
                           ((..., -1), numpy.arange(4)), (slice(2, None), numpy.full((1, 6), 3.0)), (1, [1, 2, 3, 4, 5, 6]),
                           ((2, 3), numpy.int8(9)), (slice(0, 0), 8), (..., numpy.ones((1, 4, 6), "i2"))):
            self.x[key] = value
            self.array[key] = value
            self.same()

    def test_tensors(self):
        self.x[0] = self.x[3]
        self.array[0] = self.array[3]
        self.same()
        self.x[:, :2] = tilec.tensor([7, 8], "i8", self.device)
        self.array[:, :2] = [7, 8]
        self.same()
        self.x[1:] = self.x[:-1]  # which overlap
        self.array[1:] = self.array[:-1].copy()
        self.same()
        self.x[2] += 1
        self.array[2] += 1
        self.same()
        self.x[:, 3] *= self.x[:, 4]
        self.array[:, 3] *= self.array[:, 4]
        self.same()

    def test_integers(self):
        whole = tilec.tensor([1, 2, 3], device=self.device)
        whole[0] = 2.0
        whole[1] = True
        self.assertEqual(whole.tolist(), [2, 1, 3])
        with self.assertRaisesRegex(TypeError, "1.5 is no i64"):
            whole[0] = 1.5
        with self.assertRaisesRegex(OverflowError, "is no i64"):
            whole[0] = 2**63
        self.assertEqual(whole.tolist(), [2, 1, 3])
        mask = tilec.tensor([False, False], device=self.device)
        mask[1] = 3
        self.assertEqual(mask.tolist(), [False, True])

    def test_what_cannot_be_set(self):
        for wrong in ("a", None, object()):
            with self.assertRaisesRegex(TypeError, "elements are set to numbers or tensors"):
                self.x[0] = wrong
        self.fails("InvalidShape", "copy:", self.x.__setitem__, 0, [1, 2])
        with self.assertRaises(IndexError):
            self.x[9] = 1
        self.same()

    def test_conversions(self):
        half = self.x.to("f16")
        self.assertEqual(half.dtype, tilec.f16)
        assert_array_equal(half.numpy(), self.array.astype("f2"))
        self.assertIs(self.x.to(tilec.f32), self.x)
        self.assertIs(self.x.to("virtual:sm_90a"), self.x)
        self.assertIsNot(self.x.astype("f32"), self.x)
        other = self.x.T.to("virtual:sm_80", dtype=numpy.float64)
        self.assertEqual((other.device.name, other.dtype), ("virtual:sm_80", tilec.f64))
        assert_array_equal(other.numpy(), self.array.T)
        self.assertIs(self.x.contiguous(), self.x)
        turned = self.x.T.contiguous()
        self.assertTrue(turned.is_contiguous)
        assert_array_equal(turned.cpu(), self.array.T)
        copy = self.x.clone()
        copy[0] = -1
        self.same()
        for wrong in ("f31", 3.5, 7, "virtual:sm_1"):
            with self.assertRaisesRegex(TypeError, "is no dtype"):
                self.x.to(wrong)


if __name__ == "__main__":
    unittest.main()

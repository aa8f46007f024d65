#!/usr/bin/env python3
"""Dtypes by the names that programs have for them."""
import types
import unittest

from support import Case, numpy, tilec
from tilec.dtypes import dtype_of

kNames = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
          "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def torch_dtype(name):
    """What PyTorch has: an object of the class torch.dtype, printed as torch.NAME."""
    kind = type("dtype", (), {"__module__": "torch", "__repr__": lambda self: f"torch.{name}"})
    return kind()


class Names(Case):
    def test_of_everyone(self):
        self.assertEqual({dtype.name for dtype in tilec.DType}, set(kNames))
        for name, long_name in kNames.items():
            dtype = tilec.DType[name]
            forms = [dtype, name, long_name, f"torch.{long_name}", torch_dtype(long_name)]
            if name not in ("i1", "bf16", "e4m3", "e5m2"):
                forms += [getattr(numpy, long_name), numpy.dtype(long_name), numpy.dtype(long_name).newbyteorder(">")]
            for form in forms:
                self.assertIs(dtype_of(form), dtype, form)
        for kind, dtype in ((numpy.bool_, "i1"), (bool, "i1"), (int, "i64"), (float, "f64"), (numpy.intc, "i32"), (numpy.half, "f16")):
            self.assertIs(dtype_of(kind), tilec.DType[dtype])

    def test_of_torch_itself(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no torch")
        for name, long_name in kNames.items():
            if hasattr(torch, long_name):
                self.assertIs(dtype_of(getattr(torch, long_name)), tilec.DType[name])

    def test_what_is_none(self):
        for wrong in ("f31", "float", "", "F32", 12, 3, 3.5, None, object(), numpy.complex64, numpy.dtype("c16"), numpy.dtype("M8[s]"),
                      torch_dtype("complex64"), str, numpy.zeros(3), numpy.float32(1), [], types):
            with self.assertRaisesRegex(TypeError, "is no dtype.*; there are i1, i8, i16, .*, e5m2"):
                dtype_of(wrong)
        with self.assertRaisesRegex(TypeError, r"dtype='bfloat61' is no dtype: did you mean bfloat16"):
            dtype_of("bfloat61")
        with self.assertRaisesRegex(TypeError, "did you mean f32"):
            dtype_of("f4")  # NumPy's, which counts bytes: its i8 is our i64

    def test_wherever_one_is_taken(self):
        x = tilec.tensor([1.0, 2.0], device=self.device)
        for form in ("f16", "float16", numpy.float16, numpy.dtype("f2"), torch_dtype("float16"), tilec.f16):
            made = (tilec.empty(2, dtype=form, device=self.device), tilec.zeros(2, form, self.device), tilec.ones((2,), form, self.device),
                    tilec.full(2, 1, form, self.device), tilec.tensor([1, 2], form, self.device), x.to(form), x.astype(form),
                    tilec.ops.copy(x, dtype=form), tilec.zeros_like(x, form), tilec.from_numpy(numpy.zeros(2, "f2"), self.device, dtype=form))
            self.assertEqual({tensor.dtype for tensor in made}, {tilec.f16})
        indices = tilec.ops.argmax(x, indices=numpy.int64)
        self.assertEqual(indices.dtype, tilec.i64)
        for call in (lambda: tilec.empty(2, dtype="f31"), lambda: x.astype("f31"), lambda: tilec.ops.copy(x, dtype="f31"),
                     lambda: tilec.zeros(2, "f31"), lambda: tilec.full(2, 1, "f31"), lambda: tilec.tensor(1, "f31"),
                     lambda: tilec.ops.argmax(x, indices="f31"), lambda: tilec.from_numpy(numpy.zeros(2), dtype=7),
                     lambda: tilec.ops.copy(x, dtype=12)):
            with self.assertRaisesRegex(TypeError, "is no dtype"):
                call()

    def test_a_dtype_is_no_number(self):
        """A number that happened to be that of a dtype made tensors of another one."""
        for use in (lambda: tilec.zeros(tilec.f32), lambda: int(tilec.f32), lambda: tilec.f32 + 1, lambda: range(tilec.i8)):
            with self.assertRaises(TypeError):
                use()
        self.assertNotEqual(tilec.i16, 3)
        self.assertEqual((repr(tilec.f32), str(tilec.bf16), tilec.e4m3.itemsize), ("tilec.f32", "tilec.bf16", 1))


if __name__ == "__main__":
    unittest.main()

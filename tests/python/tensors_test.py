#!/usr/bin/env python3
"""Devices, streams, events and tensors from Python."""
import pathlib
import sys
import unittest

from support import Case, numpy, tilec

kNumpys = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
           "f16": "f2", "f32": "f4", "f64": "f8"}


class Tensors(Case):
    def test_devices(self):
        self.assertEqual(self.device.name, "virtual:sm_90a")
        self.assertEqual(self.device.target, "sm_90a")
        self.assertTrue(self.device.is_virtual and self.device.product and self.device.multiprocessors > 0)
        self.assertGreater(self.device.number("total_memory"), 0)
        self.assertEqual(self.device, tilec.Device())  # TILE_DEVICE
        self.assertNotEqual(self.device, tilec.Device("virtual:sm_80"))
        self.assertEqual(len({self.device, tilec.Device("virtual:sm_90a")}), 1)
        self.assertEqual(self.stream.device, self.device)
        self.fails("InvalidArgument", "'gpu' names no device", tilec.Device, "gpu")
        with self.assertRaises(ValueError):
            tilec.Device("virtual\0gpu")
        with self.assertRaises(TypeError):
            tilec.Device(0)
        self.fails("InvalidArgument", "'colour' is no property", self.device.number, "colour")

    def test_errors_name_the_line_of_the_program(self):
        error = self.fails("InvalidArgument", "names no device", tilec.Device, "gpu")
        self.assertEqual(pathlib.Path(error.file).name, "support.py")
        self.assertEqual((error.fault, error.status, error.notes), ("user", 1, []))
        self.assertIn(error.message, str(error))

        def here():
            tilec.Device("gpu")

        error = self.fails("InvalidArgument", "tensors_test.py", here)
        self.assertEqual(error.line, here.__code__.co_firstlineno + 1)

    def test_streams_and_events(self):
        other = self.device.stream()
        start, end = self.device.event(), self.device.event()
        self.assertTrue(start.query())
        start.record(self.stream)
        other.wait(start)
        other.wait(self.stream)
        end.record(other)
        end.synchronize()
        self.assertTrue(end.query())
        self.assertGreaterEqual(start.elapsed_ms(end), 0)
        again = self.device.external_stream(other.native)
        self.assertEqual(again.native, other.native)
        again.synchronize()
        self.fails("InvalidHandle", "has not been recorded", start.elapsed_ms, self.device.event())
        with self.assertRaises(TypeError):
            other.wait(7)
        with self.assertRaises(TypeError):
            start.record(self.device)

    def test_leaving_a_stream_closes_it(self):
        with self.device.stream() as stream:
            tilec.empty(10, stream=stream)
        self.assertTrue(stream.closed)
        self.fails("InvalidHandle", "'stream' is a stream that was released", stream.synchronize)
        stream.close()  # once more does nothing

    def test_every_dtype_comes_back(self):
        for name, kind in kNumpys.items():
            array = (numpy.arange(24) % 7).astype(kind).reshape(2, 3, 4)
            tensor = tilec.from_numpy(array, self.device)
            self.assertEqual(tensor.dtype, getattr(tilec, name))
            self.assertEqual((tensor.shape, tensor.strides, tensor.ndim), ((2, 3, 4), (12, 4, 1), 3))
            self.assertEqual((tensor.size, tensor.nbytes), (24, 24 * array.itemsize))
            numpy.testing.assert_array_equal(tensor.numpy(), array)
            numpy.testing.assert_array_equal(tensor.numpy(self.stream), array)
            self.assertEqual(numpy.asarray(tensor).dtype, array.dtype)

    def test_elements_that_numpy_has_not(self):
        bits = numpy.array([0x3f80, 0x4000], "u2")
        tensor = tilec.from_numpy(bits, self.device, dtype=tilec.bf16)
        self.assertEqual(tensor.dtype, tilec.bf16)
        numpy.testing.assert_array_equal(tensor.numpy(raw=True), bits)
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(TypeError, "NumPy has no bf16"):
                tensor.numpy()
        else:
            self.assertEqual(tensor.numpy().dtype, ml_dtypes.bfloat16)
        with self.assertRaisesRegex(TypeError, "is no tensor of bf16"):
            tilec.from_numpy(numpy.zeros(2, "f4"), self.device, dtype=tilec.bf16)
        for array in (numpy.zeros(2, "c8"), numpy.array(["a"]), numpy.array([None])):
            with self.assertRaisesRegex(TypeError, "no tensor has elements"):
                tilec.from_numpy(array, self.device)

    def test_arrays_of_other_layouts(self):
        array = numpy.arange(12, dtype=">f4").reshape(3, 4).T[::-1]
        numpy.testing.assert_array_equal(tilec.from_numpy(array, self.device).numpy(), array)
        scalar = tilec.from_numpy(3.5, self.device)
        self.assertEqual((scalar.shape, scalar.numpy()), ((), 3.5))
        self.assertEqual(tilec.from_numpy(numpy.zeros((3, 0)), self.device).numpy().shape, (3, 0))

    def test_shapes_in_all_forms(self):
        for make in (tilec.empty, tilec.zeros, tilec.ones):
            for words in ((2, 3), ((2, 3),), ([2, 3],), (numpy.array([2, 3]),), (numpy.int64(2), 3), (range(2, 4),)):
                made = make(*words, device=self.device)
                self.assertEqual((made.shape, made.dtype), ((2, 3), tilec.f32))
            self.assertEqual(make(device=self.device, *(3, 99)).shape, (3, 99))  # and no dtype of the number 99
            for words in ((2, 3, tilec.f16), ((2, 3), "f16"), ([2, 3], numpy.float16, self.device), (2, 3, "f16", "virtual:sm_90a")):
                made = make(*words, **({} if len(words) > 2 and words[-1] != tilec.f16 else {"device": self.device}))
                self.assertEqual((made.shape, made.dtype, made.device), ((2, 3), tilec.f16, self.device))
            self.assertEqual(make((), device=self.device).shape, ())

    def test_full_and_tensor(self):
        for value, dtype in ((2, tilec.i64), (2.5, tilec.f32), (True, tilec.i1), (numpy.int8(3), tilec.i64)):
            made = tilec.full((2, 2), value, device=self.device)
            self.assertEqual((made.dtype, made.tolist()), (dtype, [[value] * 2] * 2))
        self.assertEqual(tilec.full(3, 1.5, "bf16", self.device).tolist(), [1.5] * 3)
        self.assertEqual(tilec.ones(2, 2, dtype="i32", device=self.device).tolist(), [[1, 1], [1, 1]])
        x = tilec.tensor([[1, 2], [3, 4]], device=self.device)
        self.assertEqual((x.dtype, x.tolist()), (tilec.i64, [[1, 2], [3, 4]]))
        for data, dtype, expected in (([1.5, 2], None, tilec.f32), (True, None, tilec.i1), ([1, 2], "f16", tilec.f16),
                                      (numpy.arange(3, dtype="u2"), None, tilec.u16), (x, tilec.i8, tilec.i8), (0.1, float, tilec.f64)):
            made = tilec.tensor(data, dtype, self.device)
            self.assertEqual(made.dtype, expected)
            numpy.testing.assert_array_equal(made.numpy(), numpy.asarray(data.numpy() if data is x else data).astype(made.numpy().dtype))
        copy = tilec.tensor(x)
        copy[0] = 9
        self.assertEqual(x.tolist(), [[1, 2], [3, 4]])
        self.assertEqual((tilec.zeros_like(x).tolist(), tilec.empty_like(x.T, "f16").dtype), ([[0, 0], [0, 0]], tilec.f16))
        for wrong in ("a", None, object(), {1: 2}):
            with self.assertRaises(TypeError):
                tilec.tensor(wrong)
            with self.assertRaises(TypeError):
                tilec.full(2, wrong)

    def test_ranges(self):
        for bounds, dtype in (((5,), None), ((2, 10, 3), None), ((0, 1, 0.25), None), ((0,), None), ((5, 0, -2), "f16"), ((3,), float)):
            made, plain = tilec.arange(*bounds, dtype=dtype, device=self.device), numpy.arange(*bounds)
            expected = {None: tilec.i64 if plain.dtype.kind == "i" else tilec.f32, "f16": tilec.f16, float: tilec.f64}[dtype]
            self.assertEqual((made.dtype, made.tolist()), (expected, plain.tolist()))
        for wrong in ((), ("a",), (1, 2, 3, 4), (None,)):
            with self.assertRaises(TypeError):
                tilec.arange(*wrong)
        with self.assertRaisesRegex(ValueError, "arange: the step is 0"):
            tilec.arange(0, 5, 0)

    def test_handles_of_others_are_within_64_bits(self):
        for wrong in (2**64, -1, 1.5, "a"):
            with self.assertRaises((TypeError, OverflowError)):
                self.device.external_stream(wrong)
            with self.assertRaises((TypeError, OverflowError)):
                tilec.Device.of_context(wrong)

    def test_empty_and_zeros(self):
        self.assertFalse(tilec.zeros((3, 5), tilec.i32, self.device).numpy().any())
        self.assertEqual(tilec.zeros(7, device="virtual:sm_90a", stream=self.stream).numpy().tolist(), [0] * 7)
        gaps = tilec.empty((2, 3), tilec.f32, self.device, strides=(8, 2))
        self.assertEqual((gaps.strides, gaps.is_contiguous), ((8, 2), False))
        gaps.copy_from(numpy.arange(6, dtype="f4").reshape(2, 3))
        numpy.testing.assert_array_equal(gaps.numpy(), [[0, 1, 2], [3, 4, 5]])
        held = tilec.empty(1000, tilec.f32, stream=self.stream)
        self.assertGreaterEqual(self.stream.usage["used_bytes"], held.nbytes)
        held.close()
        self.stream.trim()
        self.assertEqual(self.stream.usage["used_bytes"], 0)

    def test_impossible_tensors(self):
        self.fails("InvalidShape", "not 9", tilec.empty, [1] * 9, device=self.device)
        self.fails("InvalidShape", "is negative", tilec.empty, (4, -1), device=self.device)
        self.fails("InvalidShape", "2^63 bytes", tilec.empty, (2**40, 2**40), device=self.device)
        self.fails("Unsupported", "stride -1", tilec.empty, (2, 2), device=self.device, strides=(-1, 1))
        with self.assertRaises(OverflowError):
            tilec.empty(2**63, device=self.device)
        for shape in (1.5, "ab", [None], (2, 3.0), tilec.f32, True, (2, True), None):
            with self.assertRaises(TypeError):
                tilec.empty(shape, device=self.device)
        for words in ((), ((2, 3), 4), (2, 3.5), ((2, 3), tilec.f32, self.device, 1), ("f32",)):
            with self.assertRaises(TypeError):
                tilec.zeros(*words)
        with self.assertRaises(ValueError):
            tilec.empty((3, 4), device=self.device, strides=(1,))
        with self.assertRaises(TypeError):
            tilec.empty(3, device=7)
        tensor = tilec.empty((3, 4), device=self.device)
        with self.assertRaisesRegex(ValueError, "does not fill"):
            tensor.copy_from(numpy.zeros((4, 3), "f4"))
        with self.assertRaisesRegex(TypeError, "is no tensor of f32"):
            tensor.copy_from(numpy.zeros((3, 4)))

    def test_other_devices(self):
        tensor = tilec.zeros(10, device=self.device)
        with tilec.Device("virtual:sm_80") as other, other.stream() as stream:
            self.fails("WrongDevice", "virtual:sm_80", tensor.numpy, stream)
            self.fails("WrongDevice", "device", stream.wait, self.stream)

    def test_closed_things_are_told(self):
        tensor = tilec.zeros(10, device=self.device)
        tensor.close()
        self.fails("InvalidHandle", "'tensor' is a tensor that was released", tensor.numpy)
        self.assertIn("closed", repr(tensor))
        event = self.device.event()
        event.close()
        self.fails("InvalidHandle", "was released", self.stream.wait, event)
        with self.assertRaises(TypeError):
            __import__("copy").copy(event)
        with self.assertRaises(TypeError):
            __import__("pickle").dumps(event)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)

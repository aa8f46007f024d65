#!/usr/bin/env python3
"""Kernels of libraries, ops and graphs from Python."""
import unittest

from support import Case, kKernels, numpy, tilec


class WithLibrary(Case):
    def setUp(self):
        super().setUp()
        self.library = tilec.Library(kKernels)
        self.addCleanup(self.__dict__.pop, "library")
        self.array = numpy.arange(1000, dtype="f4")

    def tensors(self):
        return tilec.from_numpy(self.array, self.device), tilec.zeros(1000, tilec.f32, self.device)


class Kernels(WithLibrary):
    def test_what_a_library_has(self):
        self.assertEqual(self.library.names, ["scale", "twice", "scalars", "programs", "beyond", "tuned"])
        scale = self.library.kernel("scale")
        self.assertEqual(scale.parameters, [("x", "in", tilec.f32, 1), ("y", "out", tilec.f32, 1),
                                            ("by", "scalar", tilec.f32, 0), ("B", "const", None, 0)])
        self.assertTrue(scale.file.endswith("Kernels.cpp") and scale.line > 0 and not scale.is_tuned)
        self.assertEqual([p.name for p in self.library.kernel("twice").parameters], ["from", "to", "BM", "BN"])
        self.fails("InvalidArgument", "has no kernel 'scales'; it has scale", self.library.kernel, "scales")
        self.fails("IoError", "cannot read '/nowhere.so'", tilec.Library, "/nowhere.so")
        self.fails("LinkError", "cannot load", tilec.Library, __file__)

    def test_launches(self):
        x, y = self.tensors()
        scale = self.library.kernel("scale")
        scale.prepare(self.device, x, y, 1, B=128)
        for by in (0.5, 3, numpy.float32(2.5), numpy.int64(7), True):
            scale(self.stream, x, y, by, B=128)
            numpy.testing.assert_array_equal(y.numpy(self.stream), self.array * numpy.float32(by))
        scale(self.stream, x, y, 2, constants={"B": 256}, warps=2, max_registers=64, occupancy=2, fp_fusion=False, ftz=True,
              checked=True, assume=False)
        numpy.testing.assert_array_equal(y.numpy(self.stream), self.array * 2)
        matrix = tilec.from_numpy(self.array.reshape(40, 25).astype("f2"), self.device)
        result = tilec.empty((40, 25), tilec.f16, stream=self.stream)
        self.library.kernel("twice")(self.stream, matrix, result, BM=16, BN=16)
        numpy.testing.assert_array_equal(result.numpy(self.stream), matrix.numpy() * 2)

    def test_overlapped_launches(self):
        x, y = self.tensors()
        z = tilec.zeros(1000, tilec.f32, self.device)
        scale = self.library.kernel("scale")
        for overlap in (True, False):
            self.stream.overlap_launches(overlap)
            scale.prepare(self.stream, x, y, 2, B=128)
            scale(self.stream, x, y, 2, B=128)
            scale(self.stream, y, z, 2, B=128)
            numpy.testing.assert_array_equal(z.numpy(self.stream), self.array * 4)

    def test_grids(self):
        programs = self.library.kernel("programs")
        for grid, count in ((5, 5), ((4,), 4), ([3, 1], 3), ((0, 1, 1), 0)):
            y = tilec.from_numpy(numpy.full(5, -1, "i4"), self.device)
            programs(self.stream, y, grid=grid)
            self.assertEqual(y.numpy(self.stream).tolist(), [*range(count), *[-1] * (5 - count)])
        with self.assertRaises(ValueError):
            programs(self.stream, y, grid=(1, 1, 1, 1))

    def test_scalars(self):
        y = tilec.zeros(6, tilec.f64, self.device)
        self.library.kernel("scalars")(self.stream, y, -128, 255, 2**64 - 1, 3, 0.1, True, grid=1)
        self.assertEqual(y.numpy(self.stream).tolist(), [-128, 255, 2.0**64, 3, 0.1, 1])
        call = self.library.kernel("scalars")
        self.fails("InvalidArgument", "argument 'a': 128 is not a number of type i8", call, self.stream, y, 128, 0, 0, 0, 0, 0)
        self.fails("InvalidArgument", "an integer is expected", call, self.stream, y, 1.5, 0, 0, 0, 0, 0)
        for number in (2**64, -2**63 - 1):
            with self.assertRaises(OverflowError):
                call(self.stream, y, number, 0, 0, 0, 0, 0)

    def test_wrong_calls(self):
        x, y = self.tensors()
        scale = self.library.kernel("scale")
        self.fails("InvalidArgument", "it takes 3 arguments (x, y, by), got 2", scale, self.stream, x, y, B=64)
        self.fails("InvalidArgument", "it needs its constants: B", scale, self.stream, x, y, 1)
        self.fails("InvalidArgument", "it has no constant 'C'", scale, self.stream, x, y, 1, B=64, C=2)
        self.fails("InvalidArgument", "expected ptr<f32>, got ptr<f64>", scale, self.stream,
                   tilec.zeros(1000, tilec.f64, self.device), y, 1, B=64)
        for wrong in ("1", None, [1], self.array, self.array[:1], object()):
            with self.assertRaises(TypeError):
                scale(self.stream, x, y, wrong, B=64)
        for place in (None, self.device, 0):
            with self.assertRaises(TypeError):
                scale(place, x, y, 1, B=64)
        with self.assertRaises(OverflowError):
            scale(self.stream, x, y, 1, B=2**63)
        with self.assertRaises(OverflowError):
            scale(self.stream, x, y, 1, B=64, warps=2**31)
        for wrong in ({"B": 64.5}, {"B": "64"}, {"B": 64, "warps": 2.0}, {"B": [64]}, {"B": 64, "grid": "ab"}):
            with self.assertRaises(TypeError):
                scale(self.stream, x, y, 1, **wrong)
        x.close()
        self.fails("InvalidHandle", "was released", scale, self.stream, x, y, 1, B=64)

    def test_what_is_tuned_may_be_left_out(self):
        x, y = self.tensors()
        tuned = self.library.kernel("tuned")
        self.assertTrue(tuned.is_tuned)
        tuned(self.stream, x, y)
        numpy.testing.assert_array_equal(y.numpy(self.stream), self.array + 1)

    def test_findings_of_the_virtual_gpu(self):
        def launch():
            self.library.kernel("beyond")(self.stream, tilec.zeros(10, device=self.device), grid=1)
            self.stream.synchronize()

        error = self.fails("DeviceFinding", "Kernels.cpp", launch)
        self.assertEqual(error.fault, "device")
        self.stream.synchronize()  # and it lives on


class Ops(Case):
    def test_results(self):
        random = numpy.random.default_rng(1)
        a, b = (random.random(shape).astype("f4") for shape in ((33, 17), (17, 20)))
        x, y = tilec.from_numpy(a, self.device), tilec.from_numpy(b, self.device)
        numpy.testing.assert_allclose(tilec.ops.matmul(x, y).numpy(), a @ b, rtol=1e-5)
        out = tilec.empty((33, 20), device=self.device)
        self.assertIs(tilec.ops.matmul(x, y, out=out, stream=self.stream), out)
        numpy.testing.assert_allclose(out.numpy(self.stream), a @ b, rtol=1e-5)
        numpy.testing.assert_array_equal(tilec.ops.add(x, x).numpy(), a + a)
        numpy.testing.assert_array_equal(tilec.ops.run("add", x, x).numpy(), a + a)
        fast = tilec.ops.matmul(x, y, fast=True).numpy()
        numpy.testing.assert_allclose(fast, a @ b, rtol=1e-2)

    def test_every_op_is_a_function(self):
        self.assertIn("matmul", tilec.ops.names())
        for name in tilec.ops.names():
            function = getattr(tilec.ops, name)
            self.assertEqual(function.__name__, name)
            self.assertTrue(function.__doc__)
            self.assertIn(name, dir(tilec.ops))

    def test_wrong_calls(self):
        x = tilec.zeros((4, 4), device=self.device)
        self.fails("InvalidArgument", "matmul: fast=yes", tilec.ops.matmul, x, x, fast="yes")
        self.fails("InvalidArgument", "add:", tilec.ops.add, x, tilec.zeros((4, 4), tilec.f16, self.device))


class Graphs(WithLibrary):
    def graph(self, by):
        return lambda: self.scale(self.stream, self.x, self.y, by, B=128)

    def setUp(self):
        super().setUp()
        self.scale = self.library.kernel("scale")
        self.x, self.y = self.tensors()
        for name in ("scale", "x", "y"):
            self.addCleanup(self.__dict__.pop, name)

    def test_replays(self):
        graph = tilec.Graph.capture(self.stream, self.graph(0.5))
        self.assertFalse(self.y.numpy().any())
        graph.replay(self.stream)
        numpy.testing.assert_array_equal(self.y.numpy(self.stream), self.array / 2)
        graph.update(self.stream, self.graph(3))
        graph.replay(self.stream)
        numpy.testing.assert_array_equal(self.y.numpy(self.stream), self.array * 3)

        def two():
            self.graph(1)()
            self.graph(2)()

        self.fails("InvalidArgument", "update:", graph.update, self.stream, two)

    def test_what_the_function_raises_comes_out(self):
        def divide():
            self.graph(1)()
            return 1 / 0

        with self.assertRaises(ZeroDivisionError):
            tilec.Graph.capture(self.stream, divide)
        self.fails("NotPreparedForCapture", "in a capture", tilec.Graph.capture, self.stream, self.stream.synchronize)

        def interrupt():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            tilec.Graph.capture(self.stream, interrupt)
        self.stream.synchronize()  # no capture is left
        with self.assertRaises(TypeError):
            tilec.Graph.capture(self.device, divide)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Device.predict(): how long kernels would take, by a model."""
import unittest

from support import Case, kKernels, numpy, python, tilec


class Predictions(Case):
    def setUp(self):
        super().setUp()
        self.x = tilec.from_numpy(numpy.arange(1000, dtype="f4"), self.device)
        self.y = tilec.zeros(1000, tilec.f32, self.device)
        self.addCleanup(self.__dict__.pop, "x")
        self.addCleanup(self.__dict__.pop, "y")

    def test_a_kernel(self):
        scale = tilec.Library(kKernels).kernel("scale")
        found = self.device.predict(scale, self.stream, self.x, self.y, 0.5, B=256)
        [launch] = found.launches
        self.assertEqual((launch.kernel, launch.grid), ("scale", [4, 1, 1]))
        self.assertEqual((found.us, found.cycles), (launch.us, launch.cycles))
        self.assertTrue(1 < found.us < 20 and found.is_calibrated, found)
        self.assertRegex(str(found), r"scale: grid 4, block \d+\n  time ")
        self.assertFalse(self.y.numpy().any())  # it has not run
        scale(self.stream, self.x, self.y, 0.5, B=256)
        self.assertEqual(self.y.numpy(self.stream)[8], 4)

    def test_an_op(self):
        a = tilec.empty((512, 512), tilec.bf16, self.device)
        found = self.device.predict(lambda: tilec.ops.matmul(a, a), assemble=False)
        self.assertIn("matmul", found.launches[0].kernel)
        self.assertTrue(found.launches[0].registers_are_estimated)
        self.assertEqual(found.cycles, self.device.predict(tilec.ops.matmul, a, a, assemble=False).cycles)
        slow = self.device.predict(tilec.ops.matmul, a, a, clock_ghz=1, assemble=False)
        self.assertEqual(slow.launches[0].clock_ghz, 1)
        self.assertGreater(slow.us, found.us)

    def test_another_card(self):
        other = tilec.Device("virtual:sm_80")
        x = tilec.empty(1000, device=other)
        with other.stream() as stream:
            found = other.predict(tilec.Library(kKernels).kernel("scale"), stream, x, x, 0.5, B=256)
        self.assertFalse(found.is_calibrated)
        self.assertIn("uncalibrated", str(found))

    def test_mistakes(self):
        def fails():
            raise KeyError("own")

        with self.assertRaises(KeyError):
            self.device.predict(fails)
        with self.assertRaises(ValueError):
            self.device.predict(lambda: None, clock_ghz=-1)
        with self.assertRaises(TypeError):
            self.device.predict(lambda: None, 1)
        self.assertEqual(self.device.predict(lambda: None).launches, [])
        self.fails("InvalidArgument", "", self.device.predict, lambda: tilec.ops.add(self.x, self.x, what=1))

    def test_the_runtime_alone_has_none(self):
        done = python("import tilec\ntry: tilec.Device('virtual').predict(lambda: None)\n"
                      "except tilec.Error as error: print(error)", TILE_LIBRARY=tilec.library_path.replace("libtile.so", "libtile_rt.so"))
        self.assertIn("predictions need the compiler", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Kernels that were compiled ahead of time, from Python, with a library that has no compiler."""
import pathlib
import subprocess
import tempfile
import unittest

import support
from support import Case, kKernels, kTilec, numpy, tilec


class Archives(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        cls.addClassCleanup(folder.cleanup)
        done = subprocess.run([kTilec, "aot", kKernels, "--name", "kernels", "-o", folder.name, "--arch", "sm_80,sm_90a", "--no-machine-code",
                               "-f", "scale B=128", "-f", "wide = scale B=256"], capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        cls.path = pathlib.Path(folder.name, "kernels.tilekernels")

    def setUp(self):
        super().setUp()
        self.array = numpy.arange(1000, dtype="f4")

    def test_what_an_archive_has(self):
        archive = tilec.Archive(self.path)
        self.assertEqual(archive.names, ["scale", "wide"])
        wide = archive.function("wide")
        self.assertEqual((wide.name, wide.targets, wide.constants), ("wide", ["sm_80", "sm_90a"], {"B": 256}))
        self.assertEqual(wide.parameters, [("x", "in", tilec.f32, 1), ("y", "out", tilec.f32, 1), ("by", "scalar", tilec.f32, 0)])
        self.assertIn("wide(x, y, by)", repr(wide))
        self.fails("InvalidArgument", "scale", archive.function, "scales")
        self.fails("IoError", "/nowhere", tilec.Archive, "/nowhere.tilekernels")

    def test_launches(self):
        with tilec.Archive(self.path) as archive:
            functions = [archive.function(name) for name in archive.names]
        for device in (self.device, tilec.Device("virtual:sm_80")):
            x, y = tilec.from_numpy(self.array, device), tilec.zeros(1001, device=device)
            with device.stream() as stream:
                for function, by in zip(functions, (0.5, 3)):
                    function.prepare(device)
                    for out in (y[:1000], y[1:]):  # aligned and not
                        function(stream, x, out, by)
                        numpy.testing.assert_array_equal(out.numpy(stream), self.array * numpy.float32(by))

    def test_archives_in_memory_and_graphs(self):
        scale = tilec.Archive.read(self.path.read_bytes()).function("scale")
        x, y = tilec.from_numpy(self.array, self.device), tilec.zeros(1000, device=self.device)
        graph = tilec.Graph.capture(self.stream, lambda: scale(self.stream, x, y, 2))
        graph.replay(self.stream)
        numpy.testing.assert_array_equal(y.numpy(self.stream), self.array * 2)
        self.fails("Parse", "here", tilec.Archive.read, self.path.read_bytes()[:-100], "here")
        self.fails("Parse", "<bytes>", tilec.Archive.read, b"")

    def test_wrong_calls(self):
        scale = tilec.Archive(self.path).function("scale")
        x, y = tilec.from_numpy(self.array, self.device), tilec.zeros(1000, device=self.device)
        self.fails("InvalidArgument", "takes 3 arguments, got 2", scale, self.stream, x, y)
        self.fails("InvalidArgument", "f32", scale, self.stream, tilec.zeros(1000, tilec.f64, self.device), y, 1)
        with self.assertRaises(TypeError):
            scale(self.stream, x, y, "1")
        with self.assertRaises(TypeError):
            scale(self.stream, x, y, 1, B=128)  # its constants are what it was compiled with
        with self.assertRaises(TypeError):
            scale.prepare(self.stream)

    def test_no_compiler_is_needed(self):
        done = support.python(f"""
import numpy, tilec
assert not tilec.has_compiler
device = tilec.Device("virtual:sm_90a")
x, y = tilec.from_numpy(numpy.arange(1000, dtype="f4"), device), tilec.empty(1000, device=device)
with device.stream() as stream:
    tilec.Archive({str(self.path)!r}).function("scale")(stream, x, y, 0.5)
    print(y.numpy(stream)[7])
""", TILE_LIBRARY=support.kRuntime)
        self.assertEqual((done.stdout, done.stderr), ("3.5\n", ""))


if __name__ == "__main__":
    unittest.main()

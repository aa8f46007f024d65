#!/usr/bin/env python3
"""What differs with memory of a GPU, which is shared: against the fake driver of tests/runtime/device/fakecuda."""
import os
import pathlib
import tempfile
import unittest

from support import Case, kFakeDriver, numpy, python, tilec

os.environ["TILE_LIBCUDA"] = kFakeDriver  # read when the first device is opened


class Gpu(Case):
    def setUp(self):
        super().setUp()
        self.gpu = tilec.Device("cuda:0")
        self.array = numpy.arange(24, dtype="f4").reshape(4, 6)
        self.tensor = tilec.from_numpy(self.array, self.gpu)
        for name in ("gpu", "tensor"):
            self.addCleanup(self.__dict__.pop, name)

    def test_memory_is_shared(self):
        self.assertEqual(self.tensor.__dlpack_device__(), (2, 0))
        for version in (None, (1, 1)):
            shared = tilec.from_dlpack(self.tensor.T.__dlpack__(max_version=version), self.gpu)
            self.assertEqual((shared.data_ptr, shared.shape, shared.strides), (self.tensor.data_ptr, (6, 4), (1, 6)))
        shared = tilec.from_dlpack(self.tensor, self.gpu)
        self.tensor.close()
        numpy.testing.assert_array_equal(shared.numpy(), self.array)  # it keeps the memory

    def test_copies_for_the_host(self):
        numpy.testing.assert_array_equal(numpy.from_dlpack(Capsule(self.tensor.__dlpack__(dl_device=(1, 0)))), self.array)
        for options in ({"dl_device": (1, 0), "copy": False}, {"dl_device": (2, 1)}, {"copy": True}):
            with self.assertRaises(BufferError):
                self.tensor.__dlpack__(**options)

    def test_order_is_the_takers(self):
        class Producer:
            """Of a library that is told which stream takes its tensor."""

            def __dlpack_device__(_):
                return (2, 0)

            def __dlpack__(_, **options):
                asked.append(options)
                return self.tensor.__dlpack__(**options)

        asked, stream = [], self.gpu.stream()
        tilec.from_dlpack(Producer(), self.gpu, stream=stream)
        tilec.from_dlpack(Producer(), self.gpu)
        self.assertEqual(asked, [{"max_version": (1, 1), "stream": stream.native}, {"max_version": (1, 1)}])
        self.assertNotEqual(stream.native, 0)
        self.tensor.__dlpack__(stream=-1)

    def test_what_others_take_has_been_waited_for(self):
        with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
            trace = pathlib.Path(folder, "trace.json")
            for stream, waits in (("None", 1), ("7", 1), ("-1", 0)):
                done = python(f"import tilec; tilec.empty(10, device='cuda:0').__dlpack__(stream={stream})", TILE_TRACE=str(trace))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(trace.read_text().count('"wait for the device"'), waits, stream)

    def test_memory_of_another_device(self):
        self.fails("WrongDevice", "does not address", tilec.from_dlpack, self.tensor, self.device)
        self.fails("WrongDevice", "cuda:0", self.tensor.numpy, self.stream)

    def test_contexts_of_others(self):
        self.fails("InvalidHandle", "no CUDA context is current", tilec.Device.of_context)

    def test_streams_of_others(self):
        stream = self.gpu.stream()
        again = self.gpu.external_stream(stream.native)
        self.assertEqual(again.native, stream.native)
        numpy.testing.assert_array_equal(self.tensor.numpy(again), self.array)
        self.assertFalse(self.gpu.is_virtual)


class Capsule:
    """A capsule as NumPy takes it."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


if __name__ == "__main__":
    unittest.main()

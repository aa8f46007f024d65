#!/usr/bin/env python3
"""Tensors from and to NumPy, PyTorch and others, by DLPack."""
import gc
import resource
import unittest

from support import Case, numpy, tilec

try:
    import torch
except ImportError:
    torch = None


class Producer:
    """Another library's tensor, which remembers how it was asked."""

    def __init__(self, array, understands_versions=True):
        self.array, self.understands_versions, self.asked = array, understands_versions, []

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        self.asked.append(options)
        if options and not self.understands_versions:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__()


class Exchange(Case):
    def setUp(self):
        super().setUp()
        self.array = numpy.arange(24, dtype="f4").reshape(4, 6)
        self.tensor = tilec.from_numpy(self.array, self.device)
        self.addCleanup(self.__dict__.pop, "tensor")

    def test_to_numpy(self):
        self.assertEqual(self.tensor.__dlpack_device__(), (1, 0))
        copy = numpy.from_dlpack(self.tensor)
        view = numpy.from_dlpack(self.tensor.T)
        numpy.testing.assert_array_equal(copy, self.array)
        numpy.testing.assert_array_equal(view, self.array.T)
        self.tensor.copy_from(self.array + 1)
        numpy.testing.assert_array_equal(copy, self.array)  # the virtual GPU's memory is copied

    def test_from_numpy(self):
        for array in (self.array, self.array.T, self.array[::2, 1:4], numpy.array(3.5), self.array[:0]):
            numpy.testing.assert_array_equal(tilec.from_dlpack(array, self.device).numpy(), array)
            numpy.testing.assert_array_equal(tilec.from_dlpack(array, self.device, stream=self.stream).numpy(), array)
        for kind in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
            array = self.array.astype(kind)
            self.assertEqual(tilec.from_dlpack(array, self.device).numpy().dtype, array.dtype)
        self.fails("Unsupported", "negative", tilec.from_dlpack, self.array[::-1], self.device)
        self.fails("Unsupported", "no tensor has elements of complex64; there are", tilec.from_dlpack, self.array.astype("c8"), self.device)

    def test_between_devices(self):
        other = tilec.Device("virtual:sm_80")
        moved = tilec.from_dlpack(self.tensor, other)
        self.assertEqual(moved.device, other)
        numpy.testing.assert_array_equal(moved.numpy(), self.array)

    def test_capsules_of_both_forms(self):
        for options, name in (({}, "dltensor"), ({"max_version": (0, 8)}, "dltensor"), ({"max_version": None}, "dltensor"),
                              ({"max_version": (1, 0)}, "dltensor_versioned"), ({"max_version": (2, 3)}, "dltensor_versioned")):
            capsule = self.tensor.__dlpack__(**options)
            self.assertIn(f'"{name}"', repr(capsule))
            numpy.testing.assert_array_equal(tilec.from_dlpack(capsule, self.device).numpy(), self.array)
            self.assertIn(f'"used_{name}"', repr(capsule))
            with self.assertRaisesRegex(ValueError, "taken already"):
                tilec.from_dlpack(capsule, self.device)

    def test_what_the_memory_cannot_be(self):
        for options in ({"copy": False}, {"stream": 1}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                self.tensor.__dlpack__(**options)
        for options in ({"copy": True}, {"dl_device": (1, 0)}, {"stream": None}):
            self.tensor.__dlpack__(**options)

    def test_producers_of_all_times(self):
        for understands in (True, False):
            producer = Producer(self.array, understands)
            numpy.testing.assert_array_equal(tilec.from_dlpack(producer, self.device).numpy(), self.array)
            self.assertEqual(producer.asked, [{"max_version": (1, 1)}] + [{}] * (not understands))

    def test_what_is_no_tensor(self):
        with self.assertRaisesRegex(TypeError, "a list has no __dlpack__"):
            tilec.from_dlpack([1, 2], self.device)
        import datetime
        with self.assertRaisesRegex(ValueError, "holds no tensor"):
            tilec.from_dlpack(datetime.datetime_CAPI, self.device)
        with self.assertRaises(TypeError):
            tilec.from_dlpack(self.array, self.device, stream=7)

    def test_producers_are_told_once(self):
        references = __import__("sys").getrefcount(self.array)
        for _ in range(100):
            tilec.from_dlpack(self.array, self.device)
            with self.assertRaises(tilec.Error):
                tilec.from_dlpack(self.array.T[::-1], self.device)
        gc.collect()
        self.assertLessEqual(__import__("sys").getrefcount(self.array), references + 1)

    def test_capsules_that_nobody_takes(self):
        large = tilec.zeros(1 << 20, device=self.device)  # 4 MB
        large.__dlpack__()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for version in [None, (1, 1)] * 50:
            large.__dlpack__(max_version=version)
            numpy.from_dlpack(large)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KB
        self.assertLess(grown, 100 * 1024, "exported memory is kept")

    @unittest.skipUnless(torch, "there is no torch")
    def test_torch(self):
        theirs = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        numpy.testing.assert_array_equal(tilec.from_dlpack(theirs, self.device).numpy(), theirs.numpy())
        numpy.testing.assert_array_equal(tilec.from_dlpack(theirs.T, self.device).numpy(), theirs.T.numpy())
        self.assertTrue(torch.equal(torch.from_dlpack(self.tensor), theirs))
        half = tilec.from_dlpack(theirs.to(torch.bfloat16), self.device)
        self.assertEqual(half.dtype, tilec.bf16)
        self.assertTrue(torch.equal(torch.from_dlpack(half), theirs.to(torch.bfloat16)))


if __name__ == "__main__":
    unittest.main()

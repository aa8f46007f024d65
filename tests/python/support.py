"""What the tests of the Python module share.

Usage of each test: NAME_test.py LIBTILE.so KERNELS.so TILEC FAKE_DRIVER.so; the package is that of the checkout."""
import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import unittest

kRoot = pathlib.Path(__file__).resolve().parent.parent.parent
kLibrary = os.path.abspath(sys.argv.pop(1))
kRuntime = os.path.join(os.path.dirname(kLibrary), "libtile_rt.so")  # without the compiler
kKernels = os.path.abspath(sys.argv.pop(1))
kTilec = os.path.abspath(sys.argv.pop(1))
kFakeDriver = os.path.abspath(sys.argv.pop(1))  # of tests/runtime/device/fakecuda
os.environ.update(TILE_LIBRARY=kLibrary, TILE_CACHE="off", TILE_DEVICE="virtual:sm_90a")
sys.path.insert(0, str(kRoot / "python"))

try:
    import numpy
except ImportError:
    print(f"SKIPPED: {sys.executable} has no numpy (Debian: python3-numpy)")
    sys.exit(77)
import tilec  # noqa: E402

_live = ctypes.CDLL(kLibrary)._ZN4tile4capi11liveHandlesEv
_live.restype = ctypes.c_size_t


def live_handles():
    """How many handles of the C API there are."""
    gc.collect()
    return _live()


def python(source, timeout=60, **environment):
    """Runs a program in an interpreter of its own, with the package and the kernels."""
    return subprocess.run([sys.executable, "-c", source, kKernels], timeout=timeout, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(kRoot / "python"), **environment})


class Case(unittest.TestCase):
    """A device and a stream; no handle is left behind but default streams."""

    def setUp(self):
        self.device = tilec.Device("virtual:sm_90a")
        self.device.default_stream  # lives as long as the process
        before = live_handles()
        self.addCleanup(lambda: self.assertEqual(live_handles(), before, "handles are left"))
        self.stream = self.device.stream()
        self.addCleanup(self.__dict__.pop, "stream")

    def fails(self, code, part, function, *arguments, **settings):
        """The call raises tilec.Error with this code and these words."""
        with self.assertRaises(tilec.Error) as caught:
            function(*arguments, **settings)
        error = caught.exception.with_traceback(None)
        self.assertEqual(error.code, code, error)
        self.assertIn(part, str(error))
        return error

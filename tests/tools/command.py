"""What the tests of the command share: running it in a folder of its own, and .npy files.

Usage of each test: NAME_test.py TILEC TILE-OPT faults|nofaults"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

kTilec = os.path.abspath(sys.argv.pop(1))
kTileOpt = os.path.abspath(sys.argv.pop(1))
kHasFaults = sys.argv.pop(1) == "faults"  # TILE_FAULT breaks passes in builds with asserts
kEnvironment = {**os.environ, "TILE_DEVICE": "virtual", "TILE_CACHE": "off", "TMPDIR": ""}


def tilec(*arguments, cwd, timeout=60, **environment):
    return subprocess.run([kTilec, *map(str, arguments)], cwd=cwd, timeout=timeout, capture_output=True,
                          env={**kEnvironment, "TMPDIR": str(cwd), **environment})


def npy(descr, shape, data, order="False", version=1):
    extents = "".join(f"{extent}, " for extent in shape)
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({extents}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def data_of(path, count):
    return struct.unpack(f"<{count}f", path.read_bytes()[-4 * count:])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_tilec(self, code, *arguments, **options):
        done = tilec(*arguments, cwd=self.path, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def write(self, name, content):
        (self.path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

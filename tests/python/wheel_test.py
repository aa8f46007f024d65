#!/usr/bin/env python3
"""The wheel, built without a network, installed in an environment of its own and used from outside of the checkout."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import kKernels, kLibrary, kRoot

kProgram = """
import sys, tilec
assert not tilec.__file__.startswith(sys.argv[2]), tilec.__file__
device = tilec.Device("virtual:sm_90a")
x, y = tilec.zeros(1000, device=device), tilec.empty(1000, device=device)
with device.stream() as stream:
    tilec.Library(sys.argv[1]).kernel("scale")(stream, x, y, 0.5, B=128)
    assert y.numpy(stream)[999] == 0
print(tilec.__version__, tilec.has_compiler, tilec.library_path)
"""


def run(*command, **options):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TILE_LIBRARY")}
    environment.update(options.pop("environment", {}), PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100, env=environment, **options)


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for module in ("pip", "venv", "tomllib"):
            if run(sys.executable, "-c", f"import {module}").returncode:
                self.skipTest(f"{sys.executable} has no {module}")

    def succeeds(self, *command, **options):
        done = run(*command, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def wheel(self, library):
        self.succeeds(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", self.folder,
                      "--config-settings", f"library={library}", kRoot / "python")
        return next(self.folder.glob("*.whl"))

    def environment(self):
        """One with NumPy, which is of the system, and without the checkout."""
        done = run(sys.executable, "-m", "venv", "--system-site-packages", self.folder / "venv")
        if done.returncode:
            self.skipTest(f"venv makes no environment: {done.stderr.strip()[-200:]}")
        return self.folder / "venv/bin/python"

    def test_a_wheel_without_a_library(self):
        wheel = self.wheel("none")
        self.assertRegex(wheel.name, r"^tilec-\d+\.\d+\.\d+-py3-none-any\.whl$")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertIn("tilec/__init__.py", names)
        self.assertFalse([name for name in names if not name.startswith(("tilec/", "tilec-"))])
        python = self.environment()
        self.succeeds(python, "-m", "pip", "install", "-q", wheel)
        output = self.succeeds(python, "-c", kProgram, kKernels, kRoot, environment={"TILE_LIBRARY": kLibrary})
        self.assertEqual(output.split()[1:], ["True", kLibrary])
        self.succeeds(python, "-m", "pip", "uninstall", "-q", "-y", "tilec")
        self.assertNotEqual(run(python, "-c", "import tilec", cwd=self.folder).returncode, 0)

    def test_a_wheel_with_a_library(self):
        wheel = self.wheel(kLibrary)
        self.assertRegex(wheel.name, r"-py3-none-linux_\w+\.whl$")
        self.succeeds(sys.executable, "-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall('there')", wheel)
        output = self.succeeds(sys.executable, "-c", kProgram, kKernels, kRoot,
                               environment={"PYTHONPATH": str(self.folder / "there")})
        self.assertEqual(output.split()[2], str(self.folder / "there/tilec/lib/libtile.so"))

    def test_libraries_that_are_not_there(self):
        done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", self.folder, "--config-settings", "library=/nowhere.so",
                   kRoot / "python")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("library=/nowhere.so: there is no such file", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

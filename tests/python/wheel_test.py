#!/usr/bin/env python3
"""The wheel, built without a network, installed in an environment of its own and used from outside of the checkout."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import kKernels, kLibrary, kRoot, kRuntime

kProgram = """
import sys, tilec
assert not tilec.__file__.startswith(sys.argv[2]), tilec.__file__
device = tilec.Device("virtual:sm_90a")
x, y = tilec.zeros(1000, device=device), tilec.zeros(1000, device=device)
with device.stream() as stream:
    if tilec.has_compiler:
        tilec.Library(sys.argv[1]).kernel("scale")(stream, x, y, 0.5, B=128)
    assert y.numpy(stream)[999] == 0
print(tilec.__version__, tilec.has_compiler, tilec.library_path)
"""


def run(*command, **options):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TILE_LIBRARY")}
    environment.update(options.pop("environment", {}), PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100, env=environment, **options)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for module in ("pip", "venv", "tomllib"):
            if run(sys.executable, "-c", f"import {module}").returncode:
                raise unittest.SkipTest(f"{sys.executable} has no {module}")
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        cls.addClassCleanup(folder.cleanup)
        # NumPy is the system's, and so is pip, which installs into the environment from outside.
        environment = pathlib.Path(folder.name, "venv")
        made = run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", environment)
        if made.returncode:
            raise unittest.SkipTest(f"venv makes no environment: {made.stderr.strip()[-200:]}")
        cls.python = environment / "bin/python"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeeds(self, *command, **options):
        done = run(*command, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def wheel(self, library):
        self.succeeds(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", self.folder,
                      "--config-settings", f"library={library}", kRoot / "python")
        return next(self.folder.glob("*.whl"))

    def pip(self, *words):
        self.succeeds(sys.executable, "-m", "pip", "--python", self.python, *words)

    def test_a_wheel_without_a_library(self):
        wheel = self.wheel("none")
        self.assertRegex(wheel.name, r"^tilec-\d+\.\d+\.\d+-py3-none-any\.whl$")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertIn("tilec/__init__.py", names)
        self.assertFalse([name for name in names if not name.startswith(("tilec/", "tilec-"))])
        self.pip("install", "-q", "--no-deps", wheel)
        output = self.succeeds(self.python, "-c", kProgram, kKernels, kRoot, environment={"TILE_LIBRARY": kLibrary})
        self.assertEqual(output.split()[1:], ["True", kLibrary])
        self.pip("uninstall", "-q", "-y", "tilec")
        self.assertNotEqual(run(self.python, "-c", "import tilec", cwd=self.folder).returncode, 0)

    def test_a_wheel_with_the_runtime(self):
        wheel = self.wheel(kRuntime)
        self.assertRegex(wheel.name, r"-py3-none-linux_\w+\.whl$")
        self.pip("install", "-q", "--no-deps", wheel)
        output = self.succeeds(self.python, "-c", kProgram, kKernels, kRoot)
        self.assertRegex(output, rf" False {self.python.parent.parent}/.*/tilec/lib/libtile_rt\.so$")
        self.pip("uninstall", "-q", "-y", "tilec")

    def test_libraries_that_are_not_there(self):
        for library in "/nowhere/libtile_rt.so", kLibrary:
            done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", self.folder, "--config-settings",
                       f"library={library}", kRoot / "python")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"library={library}: a file libtile_rt.so is expected", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

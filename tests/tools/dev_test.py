#!/usr/bin/env python3
"""tools/dev build on a machine that lacks the compiler at first. Usage: dev_test.py DEV"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

kDev = os.path.abspath(sys.argv.pop(1))
kPresets = """{"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/${presetName}", "cacheVariables": {"CMAKE_CXX_COMPILER": "compiler-of-the-test"}}]}"""
kProject = """cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX)
add_executable(p p.cpp)
"""


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        for name, text in {"CMakePresets.json": kPresets, "CMakeLists.txt": kProject, "p.cpp": "int main() {}\n"}.items():
            (self.path / name).write_text(text)
        for name in "tools", "bin":
            (self.path / name).mkdir()
        shutil.copy(kDev, self.path / "tools/dev")

    def build(self, code):
        done = subprocess.run(["tools/dev", "build"], cwd=self.path, capture_output=True, text=True, timeout=100,
                              env={**os.environ, "PATH": f"{self.path / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def install(self):
        (self.path / "bin/compiler-of-the-test").symlink_to(shutil.which(os.environ.get("CXX", "c++")))

    def test_a_first_configure_that_fails_leaves_nothing(self):
        text = self.build(1)
        self.assertIn("compiler-of-the-test", text)
        self.assertIn("`tools/dev setup` installs what is missing", text)
        self.assertFalse((self.path / "build/dev").exists())
        self.install()
        self.build(0)
        self.assertTrue((self.path / "build/dev/p").exists())

    def test_what_another_attempt_left_is_no_obstacle(self):
        command = ["cmake", "--preset", "dev"]
        self.assertNotEqual(subprocess.run(command, cwd=self.path, capture_output=True, timeout=100).returncode, 0)
        self.assertTrue((self.path / "build/dev/CMakeCache.txt").exists())
        self.install()
        self.build(0)

    def test_a_folder_that_was_whole_is_kept(self):
        self.install()
        self.build(0)
        (self.path / "CMakeLists.txt").write_text("nonsense(\n")
        self.build(1)
        self.assertTrue((self.path / "build/dev/p").exists())


if __name__ == "__main__":
    unittest.main()

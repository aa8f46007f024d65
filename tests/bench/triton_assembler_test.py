#!/usr/bin/env python3
"""Which assembler the comparison with Triton takes, and what it says of PTX that is too new. Usage: triton_assembler_test.py FOLDER"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))
import assembler  # noqa: E402


class Assembler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def program(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return str(file)

    def test_that_of_the_wheel_comes_first(self):
        self.assertEqual(assembler.choose(None, str(self.path)), "ptxas")
        own = self.program("backends/nvidia/bin/ptxas", "exit 0\n")
        self.assertEqual(assembler.choose(None, str(self.path)), own)
        self.assertEqual(assembler.choose("/mine/ptxas", str(self.path)), "/mine/ptxas")

    def test_ptx_that_is_too_new_is_one_sentence(self):
        old = self.program("ptxas", "echo 'ptxas k.ptx, line 6; fatal : Unsupported .version 8.7' >&2; exit 255\n")
        with self.assertRaises(SystemExit) as ended:
            assembler.report(".version 8.7", old, "sm_90a")
        self.assertEqual(str(ended.exception), f"{old} does not take the PTX for sm_90a: ptxas k.ptx, line 6; fatal : "
                                               "Unsupported .version 8.7\ngive a newer one by --ptxas")


if __name__ == "__main__":
    unittest.main(verbosity=1)

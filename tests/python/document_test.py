#!/usr/bin/env python3
"""The example of docs/python.md runs as it stands there."""
import re
import unittest

from support import kKernels, kRoot, python

kBefore = """
import numpy, tilec
a = tilec.from_numpy(numpy.ones((16, 16), "f4"), "virtual:sm_90a")
b = tilec.from_numpy(numpy.ones((16, 16), "f4"), "virtual:sm_90a")
weights, gradient, m, v = (tilec.zeros(64, device="virtual:sm_90a") for _ in range(4))
"""
kAfter = "print(c.numpy()[3, 3])\n"


class Document(unittest.TestCase):
    maxDiff = None

    def test_the_example(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", (kRoot / "docs/python.md").read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 1)
        done = python(kBefore + blocks[0].replace("./libkernels.so", kKernels) + kAfter)
        self.assertEqual((done.stderr, done.stdout), ("", "[0.  0.5 1.  1.5]\n16.0\n"))


if __name__ == "__main__":
    unittest.main()

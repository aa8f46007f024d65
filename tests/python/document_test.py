#!/usr/bin/env python3
"""The examples of docs/python.md run as they stand there, one after the other, and print what their comments say."""
import re
import unittest

from support import kKernels, kRoot, python

kBefore = """
import numpy, tilec
a = tilec.from_numpy(numpy.ones((16, 16), "f4"), "virtual:sm_90a")
b = tilec.from_numpy(numpy.ones((16, 16), "f4"), "virtual:sm_90a")
weights, gradient, m, v = (tilec.zeros(64, device="virtual:sm_90a") for _ in range(4))
"""


class Document(unittest.TestCase):
    maxDiff = None

    def test_the_examples(self):
        text = (kRoot / "docs/python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertEqual(len(blocks), 3)
        program = "".join(blocks)
        done = python(kBefore + program.replace("./libkernels.so", kKernels).replace("print(x)\n", ""))
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.splitlines(), re.findall(r"# -> (.*)$", program, re.M))

    def test_what_it_shows(self):
        text = (kRoot / "docs/python.md").read_text()
        done = python("""
import inspect, tilec
x = tilec.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print(str(x).replace("\\n        ", " "))
print("layernorm" + str(inspect.signature(tilec.ops.layernorm)))
try:
    tilec.ops.softmax(tilec.empty(64, 33))
except tilec.Error as error:
    print(str(error).splitlines()[0].replace("<string>:7:", "train.py:12:"))
""")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3, done.stderr)
        for line in lines:
            self.assertIn(line, text)


if __name__ == "__main__":
    unittest.main()

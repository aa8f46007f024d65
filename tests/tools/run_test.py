#!/usr/bin/env python3
"""tilec run on ops."""
import random
import struct
import unittest

from command import Case, data_of, floats, npy, tilec


class Run(Case):
    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", [1000], floats(range(1000))))
        self.write("b.npy", npy("<f4", [1000], floats([2 * i for i in range(1000)])))

    def test_add(self):
        self.run_tilec(0, "run", "op:add", "a.npy", "b.npy", "c.npy")
        self.assertEqual(data_of(self.path / "c.npy", 1000), tuple(3.0 * i for i in range(1000)))
        self.run_tilec(0, "run", "op:add", "a.npy", "c.npy", "d.npy", "--device", "virtual:sm_90a", "--check", "none")
        self.assertEqual(data_of(self.path / "d.npy", 1000), tuple(4.0 * i for i in range(1000)))

    def test_matmul(self):
        rows, inner, columns = 5, 7, 3
        self.write("m.npy", npy("<f2", [rows, inner], struct.pack("<35e", *range(35)), version=2))
        self.write("n.npy", npy("<f2", [inner, columns], struct.pack("<21e", *range(21))))
        self.run_tilec(0, "run", "op:matmul", "m.npy", "n.npy", "out.npy", "--check", "memory,race")
        content = (self.path / "out.npy").read_bytes()
        header = content[10:10 + struct.unpack("<H", content[8:10])[0]].decode()
        form, size = ("e", 2) if "<f2" in header else ("f", 4)
        got = struct.unpack(f"<15{form}", content[-15 * size:])
        expected = [sum((r * inner + k) * (k * columns + c) for k in range(inner))
                    for r in range(rows) for c in range(columns)]
        for have, want in zip(got, expected):
            self.assertAlmostEqual(have, want, delta=want * 1e-3)

    def test_empty_arrays(self):
        self.write("e.npy", npy("<f4", [0], b""))
        self.run_tilec(0, "run", "op:add", "e.npy", "e.npy", "c.npy")
        self.assertIn(b"'shape': (0,)", (self.path / "c.npy").read_bytes())

    def test_bad_arrays(self):
        good = (self.path / "a.npy").read_bytes()
        cases = {
            "empty": (b"", "magic"),
            "magic": (b"NUMPY" + good, "magic"),
            "version": (good[:6] + b"\x09" + good[7:], "format version 9"),
            "data": (good[:3000], "its shape needs 4000 bytes of data, the file has 2872"),
            "header": (good[:60], "cut off"),
            "longer": (good + b"x", "4001"),
            "long": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "cut off or too long"),
            "order": (npy("<f4", [2], b"8 bytes.", order="True"), "Fortran order"),
            "endian": (npy(">f4", [2], b"8 bytes."), "'>f4' is not one of"),
            "object": (npy("|O", [2], b"8 bytes."), "'|O' is not one of"),
            "overflow": (npy("<f4", [1 << 62, 1 << 62], b""), "more than 2^64 bytes"),
            "negative": (npy("<f4", [-1], b""), "an extent of the shape"),
            "rank": (npy("<f4", [1] * 9, b"4by."), "more than 8 dimensions"),
            "python": (b"\x93NUMPY\x01\x00\x10\x00" + b"[1, 2, 3]".ljust(16), "'{' expected"),
            "unclosed": (b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr".ljust(16), "unfinished"),
        }
        for name, (content, message) in cases.items():
            with self.subTest(name):
                self.write("x.npy", content)
                errors = self.run_tilec(2, "run", "op:add", "x.npy", "b.npy", "c.npy")[1]
                self.assertIn("'x.npy' is not a usable .npy file: ", errors)
                self.assertIn(message, errors)
                self.assertFalse((self.path / "c.npy").exists())

    def test_flipped_headers_never_crash(self):
        rng = random.Random(2)
        good = (self.path / "a.npy").read_bytes()
        for i in range(40):
            content = bytearray(good)
            for _ in range(1 + i % 3):
                content[rng.randrange(128)] ^= 1 << rng.randrange(8)
            self.write("x.npy", bytes(content))
            done = tilec("run", "op:add", "x.npy", "b.npy", "c.npy", cwd=self.path)
            self.assertIn(done.returncode, (0, 2), (content[:128], done.stderr))

    def test_faults_of_an_op_name_no_line_of_the_library(self):
        self.write("scalar.npy", npy("<f4", [], floats([1])))
        errors = self.run_tilec(2, "run", "op:layernorm", "scalar.npy", "c.npy")[1]
        self.assertEqual(errors, "error: layernorm: x is f32 scalar; it needs at least one dimension\n")
        errors = self.run_tilec(2, "run", "op:matmul", "a.npy", "b.npy", "c.npy")[1]
        self.assertRegex(errors, r"\Aerror: matmul: .*\n\Z")

    def test_faults_name_the_op_once_as_it_was_called(self):
        self.write("x.npy", npy("<f4", [2, 4], floats(range(8))))
        self.write("i.npy", npy("<i4", [2], struct.pack("<2i", 0, 1)))
        for words, said in [(["top_k", "k=9", "x.npy", "v.npy", "i2.npy"], r"top_k: k is 9"),
                            (["sample_top_k", "k=9", "seed=1", "x.npy", "i2.npy"], r"sample_top_k: k is 9"),
                            (["sum_to", "shape=3", "x.npy", "y.npy"], r"sum_to: "),
                            (["log_softmax", "i.npy", "y.npy"], r"log_softmax: x "),
                            (["swiglu_halves", "i.npy", "y.npy"], r"swiglu_halves: "),
                            (["dropout_add", "x.npy", "i.npy", "y.npy"], r"dropout_add: ")]:
            errors = self.run_tilec(2, "run", "op:" + words[0], *words[1:])[1]
            self.assertRegex(errors, rf"\Aerror: {said}(?!\w+: )", words)
            self.assertNotRegex(errors, r"error: \w+: [a-z]+[A-Z]\w*: ", words)

    def test_outputs_are_looked_at_before_anything_runs(self):
        kernel = """
            .version 8.0\n.target sm_80\n.address_size 64\n
            .visible .entry k(.param .u64 a, .param .u64 b) { trap; }"""
        self.write("k.ptx", kernel)
        run = ("run", "k.ptx", "--grid", "1", "--block", "1")
        errors = self.run_tilec(2, *run, "out:c.npy:f32:1", "out:./c.npy:f32:1")[1]
        self.assertEqual(errors, "error: './c.npy' would be written twice: give each output a file of its own\n")
        self.run_tilec(2, *run, "out:c.npy:f32:1", "out:d.npy:f32:1", "--json", "d.npy")
        errors = self.run_tilec(2, *run, "out:c.npy:f32:1", "out:no/folder/d.npy:f32:1")[1]
        self.assertEqual(errors, "error: cannot write 'no/folder/d.npy': there is no such folder\n")
        (self.path / "folder.npy").mkdir()
        self.assertIn("it is a folder", self.run_tilec(2, "run", "op:add", "a.npy", "b.npy", "folder.npy")[1])
        self.run_tilec(1, *run, "out:c.npy:f32:1", "out:d.npy:f32:1")

    def test_ops_with_several_outputs_and_in_place(self):
        self.write("x.npy", npy("<f4", [2, 3], floats([1, 5, 3, 9, 7, 8])))
        self.run_tilec(0, "run", "op:top_k", "x.npy", "values.npy", "indices.npy", "k=2")
        self.assertEqual(data_of(self.path / "values.npy", 4), (5, 3, 9, 8))
        self.run_tilec(0, "run", "op:sgd", "x.npy", "x.npy", "new.npy", "rate=0.5")
        self.assertEqual(data_of(self.path / "new.npy", 6), (0.5, 2.5, 1.5, 4.5, 3.5, 4))
        self.run_tilec(0, "run", "op:sgd", "x.npy", "x.npy", "x.npy", "new.npy", "velocity.npy", "rate=1", "momentum=1")
        self.assertEqual(data_of(self.path / "velocity.npy", 6), (2, 10, 6, 18, 14, 16))
        for files, told in ((["op:top_k", "x.npy", "y.npy"], "op:top_k takes 1 input file and 2 output files, got 2 files"),
                            (["op:add", "x.npy"], "op:add takes 2 input files and one for each output, got 1 file"),
                            (["op:sgd", "x.npy", "x.npy"], "op:sgd takes 2 to 3 input files and 1 output file, got 2 files")):
            self.assertIn(told, self.run_tilec(2, "run", *files)[1])

    def test_usage(self):
        for arguments in [[], ["a.npy"], ["op:nothing", "a.npy"], ["op:add"], ["op:add", "a.npy", "b.npy"],
                          ["op:add", "missing.npy", "b.npy", "c.npy"], ["op:add", "a.npy", "b.npy", "no/folder/c.npy"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--check", "what"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--device", "what"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--device", "cuda:0", "--check", "all"]]:
            with self.subTest(arguments):
                self.run_tilec(2, "run", *arguments)


if __name__ == "__main__":
    unittest.main()

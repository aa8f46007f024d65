#!/usr/bin/env python3
"""The kernel cache from outside: a second process compiles nothing, and tilec cache tells what there is."""
import json
import os
import unittest

from command import Case, data_of, floats, npy


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", [1000], floats(range(1000))))
        self.kernels = self.path / "kernels"

    def run_cached(self, code, *arguments, **environment):
        return self.run_tilec(code, *arguments, **{"TILE_CACHE": "on", "TILE_CACHE_DIR": str(self.kernels), **environment})

    def add(self, out="c.npy", **environment):
        _, told = self.run_cached(0, "run", "op:add", "a.npy", "a.npy", out, **environment)
        self.assertEqual(data_of(self.path / out, 1000), tuple(2.0 * i for i in range(1000)))
        return told

    def files(self, folder=None):
        return sorted((folder or self.kernels).glob("??/*.tile"))

    def entries(self, **environment):
        return json.loads(self.run_cached(0, "cache", "ls", "--json", **environment)[0])

    def test_later_processes_read(self):
        self.add()
        [entry] = self.entries()
        self.assertEqual(entry["key"]["kernel"], "add")
        self.assertEqual(entry["key"]["target"], "sm_80")
        self.assertGreater(entry["ptx_bytes"], 1000)
        [file] = self.files()
        before = file.stat()
        self.add("d.npy")
        after = file.stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.add(TILE_DISABLE_PASSES="cse")
        self.assertEqual(len(self.files()), 2)
        listed, _ = self.run_cached(0, "cache", "ls")
        self.assertIn("2 kernels", listed)
        self.assertIn("another disabled_passes", self.run_cached(0, "cache", "why", "add")[0])
        self.run_cached(2, "cache", "why", "subtract")

    def test_off(self):
        self.add(TILE_CACHE="off")
        self.assertFalse(self.kernels.exists())
        _, told = self.run_cached(2, "cache", "ls", TILE_CACHE="off")
        self.assertIn("the kernel cache is off", told)
        self.assertIn("is none of on, off and read", self.add(TILE_CACHE="maybe"))
        self.assertNotIn("warning", self.add(TILE_CACHE="on", TILE_CACHE_DIR="", XDG_CACHE_HOME="", HOME=""))
        self.add(TILE_CACHE_DIR="", XDG_CACHE_HOME=str(self.path / "xdg"))
        self.assertEqual(len(self.files(self.path / "xdg" / "tilec")), 1)
        self.add(TILE_CACHE_DIR="", XDG_CACHE_HOME="", HOME=str(self.path / "home"))
        self.assertEqual(len(self.files(self.path / "home" / ".cache" / "tilec")), 1)

    def test_looking_makes_no_folder(self):
        for words in (["ls"], ["verify"], ["prune"]):
            told, _ = self.run_cached(0, "cache", *words)
            self.assertFalse(self.kernels.exists(), words)
            self.assertRegex(told, r"\b0 (bytes removed, 0 )?kernels")
        self.run_cached(2, "cache", "why", "add")
        self.run_cached(0, "cache", "export", "copy")
        self.assertFalse(self.kernels.exists())
        self.run_cached(0, "cache", "import", "copy")
        self.assertTrue(self.kernels.exists())

    def test_read_only(self):
        self.add(TILE_CACHE="read")
        self.assertFalse(self.kernels.exists())
        self.add()
        self.add(TILE_CACHE="read", TILE_DISABLE_PASSES="cse")
        self.assertEqual(len(self.files()), 1)

    def test_broken_files(self):
        self.add()
        [file] = self.files()
        whole = file.read_bytes()
        self.run_cached(0, "cache", "verify")
        for broken in (b"", whole[:-1], whole + b"x", whole[:100] + b"?" + whole[101:]):
            file.write_bytes(broken)
            told, _ = self.run_cached(1, "cache", "verify")
            self.assertIn("0 kernels are whole, 1 are not and were set aside", told)
            file.write_bytes(broken)
            self.assertIn("kernels are compiled anew", self.add())
            self.assertEqual(file.read_bytes(), whole, "the new one is the same")

    def test_untrusted_folders(self):
        self.kernels.mkdir()
        os.chmod(self.kernels, 0o777)
        self.assertIn("others may write to it", self.add())
        self.assertEqual(self.files(), [])
        self.run_cached(2, "cache", "ls")
        self.assertNotIn("warning", self.add(TILE_CACHE_TRUST="1"))
        self.assertEqual(len(self.files()), 1)

    def test_export_and_import(self):
        self.add()
        away = self.path / "away"
        self.run_cached(0, "cache", "export", away)
        self.assertEqual(len(self.files(away)), 1)
        told, _ = self.run_cached(0, "cache", "prune", "--all")
        self.assertIn("0 kernels stay", told)
        self.run_cached(0, "cache", "import", away)
        self.assertEqual(len(self.entries()), 1)
        [file] = self.files(away)
        file.write_bytes(file.read_bytes()[:-1])
        self.assertIn("1 were not whole", self.run_cached(1, "cache", "import", away)[0])
        self.run_cached(2, "cache", "import", self.path / "nowhere")

    def test_prune_by_size(self):
        self.add()
        for megabytes in ["-1", "some", str(1 << 43), str(1 << 70)]:
            self.run_cached(2, "cache", "prune", "--mb", megabytes)
        self.assertIn("1 kernels stay", self.run_cached(0, "cache", "prune", "--mb", 1)[0])
        self.assertIn("0 kernels stay", self.run_cached(0, "cache", "prune", "--mb", 0)[0])


if __name__ == "__main__":
    unittest.main()

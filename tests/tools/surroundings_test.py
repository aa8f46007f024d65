#!/usr/bin/env python3
"""Environments, files and streams that are not as they should be, and tilec doctor, which reports on them."""
import os
import pathlib
import random
import resource
import subprocess
import time
import unittest

from command import Case, floats, kEnvironment, kTileOpt, kTilec, npy, tilec


class Surroundings(Case):
    """Limits, streams and folders as a careless world leaves them."""

    def test_malformed_variables_are_warnings(self):
        expected = self.run_tilec(0, "build", "op:add")[0]
        for name, value in [("TILE_BISECT", "-1"), ("TILE_BISECT", "1e9G"), ("TILE_TIME_PASSES", "maybe"),
                            ("TILE_DISABLE_PASSES", "nothing"), ("TILE_COMPILE_SECONDS", "soon"), ("TILE_CHECKED", "2")]:
            with self.subTest(name, value=value):
                output, errors = self.run_tilec(0, "build", "op:add", **{name: value})
                self.assertEqual(output, expected)
                self.assertEqual(errors.count(f"tile: warning: {name}='{value}'"), 1, errors)

    def test_switches_are_switched_off_by_words(self):
        expected = self.run_tilec(0, "build", "op:add")[0]
        for value in ("0", "off", "false", ""):
            self.assertEqual(self.run_tilec(0, "build", "op:add", TILE_CHECKED=value)[0], expected, value)
        self.assertNotEqual(self.run_tilec(0, "build", "op:add", TILE_CHECKED="1")[0], expected)

    def test_words_that_are_no_commands(self):
        self.assertIn("error: 'nothing' is no command; there are build, aot", self.run_tilec(2, "nothing")[1])
        self.assertIn("error: 'nothing' is no command; there are ls, verify", self.run_tilec(2, "cache", "nothing")[1])
        self.assertRegex(self.run_tilec(0, "--version")[0], r"^tilec \d+\.\d+\.\d+\n$")

    def started(self, *arguments, before, **options):
        return subprocess.run([kTilec, *map(str, arguments)], cwd=self.path, timeout=60, capture_output=True,
                              env={**kEnvironment, "TMPDIR": str(self.path)}, preexec_fn=before, **options)

    def test_a_folder_that_is_gone(self):
        def leave():
            os.mkdir("gone")
            os.chdir("gone")
            os.rmdir("../gone")
        done = self.started("build", "op:add", "-o", self.path / "out.ptx", before=leave)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(".entry", (self.path / "out.ptx").read_text())
        done = self.started("build", "op:add", "-o", "out.ptx", before=leave)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"cannot write 'out.ptx'", done.stderr)

    def test_an_environment_without_anything(self):
        expected = self.run_tilec(0, "build", "op:add")[0]
        done = subprocess.run([kTilec, "build", "op:add"], cwd=self.path, timeout=60, capture_output=True, env={})
        self.assertEqual((done.returncode, done.stdout.decode()), (0, expected), done.stderr)
        for variables in {"PATH": ""}, {"TZ": "nowhere/at/all"}, {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "junk", "LANG": "\x01"}:
            with self.subTest(variables):
                self.assertEqual(self.run_tilec(0, "build", "op:add", **variables)[0], expected)

    def test_nobody_may_read_what_is_written(self):
        done = self.started("build", "op:add", "-o", "out.ptx", before=lambda: os.umask(0o777))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater((self.path / "out.ptx").stat().st_size, 100)

    def test_a_full_disk_leaves_no_part_of_a_file(self):
        self.write("out.ptx", "before")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        done = self.started("build", "op:matmul", "-o", "out.ptx", before=limit)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"cannot write 'out.ptx': File too large", done.stderr)
        self.assertEqual((self.path / "out.ptx").read_text(), "before")
        self.assertEqual([file.name for file in self.path.iterdir()], ["out.ptx"])

    def test_devices_are_written_to_and_not_replaced(self):
        self.run_tilec(0, "build", "op:add", "-o", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        self.assertIn("cannot write '/dev/full'", self.run_tilec(2, "build", "op:add", "-o", "/dev/full")[1])
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        self.write("target.ptx", "")
        (self.path / "link.ptx").symlink_to("target.ptx")
        self.run_tilec(0, "build", "op:add", "-o", "link.ptx")
        self.assertTrue((self.path / "link.ptx").is_symlink())
        self.assertIn(".entry", (self.path / "target.ptx").read_text())

    def test_a_file_that_is_read_only_stays(self):
        self.write("out.ptx", "mine")
        os.chmod(self.path / "out.ptx", 0o444)
        os.chmod(self.path, 0o777)
        nobody = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None  # root may write anything
        done = self.started("build", "op:add", "-o", "out.ptx", before=nobody)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"cannot write 'out.ptx': Permission denied", done.stderr)
        self.assertEqual((self.path / "out.ptx").read_text(), "mine")

    def test_streams_that_are_closed(self):
        done = self.started("build", "op:add", before=lambda: os.close(1))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"cannot write to standard output", done.stderr)
        for stream in 0, 2:
            done = self.started("build", "op:add", "-o", "out.ptx", before=lambda: os.close(stream))
            self.assertEqual((done.returncode, (self.path / "out.ptx").exists()), (0, True), stream)
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([kTilec, "build", "op:add"], stdout=writer, stderr=subprocess.PIPE, env=kEnvironment)
        os.close(writer)
        self.assertEqual(done.returncode, 2, done.stderr)
        for command in ["build", "op:add"], ["doctor"], ["--help"], ["explain", "op:add"]:
            with self.subTest(command), open("/dev/full", "w") as full:
                done = subprocess.run([kTilec, *command], stdout=full, stderr=subprocess.PIPE, env=kEnvironment)
                self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_word_that_is_no_command_is_named(self):
        self.assertEqual(self.run_tilec(2, "frob")[1],
                         "error: 'frob' is no command; there are build, aot, run, explain, cache, ops, tune, time, doctor\n")

    def test_too_little_address_space_is_no_finding(self):
        self.write("a.npy", npy("<f4", [1], floats([1])))
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))
        done = self.started("run", "op:add", "a.npy", "a.npy", "b.npy", before=limit)
        self.assertEqual(done.returncode, 2, done.stderr)


class HostileFiles(Case):
    """Files of IR that no one wrote with good intent; each is refused in bounded time and memory."""

    def refused(self, content, *messages):
        self.write("x.mlir", content)
        errors = self.run_tilec(2, "build", "x.mlir", timeout=30)[1]
        for message in messages:
            self.assertIn(message, errors)

    def test_a_line_of_a_gigabyte(self):
        with open(self.path / "x.mlir", "wb") as file:
            file.truncate(1 << 30)
        start = time.monotonic()
        errors = self.run_tilec(2, "build", "x.mlir")[1]
        self.assertIn("has 1073741824 bytes, more than the limit of", errors)
        self.assertLess(time.monotonic() - start, 10)  # it is not read

    def test_bytecode_whole_cut_and_flipped(self):
        self.write("good.mlir", self.run_tilec(0, "build", "op:add", "--emit", "tile")[0])
        subprocess.run([kTileOpt, "good.mlir", "--emit-bytecode", "-o", "good.mlirbc"], cwd=self.path, check=True)
        good = (self.path / "good.mlirbc").read_bytes()
        rng = random.Random(3)
        self.refused(good, "bytecode is not accepted")
        for i in range(12):
            self.refused(good[:rng.randrange(4, len(good))], "bytecode is not accepted")
            flipped = bytearray(good)
            flipped[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
            self.refused(bytes(flipped), "error: ")

    def test_cut_and_flipped_text(self):
        good = self.run_tilec(0, "build", "op:matmul", "--emit", "tile")[0].encode()
        rng = random.Random(4)
        for i in range(25):
            content = bytearray(good)
            content[rng.randrange(len(good))] = rng.randrange(32, 127)
            self.write("x.mlir", bytes(content[:rng.randrange(len(good))] if i % 2 else content))
            done = tilec("build", "x.mlir", cwd=self.path)
            self.assertIn(done.returncode, (0, 2, 3), (content, done.stderr))

    def test_functions_that_are_no_part_of_the_kernel(self):
        self.write("two.mlir", """func.func @kernel() attributes {tile.kernel, tile.warps = 1 : i32} { return }
            func.func @other(%x: tensor<16xf32>) -> tensor<16xf32> { return %x : tensor<16xf32> }""")
        errors = self.run_tilec(2, "build", "two.mlir")[1]
        self.assertIn("what it calls: function 'other' is neither", errors)

    def test_what_verifiers_refuse(self):
        def kernel(body, arguments="%a: i32, %v: !tile.view<1xf32>"):
            return f"module {{\n func.func @f({arguments}) attributes {{tile.kernel}} {{\n{body}\n }} }}"
        cases = {
            "dialect": (kernel("other.op\nreturn"), "custom op 'other.op'"),
            "generic": (kernel('"other.op"() : () -> ()\nreturn'), "unregistered dialect"),
            "operation": (kernel('"tile.nothing"() : () -> ()\nreturn'), "tile.nothing"),
            "attribute": (kernel('%t = tile.splat %a : i32 -> tensor<4xi32, #tilegpu.none>\nreturn'), "none"),
            "types": (kernel("%0 = arith.addf %a, %a : i32\nreturn"), "must be floating-point-like"),
            "uses": (kernel("%0 = arith.addi %a, %b : i32\nreturn"), "use of undeclared SSA value name"),
            "dominance": (kernel("%0 = arith.addi %1, %a : i32\n%1 = arith.addi %a, %a : i32\nreturn"),
                          "does not dominate this use"),
            "terminator": (kernel("%0 = arith.addi %a, %a : i32"), "error:"),
            "twice": ("module { func.func @f() { return } func.func @f() { return } }", "redefinition of symbol"),
            "rank": (kernel("return", "%v: !tile.view<0xf32>"), "rank"),
            "recursion": ("module { func.func @f() attributes {tile.kernel} { call @f() : () -> () return } }", "calls itself"),
            "mutual recursion": ("module { func.func @f() attributes {tile.kernel} { call @g() : () -> () return }\n"
                                 "func.func private @g() { call @h() : () -> () return }\n"
                                 "func.func private @h() { call @g() : () -> () return } }", "calls itself"),
            "external": ("module { func.func private @f() attributes {tile.kernel} }", "error:"),
            "depth": ('module {\n' + '"scf.execute_region"() ({\n' * 100000, "nested deeper than 256"),
        }
        for name, (content, message) in cases.items():
            with self.subTest(name):
                self.write("x.mlir", content)
                done = tilec("build", "x.mlir", cwd=self.path)
                self.assertIn(done.returncode, (2, 3), done.stderr[-2000:])
                self.assertIn(message, done.stderr.decode())


class Doctor(Case):
    def test_reports(self):
        report = self.run_tilec(0, "doctor", PATH="", TILE_PTXAS="/nonexistent/ptxas")[0]
        self.assertRegex(report, r"ok +LLVM and MLIR: 22\.")
        self.assertRegex(report, r"missing +ptxas: looked at /nonexistent/ptxas")
        self.assertRegex(report, r"ok +device: virtual:sm_80")
        self.assertTrue(report.endswith("kernels run on virtual:sm_80 by default (TILE_DEVICE=virtual)\n"), report[-100:])


if __name__ == "__main__":
    unittest.main()

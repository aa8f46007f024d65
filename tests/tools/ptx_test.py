#!/usr/bin/env python3
"""tilec run on PTX: launches, arguments, options, reports."""
import json
import pathlib
import random
import struct
import unittest

from command import Case, data_of, floats, npy


class Ptx(Case):
    """PTX that nvcc made."""
    kFolder = pathlib.Path(__file__).resolve().parent.parent / "runtime" / "vgpu" / "kernels"

    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", [1000], floats(range(1000))))
        self.write("b.npy", npy("<f4", [1000], floats([2 * i for i in range(1000)])))
        self.arguments = [self.kFolder / "vector_add.ptx", "in:a.npy", "in:b.npy", "out:c.npy:f32[1000]", "i32:1000"]

    def test_vector_add(self):
        output, errors = self.run_tilec(0, "run", *self.arguments, "--grid", "8", "--block", "128", "--counters")
        self.assertEqual(data_of(self.path / "c.npy", 1000), tuple(3.0 * i for i in range(1000)))
        self.assertRegex(output, r"warp instructions +\d+ .*lanes active")
        self.assertRegex(output, r"global memory +96 ")
        self.assertRegex(errors, r"vector_add ran on tilec virtual GPU .*: 8 CTAs, \d+ warp instructions, \d+\.\d+ s\n")

    def test_findings_and_report(self):
        self.arguments[3] = "out:c.npy:f32[500]"
        errors = self.run_tilec(1, "run", *self.arguments, "--grid", "8", "--block", "128", "--json", "r.json")[1]
        self.assertRegex(errors, r"\Avector_add.cu:5: \[out of bounds\] .*, its element 500 of 4 bytes; give the access a mask .*\n"
                                 r"  kernel vector_add, block \(3,0,0\), warp 3, lanes 20-31\n"
                                 r"  .*vector_add.ptx:\d+ `st.global.f32 \t\[%rd10\], %f3;`; seed 0\n")
        report = json.loads((self.path / "r.json").read_text())
        self.assertEqual(report["launch"], {"grid": [8, 1, 1], "block": [128, 1, 1], "cluster": [1, 1, 1],
                                            "shared_bytes": 0})
        self.assertEqual((report["exit_code"], report["status"], report["seed"], report["schedule"]),
                         (1, "findings", 0, "eager"))
        finding = report["findings"][0]
        self.assertEqual((finding["kind"], finding["space"], finding["bytes"]), ("out of bounds", "global", 4))
        self.assertEqual(finding["allocation"], {"name": "out:c.npy:f32[500]", "offset": 2000, "bytes": 2000})
        self.assertIn("of out:c.npy:f32[500] (2000 bytes at 0x", errors)
        self.assertTrue(finding["ptx"]["text"].startswith("st.global"))
        self.assertTrue((self.path / "c.npy").exists(), "results can be inspected")
        self.run_tilec(0, "run", *self.arguments[:4], "i32:500", "--grid", "8", "--block", "128")

    def test_usage(self):
        self.write("two.ptx", (self.kFolder / "vector_add.ptx").read_text().replace("sm_80", "sm_80") +
                   ".visible .entry other() { ret; }")
        self.write("junk.ptx", "hello")
        self.write("fixed.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"
                   ".visible .entry f() .reqntid 64 { ret; }\n")
        shape = ["--grid", "8", "--block", "128"]
        cases = [(["--grid", "8"], "--block is needed"), (["--block", "8"], "--grid is needed"),
                 (["--grid", "0", "--block", "8"], "one to three positive numbers"),
                 (["--grid", "1,2,3,4", "--block", "8"], "one to three positive numbers"),
                 ([*shape, "--entry", "none"], "has no entry 'none'; it has vector_add"),
                 ([*shape, "i32:1"], "takes 4 arguments, got 5")]
        for words, message in cases:
            with self.subTest(words):
                self.assertIn(message, self.run_tilec(2, "run", *self.arguments, *words)[1])
        self.assertIn("argument 'i64:1' has 8 bytes, parameter 3 of entry",
                      self.run_tilec(2, "run", *self.arguments[:4], "i64:1", *shape)[1])
        self.assertIn("choose one by --entry: ", self.run_tilec(2, "run", "two.ptx", *shape)[1])
        self.run_tilec(0, "run", "two.ptx", "--entry", "other", *shape)
        self.assertIn("junk.ptx:1: error: ", self.run_tilec(3, "run", "junk.ptx", *shape)[1])
        self.run_tilec(0, "run", "fixed.ptx", "--grid", "2")
        self.assertIn(".reqntid 64,1,1", self.run_tilec(2, "run", "fixed.ptx", *shape)[1])


def bytes_of(count):
    return bytes(random.Random(count).randrange(256) for _ in range(count))


kCopy = """.version 8.0
.target {target}
.address_size 64
{shared}
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n)
{directives}
{{
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %i, %n;
  .reg .b64 %a, %b, %o;
  ld.param.u64 %a, [from];
  ld.param.u64 %b, [to];
  ld.param.u32 %n, [n];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %p, %i, %n;
  @%p bra END;
  mul.wide.u32 %o, %i, {bytes};
  add.u64 %a, %a, %o;
  add.u64 %b, %b, %o;
  ld.global.{load} [%a];
  st.global.{store};
END:
  ret;
}}
"""


kRacy = """.version 8.0
.target sm_80
.address_size 64
.visible .entry racy(.param .u64 out)
{
  .reg .b32 %t, %s, %v;
  .reg .b64 %o;
  .shared .align 4 .b8 words[256];
  .loc 1 7 1
  mov.u32 %t, %tid.x;
  mad.lo.u32 %s, %t, 4, words;
  st.shared.u32 [%s], %t;
  .loc 1 9 1
  xor.b32 %v, %t, 32;
  mad.lo.u32 %s, %v, 4, words;
  bar.warp.sync -1;
  ld.shared.u32 %v, [%s];
  ld.param.u64 %o, [out];
  ret;
}
.file 1 "racy.cu"
"""


class Arguments(Case):
    """Options and arguments of PTX that copies `n` elements of one thread each."""

    def ptx(self, bytes=4, target="sm_80", directives="", shared="", name="copy.ptx"):
        load, store = {1: ("u8 %h,", "u8 [%b], %h"), 2: ("u16 %h,", "u16 [%b], %h"), 4: ("u32 %i,", "u32 [%b], %i"),
                       8: ("u64 %o,", "u64 [%b], %o")}[bytes]
        return self.write(name, kCopy.format(bytes=bytes, load=load, store=store, target=target, directives=directives,
                                             shared=shared))

    def run_copy(self, code, *words, ptx="copy.ptx", shape=("--grid", "1", "--block", "32"), **options):
        return self.run_tilec(code, "run", ptx, *shape, *words, **options)

    def test_dtypes_of_files(self):
        for dtype, descr, bytes in [("bf16", "<u2", 2), ("e4m3", "|u1", 1), ("e5m2", "|u1", 1), ("tf32", "<f4", 4),
                                    ("f32.ftz", "<f4", 4), ("f16", "<f2", 2), ("f64", "<f8", 8), ("i8", "|i1", 1), ("u64", "<u8", 8)]:
            with self.subTest(dtype):
                self.ptx(bytes)
                content = bytes_of(32 * bytes)
                self.write("x.npy", npy(descr, [4, 8], content))
                self.run_copy(0, f"in:x.npy:{dtype}", f"out:y.npy:{dtype}[4x8]", "u32:32")
                written = (self.path / "y.npy").read_bytes()
                self.assertEqual(written[-len(content):], content)
                self.assertIn(f"'descr': '{descr}'".encode(), written[:128])
                self.run_copy(0, f"zeros:{dtype}[32]", f"inout:x.npy:{dtype}:z.npy", "u32:32")
                self.assertEqual((self.path / "z.npy").read_bytes()[-len(content):], b"\0" * len(content))
                self.assertEqual((self.path / "x.npy").read_bytes()[-len(content):], content)

    def test_inout_changes_the_file_itself(self):
        self.ptx()
        self.write("x.npy", npy("<f4", [32], floats(range(32))))
        self.run_copy(0, "zeros:f32[32]", "inout:x.npy", "u32:30")
        self.assertEqual(data_of(self.path / "x.npy", 32), (0.0,) * 30 + (30.0, 31.0))

    def test_elements_never_written(self):
        self.ptx()
        self.write("x.npy", npy("<f4", [32], floats(range(32))))
        for check, words in [("all", "2 of 32 elements were never written"),
                             ("none", "2 of 32 elements hold what they held before the launch")]:
            errors = self.run_copy(0, "in:x.npy", "out:y.npy:f32[32]", "u32:30", "--check", check, "--json", "r.json")[1]
            self.assertIn(f"note: y.npy: {words}\n", errors)
            self.assertEqual(json.loads((self.path / "r.json").read_text())["notes"], [f"y.npy: {words}"])
            values = data_of(self.path / "y.npy", 32)
            self.assertTrue(all(value != value for value in values[30:]), "poisoned with NaN")
        self.assertNotIn("note:", self.run_copy(0, "in:x.npy", "out:y.npy:f32[32]", "u32:32")[1])
        self.run_copy(0, "zeros:i32[32]", "out:y.npy:i32[32]", "u32:1")
        self.assertEqual((self.path / "y.npy").read_bytes()[-4:], b"\xcd" * 4)

    def test_reading_what_nobody_wrote(self):
        self.ptx()
        errors = self.run_copy(1, "out:x.npy:f32[32]", "zeros:f32[32]", "u32:32")[1]
        self.assertRegex(errors, r"copy.ptx:\d+: \[uninitialised\]")

    def test_shapes_of_launches(self):
        arguments = ["zeros:f32[32]", "zeros:f32[32]", "u32:32"]
        self.ptx(directives=".reqntid 32\n.reqnctapercluster 2, 1, 1")
        self.assertIn("--cluster 4,1,1: entry 'copy' has .reqnctapercluster 2,1,1",
                      self.run_copy(2, *arguments, "--cluster", "4")[1])
        self.ptx(directives=".maxntid 64")
        self.assertIn(".maxntid 64", self.run_copy(2, *arguments, shape=["--grid", "1", "--block", "65"])[1])
        for option in ["--grid", "--block", "--cluster"]:
            self.assertIn(option + " 0x1", self.run_copy(2, *arguments, option, "0x1", shape=[
                word for other in {"--grid", "--block"} - {option} for word in (other, "1")])[1])
        self.run_copy(0, *arguments, "--cluster", "1,1,1")
        self.ptx(target="sm_90", directives=".reqnctapercluster 2, 1, 1")
        errors = self.run_copy(0, *arguments, "--json", "r.json", shape=["--grid", "4", "--block", "32"])[1]
        self.assertIn("4 CTAs", errors)
        self.assertEqual(json.loads((self.path / "r.json").read_text())["launch"]["cluster"], [2, 1, 1])
        self.assertIn("cluster", self.run_copy(2, *arguments, "--cluster", "2,1,1")[1])  # a grid of 1
        self.ptx(target="sm_90", directives=".maxclusterrank 4")
        shape = ["--grid", "8", "--block", "32"]
        self.assertIn("cluster 8x1x1, but the kernel has .maxclusterrank 4",
                      self.run_copy(2, *arguments, "--cluster", "8", shape=shape)[1])

    def test_shared_memory(self):
        arguments = ["zeros:f32[32]", "zeros:f32[32]", "u32:32"]
        self.ptx(target="sm_90a", shared=".shared .align 16 .b8 s[32768];\n.extern .shared .align 16 .b8 d[];",
                 directives="")
        limit = 227 * 1024
        self.run_copy(0, *arguments, "--shared", "1024")
        errors = self.run_copy(2, *arguments, "--shared", str(limit + 1))[1]
        self.assertIn("bytes of shared memory, sm_90a has 232448 a block", errors)
        self.run_copy(2, *arguments, "--shared", "many")
        self.run_copy(2, *arguments, "--shared", "-1")

    def test_devices(self):
        arguments = ["zeros:f32[32]", "zeros:f32[32]", "u32:32"]
        for target in ["sm_75", "sm_80", "sm_90", "sm_90a"]:
            self.ptx(target=target)
            errors = self.run_copy(0, *arguments)[1]
            self.assertIn(f"(virtual:{'sm_80' if target == 'sm_75' else target})", errors)
        self.assertIn("open it as sm_90a", self.run_copy(3, *arguments, "--device", "virtual:sm_80")[1])
        self.run_copy(0, *arguments, TILE_DEVICE="virtual:sm_90a")
        for wish in [["--check", "race"], ["--counters"], ["--schedule", "eager"], ["--model", "noise"],
                     ["--seed", "7"]]:
            errors = self.run_copy(2, *arguments, "--device", "cuda", *wish)[1]
            self.assertIn(" ".join(wish) + " is for the virtual GPU", errors)
            self.assertIn("is for the virtual GPU", self.run_copy(2, *arguments, *wish, TILE_DEVICE="cuda:0")[1])
        for word in ["gpu", "virtual:", "virtual:sm_1", "cuda:x"]:
            self.run_copy(2, *arguments, "--device", word)

    def test_checks_seed_and_schedule(self):
        arguments = ["zeros:f32[32]", "zeros:f32[32]", "u32:32", "--json", "r.json"]
        self.ptx()
        report = lambda: json.loads((self.path / "r.json").read_text())
        for words, checks in [("none", []), ("race,memory", ["memory", "race"]),
                              ("async", ["async"]), ("all", ["memory", "init", "race", "sync", "async"]),
                              ("strict,all", ["memory", "init", "race", "sync", "async", "strict"]),
                              ("strict", ["race", "strict"]), ("proxy", ["async", "proxy"]),
                              ("proxy,all,strict", ["memory", "init", "race", "sync", "async", "strict", "proxy"])]:
            self.run_copy(0, *arguments, "--check", words, "--seed", "5", "--schedule", "eager")
            self.assertEqual((report()["checks"], report()["seed"]), (checks, 5))
        self.assertIn("seed 18446744073709551615", self.run_copy(
            1, "zeros:f32[1]", *arguments[1:], "--seed", str((1 << 64) - 1))[1])
        for seed in ["x", "-1"]:
            self.run_copy(2, *arguments, "--seed", seed)
        for schedule in ["eager", "lazy", "random"]:
            self.run_copy(0, *arguments, "--schedule", schedule)
            self.assertEqual(report()["schedule"], schedule)
        self.run_copy(0, *arguments, TILE_VGPU_SCHEDULE="lazy")
        self.assertEqual(report()["schedule"], "lazy")
        self.run_copy(0, *arguments, TILE_VGPU_SEED="9")
        self.assertEqual(report()["seed"], 9)
        self.assertIn("seed 9", self.run_copy(1, "zeros:f32[1]", *arguments[1:], TILE_VGPU_SEED="9")[1])
        for seed in ["5", "0"]:
            self.run_copy(0, *arguments, "--seed", seed, TILE_VGPU_SEED="9")
            self.assertEqual(report()["seed"], int(seed))
        self.assertIn("TILE_VGPU_SEED='x'", self.run_copy(0, *arguments, TILE_VGPU_SEED="x")[1])
        for words, model in [("all", ["sums", "noise", "shift"]), ("none", []), ("shift,sums", ["sums", "shift"])]:
            self.run_copy(0, *arguments, "--model", words)
            self.assertEqual(report()["model"], model)
        self.run_copy(0, *arguments, TILE_VGPU_MODEL="noise")
        self.assertEqual(report()["model"], ["noise"])
        self.assertIn("use all, none or a comma list", self.run_copy(2, *arguments, "--model", "loud")[1])
        self.run_copy(1, "zeros:f32[1]", *arguments[1:])
        self.assertEqual((report()["findings"][0]["lane"], report()["findings"][0]["lanes"]), (1, list(range(1, 32))))
        self.assertIn("use eager, lazy or random", self.run_copy(2, *arguments, "--schedule", "late")[1])
        self.assertEqual((report()["status"], report()["exit_code"]), ("usage error", 2))
        self.assertIn("use eager, lazy or random", report()["error"])

    def test_report(self):
        self.ptx()
        self.run_copy(0, "zeros:f32[32]", "zeros:f32[32]", "u32:20", "--json", "r.json", "--counters")
        report = json.loads((self.path / "r.json").read_text())
        self.assertEqual((report["tool"], report["file"], report["entry"], report["status"], report["exit_code"]),
                         ("tilec", "copy.ptx", "copy", "clean", 0))
        self.assertRegex(report["version"], r"^\d+\.\d+")
        self.assertEqual(report["ran"]["ctas"], 1)
        counters = report["counters"]
        self.assertEqual((counters["global_requests"], counters["global_sectors"], counters["global_bytes_used"]),
                         (2, 6, 160))
        self.assertEqual(counters["mix"]["global memory"], 2)
        self.assertEqual(sum(counters["mix"].values()), counters["warp_instructions"])
        self.assertEqual(sum(line["warp_instructions"] for line in counters["lines"]), counters["warp_instructions"])
        model = counters["model"]
        self.assertEqual((model["card"], model["multiprocessors"]), ("A100 SXM 80 GB", 1))
        least = model["least_microseconds"]
        self.assertEqual(list(least), ["issue", "device memory"])
        self.assertAlmostEqual(least["issue"], counters["warp_instructions"] / (4 * 1410))
        sectors = counters["global_distinct_sectors_loaded"] + counters["global_distinct_sectors_stored"]
        self.assertAlmostEqual(least["device memory"], 32 * sectors / 2039e3)
        store, = [line for line in counters["lines"] if "st.global" in line["ptx"]["text"]]
        self.assertEqual((store["class"], store["active_lanes"], store["global_bytes_used"]), ("global memory", 20, 80))

    def test_both_ends_of_races(self):
        self.write("racy.ptx", kRacy)
        errors = self.run_tilec(1, "run", "racy.ptx", "--grid", "1", "--block", "64", "zeros:u32[128]", "--json", "r.json")[1]
        finding, = [finding for finding in json.loads((self.path / "r.json").read_text())["findings"]
                    if finding["ptx"]["text"].startswith("ld.shared")]
        line = kRacy[:kRacy.index("st.shared")].count("\n") + 1
        other = finding["other"]
        self.assertEqual(other.pop("lane") // 32, 0)
        self.assertEqual(other, {"access": "write", "earlier_launch": False, "asynchronous": False,
                                 "ptx": {"file": "racy.ptx", "line": line, "text": "st.shared.u32 [%s], %t;"},
                                 "source": {"file": "racy.cu", "line": 7}, "kernel": "racy", "cluster": 0,
                                 "cta": [0, 0, 0], "warp": 1 - finding["warp"]})
        self.assertRegex(errors, fr"the other: warp \d, lane \d+, line {line} `st.shared.u32 \[%s\], %t;`")
        self.run_copy(1, "zeros:f32[1]", "zeros:f32[32]", "u32:32", "--json", "r.json", ptx=self.ptx())
        self.assertIsNone(json.loads((self.path / "r.json").read_text())["findings"][0]["other"], "no race")

    def test_notes_of_kernels(self):
        self.write("divides.ptx", kRacy.replace("bar.warp.sync -1;", "div.u32 %t, 1, %t;").replace("st.shared", "// st.shared"))
        errors = self.run_tilec(0, "run", "divides.ptx", "--grid", "1", "--block", "64", "zeros:u32[128]", "--check",
                                "memory", "--json", "r.json")[1]
        words, = json.loads((self.path / "r.json").read_text())["notes"]
        self.assertRegex(words, r"^divides.ptx:\d+: a division by zero, whose result PTX leaves open, from racy.cu:9; `div")
        self.assertIn(f"note: {words}\n", errors)

    def test_unsupported(self):
        self.ptx()
        text = (self.path / "copy.ptx").read_text()
        self.write("odd.ptx", text.replace("mov.u32 %i, %tid.x;", "mov.u32 %i, %tid.x;\n  frobnicate.u32 %i, %i;"))
        arguments = ["zeros:f32[32]", "zeros:f32[32]", "u32:32"]
        errors = self.run_copy(3, *arguments, "--json", "r.json", ptx="odd.ptx")[1]
        self.assertIn("odd.ptx:16: error: ", errors)
        self.assertIn("frobnicate.u32", errors)
        self.assertEqual(json.loads((self.path / "r.json").read_text())["status"], "unsupported")
        self.write("other.ptx", text + "\n.visible .entry odd() { frobnicate.u32; ret; }\n")
        self.run_copy(0, *arguments, "--entry", "copy", ptx="other.ptx")

    def test_words_that_are_no_arguments(self):
        self.ptx()
        self.write("x.npy", npy("<f4", [32], floats(range(32))))
        for word, message in [("f32", "is no f32"), ("x.npy", "expected DTYPE:NUMBER"),
                              ("in:x", "ends with .npy"), ("in:.npy", "ends with .npy"), ("in:x.npyy", "':' is expected"),
                              ("in:missing.npy", "cannot read 'missing.npy'"), ("in:x.npy:f99", "'f99' is no dtype"),
                              ("in:x.npy:f16", "their sizes differ"), ("out:y.npy", "a dtype and extents"),
                              ("out:y.npy:f32[", "a dtype and extents"), ("out:y.npy:q8[4]", "a dtype and extents"),
                              ("zeros:f32[-1]", "a dtype and extents"), ("zeros:f32[4x]", "a dtype and extents"),
                              ("i32:1.5", "is no i32"), ("u8:256", "is no u8"), ("tf32:1", "expected DTYPE:NUMBER"),
                              ("u32:1", "has 4 bytes, parameter 0 of entry 'copy' has 8")]:
            with self.subTest(word):
                self.assertIn(message, self.run_copy(2, word, "zeros:f32[32]", "u32:32")[1])
        self.run_copy(0, "u64:0", "u64:0", "u32:0")
        self.assertRegex(self.run_copy(1, "u64:0", "u64:0", "u32:1")[1], "out of bounds")

    def test_options_of_ptx_are_mistakes_elsewhere(self):
        self.write("x.npy", npy("<f4", [32], floats(range(32))))
        for option in ["--block", "--cluster", "--shared"]:
            errors = self.run_tilec(2, "run", "op:add", "x.npy", "x.npy", "y.npy", option, "32")[1]
            self.assertIn(f"{option} is for FILE.ptx", errors)


kReadMap = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry first(.param .align 64 .b8 map[128], .param .u64 address, .param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %o, %m, %a;
  ld.param.u64 %o, [out];
  ld.param.u64 %a, [address];
  ld.param.u64 %m, [map];
  st.global.u64 [%o], %m;
  ld.global.u64 %m, [%a];
  st.global.u64 [%o+8], %m;
  ret;
}
"""

kLoadBox = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 column, .param .u32 row)
{
  .reg .pred %p;
  .reg .b32 %c, %r, %i, %v, %s;
  .reg .b64 %m, %o, %state;
  .shared .align 8 .b64 full;
  .shared .align 128 .b8 tile[256];
  ld.param.u64 %o, [out];
  ld.param.u32 %c, [column];
  ld.param.u32 %r, [row];
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [full], 256;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%m, {%c, %r}], [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
  @!%p bra WAIT;
  mov.u32 %i, 0;
  mov.u32 %s, tile;
NEXT:
  ld.shared.b32 %v, [%s];
  st.global.b32 [%o], %v;
  add.u32 %s, %s, 4;
  add.u64 %o, %o, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 64;
  @%p bra NEXT;
  ret;
}
"""


class TensorMaps(Case):
    def setUp(self):
        super().setUp()
        self.write("first.ptx", kReadMap)
        self.write("x.npy", npy("<f2", [64, 32], bytes(64 * 32 * 2)))

    def run_first(self, code, *words, **options):
        return self.run_tilec(code, "run", "first.ptx", "--grid", "1", "--block", "1", *words, **options)

    def test_by_value_and_by_address(self):
        """Both hold the map of the device: their first words, its magic, agree."""
        for array, rest in [("@2", ["inout:x.npy:y.npy"]), ("@in", ["buf:in=x.npy:bf16", "out:y.npy:u64[2]"]),
                            ("@t", ["out:y.npy:u64[2]", "buf:t=out:z.npy:f32[8x16]"])]:
            with self.subTest(array):
                box = "box=8x16:swizzle=none:oob=nan"
                self.run_first(0, f"tmap:{array}:{box}", f"tmapptr:{array}:{box}", *rest, "--check", "memory")
                words = struct.unpack("<2Q", (self.path / "y.npy").read_bytes()[128:144])
                self.assertEqual(words[0], words[1])
                self.assertNotEqual(words[0], 0)
        self.assertEqual(len((self.path / "z.npy").read_bytes()), 128 + 8 * 16 * 4)

    def test_boxes_are_loaded(self):
        """8 rows of 16 halves, one corner of the box outside the array."""
        self.write("box.ptx", kLoadBox)
        value = lambda row, column: 32 * row + column
        self.write("x.npy", npy("<u2", [64, 32], struct.pack("<2048H", *range(2048))))
        for kind, outside in [("u16", 0), ("f16:oob=nan", 0x7ff7), ("f16:oob=zero", 0)]:
            dtype, _, fill = kind.partition(":")
            map = "tmap:@in:box=8x16" + (":" + fill if fill else "")
            self.run_tilec(0, "run", "box.ptx", "--grid", "1", "--block", "1", f"buf:in=x.npy:{dtype}", map,
                           "out:y.npy:u16:8x16", "u32:24", "u32:60", "--schedule", "lazy")
            got = struct.unpack("<128H", (self.path / "y.npy").read_bytes()[-256:])
            expected = [value(row, column) if row < 64 and column < 32 else outside
                        for row in range(60, 68) for column in range(24, 40)]
            self.assertEqual(list(got), expected, kind)

    def test_views(self):
        for view in ["shape=32x64", "shape=4x16x32:box=2x8x32", "shape=2x64x16:strides=32,64:box=2x8x8", "swizzle=32B:box=8x16",
                     "strides=128:shape=32x32", "shape=2048:strides=:box=64"]:
            words = view if "box" in view else view + ":box=8x8"
            self.run_first(0, f"tmap:@2:{words}", f"tmapptr:@2:{words}", "inout:x.npy:y.npy")

    def test_mistakes(self):
        for words, message in [
                ("@2", "box= is needed"), ("2:box=8x8", "@K, the number of an argument"), ("@:box=8x8", "@K, the number"),
                ("@9:box=8x8", "argument 9 is no array"), ("@0:box=8x8", "argument 0 is no array"),
                ("@name:box=8x8", "there is no buf:name="), ("@2:box=8", "the box has 1 dimensions, the array has 2"),
                ("@2:box=8x", "is no list of numbers"), ("@2:box=8x-8", "is no list of numbers"),
                ("@2:box=8x8:swizzle=16B", "swizzle=16B is none of none, 32B, 64B, 128B"),
                ("@2:box=8x8:oob=one", "oob=one is none of zero, nan"), ("@2:box=8x8:colour=red", "'colour=red' is none of"),
                ("@2:box=8x8:strides=64,64", "2 strides are given, 1 are needed"),
                ("@2:box=8x8:strides=128", "reach beyond the 4096 bytes"), ("@2:box=8x8:shape=64x33", "reach beyond"),
                ("@2:box=512x8", "box[1] = 512, must be 1 to 256"), ("@2:box=0x8", "box[1] = 0, must be 1 to 256"),
                ("@2:box=8x4", "must be a multiple of 16"), ("@2:box=8x32:swizzle=32B", "the span of the swizzle"),
                ("@2:box=8x8:strides=20:shape=8x8", "must be a multiple of 16"),
                ("@2:box=1x1x1x1x1x8:shape=1x1x1x1x1x8", "a tensor map has 1 to 5")]:
            with self.subTest(words):
                errors = self.run_first(2, f"tmap:{words}", "u64:0", "inout:x.npy:y.npy")[1]
                self.assertIn(message, errors)
                self.assertIn(f"argument 'tmap:{words}': ", errors)
        for word, message in [("buf:x.npy", "buf:NAME=FILE.npy"), ("buf:=x.npy", "buf:NAME=FILE.npy"),
                              ("buf:3=x.npy", "buf:NAME=FILE.npy"), ("buf:a=y", "ends with .npy")]:
            self.assertIn(message, self.run_first(2, word)[1])
        self.assertIn("a buffer 'a' already", self.run_first(2, "buf:a=x.npy", "buf:a=x.npy")[1])
        self.assertIn("has 128 bytes, parameter 1 of entry 'first' has 8",
                      self.run_first(2, "tmap:@2:box=8x8", "tmap:@2:box=8x8", "inout:x.npy:y.npy")[1])
        self.assertIn("sm_90 is needed", self.run_first(3, "tmap:@2:box=8x8", "u64:0", "inout:x.npy:y.npy",
                                                        "--device", "virtual:sm_80")[1])


class DocumentedExamples(Case):
    """What docs/run.md shows is what is printed."""
    kRoot = pathlib.Path(__file__).resolve().parent.parent.parent

    def setUp(self):
        super().setUp()
        self.page = (self.kRoot / "docs" / "run.md").read_text().splitlines()
        self.write("x.npy", npy("<f4", [1024], floats(range(1024))))

    def kernel(self, name):
        return (self.kRoot / "tests" / "runtime" / "vgpu" / "kernels" / name).read_text()

    def assertDocumented(self, prefix, output):
        """The lines of the page that begin so, each with those below it that are indented."""
        shown = [i for i, line in enumerate(self.page) if line.startswith(prefix)]
        self.assertTrue(shown, prefix)
        for first in shown:
            last = first + 1
            while self.page[last].startswith("  "):
                last += 1
            self.assertIn("\n".join(self.page[first:last]).removesuffix(" ..."), output)

    def run_sum(self, code, name, text):
        self.write(name, text)
        return self.run_tilec(code, "run", name, "--grid", "4", "--block", "256", "in:x.npy", "out:sums.npy:f32:4",
                              "i32:1024", "--device", "virtual")[1]

    def test_findings(self):
        text = self.kernel("block_sum.ptx")
        self.run_sum(0, "block_sum.ptx", text)
        self.assertEqual(data_of(self.path / "sums.npy", 4), tuple(sum(range(256 * i, 256 * i + 256)) for i in range(4)))
        output = self.run_sum(1, "no_barrier.ptx", text.replace("bar.sync", "// bar.sync"))
        for prefix in "block_sum.cu:16: [uninitialised]", "block_sum.cu:9: [race]", "note: sums.npy":
            self.assertDocumented(prefix, output)
        self.assertDocumented("block_sum.cu:10: [deadlock]", self.run_sum(1, "too_many.ptx",
                                                            text.replace("bar.sync \t0;", "bar.sync 0, 288;")))

    def test_missing_fence(self):
        text = self.kernel("bulk_scale.ptx")
        runs = lambda code, name: self.run_tilec(code, "run", name, "--grid", "4", "--block", "256", "in:x.npy",
                                                 "out:y.npy:f32:1024", "f32:0.5")[1]
        self.write("bulk_scale.ptx", text)
        runs(0, "bulk_scale.ptx")
        self.assertEqual(data_of(self.path / "y.npy", 1024), tuple(i / 2 for i in range(1024)))
        self.write("no_fence.ptx", text.replace("fence.proxy", "// fence.proxy"))
        output = runs(1, "no_fence.ptx")
        self.assertDocumented("no_fence.ptx:", output)
        self.assertDocumented("note: y.npy", output)

    def test_bank_conflicts(self):
        self.write("matmul_mma.ptx", self.kernel("matmul_mma.ptx"))
        self.write("a.npy", npy("<f2", [64, 256], bytes(64 * 256 * 2)))
        self.write("b.npy", npy("<f2", [256, 64], bytes(64 * 256 * 2)))
        output, _ = self.run_tilec(0, "run", "matmul_mma.ptx", "--grid", "1", "--block", "128", "in:a.npy", "in:b.npy",
                                   "out:c.npy:f32:64x64", "i32:64", "i32:64", "i32:256", "--counters")
        self.assertRegex(output, r"model: least microseconds on A100 SXM 80 GB, 1 of 108 multiprocessors busy\n"
                         r"  issue +1\.018\n  tensor cores +0\.726\n  shared memory +1\.271\n  device memory +0\.040\n")
        for prefix in ["  bank conflicts  ", "  shared wavefronts", "            112  ", "             32  "]:
            self.assertDocumented(prefix, output)


if __name__ == "__main__":
    unittest.main()

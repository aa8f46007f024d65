#!/usr/bin/env python3
"""tilec explain: its sentences and numbers, JSON and page. Usage: explain_test.py TILEC TILE-OPT faults|nofaults"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

kTilec = os.path.abspath(sys.argv[1])
del sys.argv[1:4]


def have_ptxas():
    return "ok       ptxas" in subprocess.run([kTilec, "doctor"], capture_output=True, text=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tilec-explain-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def explain(self, *arguments, code=0, **environment):
        done = subprocess.run([kTilec, "explain", *arguments], cwd=self.path, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "TMPDIR": self.folder.name, **environment})
        self.assertEqual(done.returncode, code, (arguments, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout if code == 0 else done.stderr

    def explained(self, *arguments, **environment):
        """The text, and the JSON."""
        text = self.explain(*arguments, "--json", "out.json", **environment)
        return text, json.loads((self.path / "out.json").read_text())


class Matmul(Case):
    kSettings = ("op:matmul", "BM=128", "BN=128", "BK=64", "warps=4")

    def test_copies_are_wide_and_use_whole_sectors(self):
        text, data = self.explained(*self.kSettings)
        self.assertEqual([c["kind"] for c in data["copies"]], ["load", "load", "store"])
        self.assertEqual([c["variant"] for c in data["copies"]], ["cp_async", "cp_async", "vector"])
        for copy in data["copies"]:
            self.assertEqual((copy["vector_elements"], copy["vector_bytes"]), (8, 16))
            self.assertEqual((copy["sector_efficiency"], copy["refused"]), (1.0, []))
            self.assertEqual(copy["used_bytes"], 32 * copy["sectors"])
            self.assertRegex(copy["where"]["file"], r"Matmul(Sums\.cpp|\.h)$")
        tiles = {(c["tile"], c["used_bytes"]) for c in data["copies"]}
        self.assertEqual(tiles, {("128x64", 16384), ("64x128", 16384), ("128x128", 32768)})
        self.assertIn("load 128x64 f16: cp_async, 8 elements = 16 bytes an access; bounds checks: ", text)
        self.assertIn("sectors: 100 % used, 16384 of 16384 bytes in 32 warp-wide accesses", text)

    def test_product(self):
        _, data = self.explained(*self.kSettings)
        (product,) = data["products"]
        self.assertEqual((product["m"], product["n"], product["k"]), (128, 128, 64))
        self.assertEqual((product["variant"], product["operands"], product["accumulator"]), ("mma_sync", "f16", "f32"))
        rows, columns = product["warp_grid"]
        self.assertEqual(rows * columns, 4)

    def test_loads_of_operands_meet_no_conflicts(self):
        text, data = self.explained(*self.kSettings)
        loads = [t for t in data["shared_transfers"] if t["instruction"].startswith("ldmatrix")]
        self.assertEqual(len(loads), 2)
        copies = [t for t in data["shared_transfers"] if t["kind"] == "copy"]
        self.assertEqual([(t["tile"], t["instruction"], t["instructions"]) for t in copies],
                         [("128x64", "16-byte cp.async", 32), ("64x128", "16-byte cp.async", 32)])
        for transfer in loads + copies:
            self.assertEqual(transfer["conflicts"], 0)
            self.assertEqual(transfer["ideal_wavefronts"], transfer["actual_wavefronts"])
        self.assertRegex(text, r"ldmatrix\.x4, wavefronts ideal (\d+), actual \1: 0 conflicts")

    def test_shared_memory_and_barriers(self):
        text, data = self.explained(*self.kSettings)
        operands = [a for a in data["allocations"] if a["purpose"].startswith("operand")]
        self.assertEqual(sorted(a["purpose"][:9] for a in operands), ["operand A", "operand B"])
        self.assertEqual([(a["stages"], a["bytes"]) for a in operands], [(3, 3 * 16384)] * 2)
        needed = max(a["offset"] + a["bytes"] for a in data["allocations"])
        self.assertEqual(data["resources"]["shared_bytes"], needed)
        for a in data["allocations"]:
            for b in data["allocations"]:
                alive = a["live_range"][0] <= b["live_range"][1] and b["live_range"][0] <= a["live_range"][1]
                apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
                self.assertTrue(a is b or apart or not alive)
        reasons = [b["reason"] for b in data["barriers"]]
        self.assertTrue(any(r.startswith("what all threads copied arrives") for r in reasons), reasons)
        self.assertTrue(any(r.startswith("read after write of shared memory bytes") for r in reasons), reasons)
        self.assertIn(reasons[0], text)
        change = [c for c in data["layout_changes"] if c["plan"] == "shared memory"]
        self.assertEqual([(c["tile"], c["shared_bytes"]) for c in change], [("128x128", 32768)])

    def test_factors_of_few_columns_go_straight_into_registers(self):
        text, data = self.explained("op:matmul", "M=4", "N=512", "K=2048", "columns=1", "dtype=bf16")
        (product,) = data["products"]
        self.assertEqual((product["batch"], product["m"], product["n"], product["k"]), (8, 16, 8, 128))
        self.assertEqual((product["variant"], product["k_width"]), ("mma_sync", 8))
        self.assertIn("factors: from memory straight into registers, 8 neighbours along K a lane", text)
        self.assertEqual([c["sector_efficiency"] for c in data["copies"]], [1.0] * 4, "the first step's, the next, b, c")
        # Tiles of as few columns that are asked for are computed as any.
        for settings in (self.kSettings, ("op:matmul", "dtype=f64", "BN=8"), ("op:matmul", "BM=64", "BN=8", "BK=32"),
                         ("op:matmul", "dtype=f32", "precision=ieee", "BM=32", "BN=8", "BK=16")):
            _, data = self.explained(*settings)
            self.assertEqual([(p["batch"], p["k_width"]) for p in data["products"]], [(1, 0)], settings)

    def test_loads_run_ahead(self):
        text, data = self.explained(*self.kSettings)
        (loop,) = data["loops"]
        self.assertEqual((loop["stages_asked"], loop["stages"], loop["reason"]), (3, 3, "as asked"))
        self.assertEqual((loop["barriers"], loop["groups_in_flight"]), (1, 1))
        self.assertRegex(loop["where"]["file"], r"MatmulSums\.cpp$")
        self.assertIn("3 stages asked, 3 given: as asked\n      1 barrier per iteration, 1 group of copies in flight at the wait",
                      text)
        line = data["products"][0]["where"]["line"]
        loads = [c["where"]["line"] for c in data["copies"] if c["kind"] == "load"]
        staged = [(a["filled_by"], a["read_by"]) for a in data["allocations"] if a["stages"] > 1]
        self.assertEqual(staged, [([f"cp.async of argument '{name}' at line {load}"],
                                   [f"operand {operand} of the product at line {line}"])
                                  for name, operand, load in zip("ab", "AB", loads)])
        self.assertRegex(text, rf"3 x 128x64 f16, operand A .*\n +filled by cp\.async of argument 'a' at line {loads[0]}; read by operand A")

    def test_teams_share_what_is_loaded(self):
        text, data = self.explained("op:attention", "D=64", "Lq=4096", "--target", "sm_90a")
        self.assertIn("512 (3 teams of 4 warps, and 4 to load)", text)
        memory = [(a["stages"], a["teams"], a["purpose"][:9]) for a in data["allocations"] if a["bytes"] > 64]
        self.assertEqual(sorted(memory), [(1, 3, "operand A"), (1, 3, "subtiles "), (2, 1, "operand B"), (2, 1, "operand B")])
        self.assertIn("64x64 f16, of each of 3 teams, operand A", text)

    def test_multiply_add_reads_slots(self):
        text, data = self.explained("op:matmul", "dtype=f32", "precision=ieee", "BM=64", "BN=64", "BK=16", "warps=4")
        staged = [a for a in data["allocations"] if a["stages"] > 1]
        self.assertEqual([(a["stages"], a["bytes"], a["read_by"][0][:9], a["purpose"][:9]) for a in staged],
                         [(3, 3 * 4096, "operand A", "operand A"), (3, 3 * 4096, "operand B", "operand B")])

    def test_operands_are_computed_from_slots(self):
        _, data = self.explained("op:matmul", "dtype=f32", "precision=tf32x3", "BM=64", "BN=64", "BK=32", "warps=4")
        slots = [(a["stages"], a["purpose"][:9], len(a["filled_by"]), len(a["read_by"])) for a in data["allocations"] if a["stages"] > 1]
        self.assertEqual(slots, [(3, "operand A", 1, 1), (3, "operand B", 1, 1)])
        self.assertEqual(data["loops"][0]["barriers"], 1)
        self.assertEqual([c["tile"] for c in data["layout_changes"]], ["64x64"], "of the result alone")

    def test_narrow_copies(self):
        _, data = self.explained("op:matmul", "dtype=f32", "precision=ieee", "K=4097", "N=4097", "BM=64", "BN=64", "BK=32")
        self.assertEqual([(c["variant"], c["vector_bytes"]) for c in data["copies"] if c["kind"] == "load"],
                         [("cp_async", 4)] * 2)
        self.assertEqual([t["instruction"] for t in data["shared_transfers"] if t["kind"] == "copy"], ["4-byte cp.async"] * 2)

    def test_loads_through_registers_run_ahead_too(self):
        text, data = self.explained("op:matmul", "K=4097", "N=4097", "BM=64", "BN=64", "BK=32", "warps=4")
        (loop,) = data["loops"]
        self.assertEqual((loop["stages"], loop["barriers"], loop["groups_in_flight"]), (3, 1, None))
        self.assertIn("1 barrier per iteration, no copies to wait for", text)
        loads = [c for c in data["copies"] if c["kind"] == "load"]
        self.assertEqual([c["variant"] for c in loads], ["scalar"] * 2)
        for load in loads:
            self.assertTrue(load["refused"][0].startswith("cp_async refused: only 2 bytes"), load)
        self.assertEqual([a["filled_by"] for a in data["allocations"] if a["stages"] > 1],
                         [[f"stores from registers of argument '{name}' at line {load['where']['line']}"]
                          for name, load in zip("ab", loads)])
        # They are issued two iterations ahead, where there is such an iteration: in a branch of the loop.
        (number,) = [i for i, w in enumerate(data["work"]) if w["kind"] == "loop"]
        in_loop = [w["bytes_read"] for i, w in enumerate(data["work"]) if number in (i, w["parent"])]
        self.assertEqual((data["work"][0]["bytes_read"], sum(in_loop)), (0, 2 * 64 * 32 * 2))
        programs = 64 * 65  # each has 64 rows of a, and as many columns of b as there are
        self.assertEqual(data["launch"]["programs"], programs)
        self.assertEqual(data["launch"]["bytes_read"], 4097 * 2 * (65 * 4096 + 64 * 4097))

    def test_occupancy(self):
        text, data = self.explained(*self.kSettings)
        resources = data["resources"]
        self.assertEqual(resources["threads"], 128)
        if not have_ptxas():
            self.assertIsNone(resources["registers"])
            self.assertIsNone(resources["barriers"])
            self.assertIsNone(resources["innermost_loops"])
            self.assertIn("not measured: no assembler", text)
            self.assertEqual(resources["blocks_per_sm"], 164 * 1024 // (resources["shared_bytes"] + 1024))
            return
        self.assertTrue(64 < resources["registers"] <= 255)
        self.assertEqual(resources["barriers"], 1)
        self.assertIn("  barriers        1 of 16\n", text)
        (loop,) = resources["innermost_loops"]
        self.assertTrue(128 <= loop < resources["instructions"])  # the products of a warp alone are so many
        self.assertIn(f"  machine code    {resources['instructions']} instructions; innermost loops have {loop}\n", text)
        self.assertEqual((resources["spill_store_bytes"], resources["spill_load_bytes"]), (0, 0))
        warp = -(-resources["registers"] * 32 // 256) * 256
        by_registers = 16384 // warp * 4 // 4
        by_memory = 164 * 1024 // (resources["shared_bytes"] + 1024)
        self.assertEqual(resources["blocks_per_sm"], min(by_registers, by_memory))
        self.assertEqual(resources["occupancy"], resources["blocks_per_sm"] * 4 / 64)
        self.assertEqual("registers" in resources["limited_by"], by_registers <= by_memory)

    def test_registers_are_estimated(self):
        text, data = self.explained(*self.kSettings)
        resources = data["resources"]
        (estimate,) = resources["estimated_registers"]
        self.assertEqual((estimate["who"], estimate["limit"]), ("a thread", 255))
        self.assertGreater(estimate["needed"], 128 * 128 // 128, "the sums alone")
        self.assertLess(estimate["needed"], estimate["expected"])
        self.assertEqual(resources["expected_registers"], estimate["expected"])
        self.assertEqual(estimate["where"]["line"], data["products"][0]["where"]["line"])
        self.assertRegex(text, rf"\n  estimated       {estimate['expected']} a thread, of at most 255; "
                               rf"{estimate['needed']} needed, most at ops/matmul/MatmulSums\.cpp:{estimate['where']['line']} by ")
        if have_ptxas():
            self.assertLess(abs(resources["registers"] - estimate["expected"]), 0.1 * resources["registers"])

    def test_registers_of_each_role(self):
        text, data = self.explained("op:attention", "D=128", "--target", "sm_90a")
        computing, filling = data["resources"]["estimated_registers"]
        self.assertEqual((computing["who"], computing["limit"]), ("a thread that computes", 240))
        self.assertEqual((filling["who"], filling["limit"]), ("a thread that fills rings", 24))
        self.assertLess(filling["needed"], 24)
        self.assertEqual(data["resources"]["expected_registers"], 168, "those at the launch")
        self.assertIn(" a thread that computes, of at most 240; ", text)

    def test_no_assembler(self):
        text, data = self.explained(*self.kSettings, TILE_PTXAS="/nonexistent", TILE_NVPTXCOMPILER="/nonexistent")
        self.assertIn("not measured: no assembler", text)
        self.assertIsNone(data["resources"]["registers"])
        self.assertEqual(data["resources"]["blocks_per_sm"],
                         164 * 1024 // (data["resources"]["shared_bytes"] + 1024))

    def test_roofline(self):
        text, data = self.explained(*self.kSettings)
        (loop,) = [w for w in data["work"] if w["parent"] == 0]
        self.assertEqual(loop["flops"], {"tensor core, 16-bit": 2 * 128 * 128 * 64})
        self.assertEqual((loop["bytes_read"], loop["bytes_written"]), (32768, 0))
        self.assertEqual(data["work"][0]["bytes_written"], 32768)
        model = data["roofline"]
        # 32 x 32 programs of 64 steps; each operand and the result once.
        launch = data["launch"]
        self.assertEqual((launch["programs"], launch["flops"]), (1024, {"tensor core, 16-bit": 2 * 4096**3}))
        self.assertEqual((loop["executions"], launch["unknown"]), (1024 * 64, None))
        self.assertEqual((launch["bytes_read"], launch["bytes_written"]), (1024 * 64 * 32768, 2 * 4096**2))
        self.assertEqual((launch["distinct_bytes_read"], launch["distinct_bytes_written"]), (4 * 4096**2, 2 * 4096**2))
        self.assertEqual((model["kind"], model["limited_by"], model["bound_tflops"]), ("model", "arithmetic", 312))
        self.assertAlmostEqual(model["intensity"], 2 * 4096**3 / (6 * 4096**2))
        self.assertIn("model: bound by arithmetic, at most 312 of 312 Tflop/s", text)

    def test_roofline_of_sums_of_f16(self):
        """Cards for games multiply twice as fast where sums are f16."""
        bounds = {}
        for accumulator in "f32", "f16":
            _, data = self.explained("op:matmul", "BM=128", "BN=128", "BK=64", f"accumulator={accumulator}", "--target", "sm_86")
            bounds[accumulator] = data["roofline"]["bound_tflops"]
            unit = "tensor core, 16-bit" + (", sums of f16" if accumulator == "f16" else "")
            self.assertEqual(data["launch"]["flops"], {unit: 2 * 4096**3})
        self.assertAlmostEqual(bounds["f16"] / bounds["f32"], 2, places=2)

    def test_roofline_of_few_rows(self):
        """One vector times a matrix: every byte of it is needed, and no more than its bytes allow is promised."""
        for target, bandwidth in ("sm_80", 2039), ("sm_90a", 3350):
            _, data = self.explained("op:matmul", "M=1", "N=4096", "K=4096", "--target", target)
            least = 2 * (4096 + 4096**2)
            self.assertEqual(data["launch"]["distinct_bytes_read"], least)
            model = data["roofline"]
            self.assertEqual(model["limited_by"], "memory")
            flops = sum(data["launch"]["flops"].values())
            self.assertAlmostEqual(model["bound_tflops"], flops / (least + 2 * 4096) * bandwidth / 1000, places=6)

    def test_roofline_of_a_persistent_kernel(self):
        """Its loop goes on across tiles, which are stored in a branch of it."""
        text, data = self.explained("op:matmul", "dtype=bf16", "--target", "sm_90a")
        self.assertEqual(data["launch"]["flops"], {"tensor core, 16-bit": 2 * 4096**3})
        self.assertEqual(data["launch"]["bytes_written"], 2 * 4096**2)
        (loop,) = [w for w in data["work"] if w["kind"] == "loop" and w["flops"]]
        (branch,) = [w for w in data["work"] if w["executions"] and w["bytes_written"]]
        self.assertEqual((loop["bytes_written"], branch["bytes_written"]), (0, 128 * 256 * 2))
        self.assertEqual(loop["executions"], 64 * branch["executions"])
        self.assertEqual(data["roofline"]["limited_by"], "arithmetic")
        self.assertIn("the branch at ops/matmul/Matmul.cpp:", text)
        self.assertIn("at most 989 of 989 Tflop/s", text)
        # Warps of roles fill and compute, and blocks of a cluster load shares: the same work.
        for form in (["schedule=ping_pong", "BM=64", "BN=256", "warps=4"], ["schedule=warp_specialized_multicast"]):
            _, other = self.explained("op:matmul", "dtype=bf16", "--target", "sm_90a", *form)
            for field in "flops", "bytes_written", "distinct_bytes_read", "distinct_bytes_written":
                self.assertEqual(other["launch"][field], data["launch"][field], (form, field))

    def test_roofline_that_is_not_known(self):
        """Lengths of sequences are in memory."""
        text, data = self.explained("op:decode_attention")
        self.assertRegex(data["launch"]["unknown"], r"how often the loop at DecodeAttention\.cpp:\d+ is carried out follows from")
        self.assertNotIn("bound_tflops", data["roofline"])
        self.assertIn("not known, and no bound: how often the loop at", text)
        self.assertNotIn("model: bound", text)

    def test_other_target(self):
        text, data = self.explained(*self.kSettings, "--target", "sm_90a")
        self.assertEqual(data["roofline"]["card"], "H100 SXM 80 GB")
        self.assertTrue(text.startswith("matmul for sm_90a"))

    def test_refusals(self):
        _, data = self.explained("op:matmul", "dtype=f32", "precision=ieee", "BM=64", "BN=64", "BK=16", "warps=4")
        (product,) = data["products"]
        self.assertEqual(product["variant"], "fma")
        self.assertEqual(product["refused"], ["mma_sync refused: f32 with precision ieee needs fused multiply-add"])


def innermost_loop(text):
    """The body of the loop in a stage's text that has the products and no further loop."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if " scf.for " in line]
    indent = len(lines[starts[-1]]) - len(lines[starts[-1]].lstrip())
    end = next(i for i in range(starts[-1], len(lines)) if lines[i].startswith(" " * indent + "}"))
    return lines[starts[-1] + 1:end]


class SharedDepth(Case):
    """Two blocks of a cluster have a part of K each and add up what they get."""

    def test_what_is_added_up_is_no_change_of_layout(self):
        _, data = self.explained("op:matmul", "M=16", "N=4096", "K=14336", "columns=1", "--target", "sm_90a")
        added = [a for a in data["allocations"] if a["purpose"] == "tiles that the blocks of a cluster add up"]
        self.assertEqual([(a["tile"], a["bytes"]) for a in added], [("64x16", 64 * 16 * 4)])
        self.assertNotIn(added[0]["where"], [change["where"] for change in data["layout_changes"]])
        self.assertNotIn("each block loads all", str(data["remarks"]))


class Attention(Case):
    """Scores and weights stay in the warp that has their rows, and the tensor cores take the weights from registers."""

    def assert_rows_stay(self, *settings, barriers):
        _, data = self.explained("op:attention", *settings)
        warps = data["resources"]["threads"] // 32
        self.assertEqual([p["warp_grid"] for p in data["products"]], [[warps, 1]] * 2)
        purposes = [change["purpose"] for change in data["layout_changes"]]
        self.assertEqual(purposes, ["change of layout"], "of the result, before it is stored")
        if have_ptxas():
            self.assertEqual(data["resources"]["spill_store_bytes"], 0)
        done = subprocess.run([kTilec, "build", "op:attention", *settings, "--emit=tilegpu"], cwd=self.path,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        loop = innermost_loop(done.stdout)
        counts = {name: sum(name in line for line in loop)
                  for name in ("tile.dot", "tilegpu.barrier", "tilegpu.smem_store", "tilegpu.smem_load",
                               "tilegpu.reduce_partial", "tilegpu.convert_layout")}
        self.assertEqual(counts["tile.dot"], 2, loop)
        self.assertLessEqual(counts["tilegpu.barrier"], barriers, loop)
        for name in "tilegpu.smem_store", "tilegpu.smem_load":
            self.assertLessEqual(counts[name], 2, (name, loop))
        self.assertEqual((counts["tilegpu.reduce_partial"], counts["tilegpu.convert_layout"]), (0, 0), loop)

    def test_heads_of_64(self):
        for causal in "causal=0", "causal=1":
            self.assert_rows_stay("D=64", causal, barriers=2)

    # The third orders the first keys, in shared memory, after the queries that were in their place before the loop.
    def test_heads_of_128(self):
        for causal in "causal=0", "causal=1":
            self.assert_rows_stay("D=128", causal, barriers=3)

    def test_few_queries(self):
        self.assert_rows_stay("D=128", "Lq=64", barriers=3)


class Softmax(Case):
    def test_softmax(self):
        text, data = self.explained("op:softmax")
        self.assertEqual([c["kind"] for c in data["copies"]], ["load", "store"])
        self.assertEqual(data["products"], [])
        self.assertIn("Products: none", text)
        for copy in data["copies"]:
            self.assertEqual((copy["variant"], copy["vector_bytes"]), ("vector", 16))
            self.assertEqual(copy["sector_efficiency"], 1.0)
        model = data["roofline"]
        self.assertEqual(model["limited_by"], "memory")
        launch = data["launch"]
        self.assertEqual((launch["of"], launch["bytes_read"], launch["bytes_written"]), ("launch",) + (4 * 4096 * 1024,) * 2)
        self.assertAlmostEqual(model["intensity"], sum(launch["flops"].values()) / (8 * 4096 * 1024))
        for change in data["layout_changes"]:
            self.assertEqual(change["purpose"], "partial results of a reduction")
        for transfer in data["shared_transfers"]:
            self.assertEqual(transfer["conflicts"], 0)


kEverything = """
module {
  func.func @everything(%p: !tile.ptr<i32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 1 : i32} {
    %i = tile.arange 0, 64 : tensor<64xi32>
    %s = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %a = tile.addptr %s, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %old = tile.atomic_rmw add relaxed gpu %a, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %t = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %b = tile.addptr %t, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %x = tile.load %b : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
    %sums = "tile.scan"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %sum = arith.addf %l, %r : f32
      tile.yield %sum : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    tile.store %sums, %b : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
    %twice = arith.muli %old, %old : tensor<64xi32>
    tile.store %twice, %a : tensor<64xi32>, tensor<64x!tile.ptr<i32>>
    return
  }
}
"""


class Everything(Case):
    def test_atomics_scans_and_integers_count(self):
        (self.path / "everything.mlir").write_text(kEverything)
        text, data = self.explained("everything.mlir")
        self.assertEqual([c["kind"] for c in data["copies"]], ["atomic add", "load", "store", "store"])
        atomic = data["copies"][0]
        self.assertEqual((atomic["sectors"], atomic["sector_efficiency"], atomic["bounds_checks"]), (8, 1.0, ["none"]))
        (work,) = data["work"]
        self.assertEqual((data["launch"]["of"], data["launch"]["unknown"]), ("program", None))  # no arguments are known
        self.assertEqual(work["flops"], {"f32": 64, "integer": 64})
        self.assertEqual((work["bytes_read"], work["bytes_written"]), (2 * 256, 3 * 256))
        self.assertIn("atomic add 64 i32: one element an access", text)


kColumn = """
module {
  func.func @column(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 1 : i32} {
    %i = tile.arange 0, 32 : tensor<32xi32>
    %c = arith.constant dense<64> : tensor<32xi32>
    %o = arith.muli %i, %c : tensor<32xi32>
    %s = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
    %a = tile.addptr %s, %o : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    %x = tile.load %a : tensor<32x!tile.ptr<f32>> -> tensor<32xf32>
    %y = arith.addf %x, %x : tensor<32xf32>
    tile.store %y, %a : tensor<32xf32>, tensor<32x!tile.ptr<f32>>
    return
  }
}
"""


kPicks = """#include <tile/tile.h>
using namespace tile;
auto picks = kernel("picks", [](In<f32, 1> x, In<i32, 1> at, Out<f32, 1> y, Out<f32, 1> z) {
  Value i = grid1d(y, {128}), sum = load(x.ptr() + at.tile({128})(i));
  for (int j = 0; j < 3; ++j)
    sum = sum + x.tile({128})(i + j);
  auto more = var(sum);
  for (auto k : range(x.dim(0)).stages(2))
    more += cast(f32, k);
  y.tile({128})(i) = more;
});
"""


kPowers = """#include <tile/tile.h>
using namespace tile;
auto powers = kernel("powers", [](InOut<f16, 2> a) {
  auto sum = var(zeros(f32, {32, 32}));
  for (auto k : range(a.dim(0)).stages(3)) {
    Value x = a.tile({32, 32})(0, k);
    sum = dot(x, x, sum);
    a.tile({32, 32})(0, k) = cast(f16, sum);
  }
});
"""


kSums = """#include <tile/tile.h>
using namespace tile;
auto sums = kernel("sums", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
  auto sum = var(zeros(f32, {32, 32}));
  for (auto k : range(cdiv(a.dim(1), 32)))
    sum = dot(a.tile({32, 32})(0, k), b.tile({32, 32})(k, 0), sum);
  c.tile({32, 32})(0, 0) = sum;
});
"""


class Cpp(Case):
    def test_what_is_not_known_and_what_repeats_is_said_so(self):
        (self.path / "picks.cpp").write_text(kPicks)
        text, data = self.explained("picks.cpp", "x=f32[1024]", "at=i32[1024]", "y=f32[1024]", "z=f32[1024]")
        picked = next(c for c in data["copies"] if c["where"]["line"] == 4 and c["dtype"] == "f32")
        self.assertEqual((picked["sector_efficiency"], picked["sectors"], picked["least_sectors"]), (None, 128, 16))
        self.assertIn("sectors: unknown, between 12.5 % and 100 % used: which elements are neighbours", text)
        self.assertEqual(text.count("load 128 f32: vector"), 1, text)
        self.assertRegex(text, r"load 128 f32: vector, .* \(3 times\)\n      sectors: 100 % used")
        self.assertEqual([r["message"].split(":")[0] for r in data["remarks"]],
                         ["output 'z' is never stored to", "stages"])
        (loop,) = data["loops"]
        self.assertEqual((loop["stages_asked"], loop["stages"], loop["reason"]),
                         (2, 1, "no product of its body depends on what it loads"))
        self.assertEqual((loop["barriers"], loop["groups_in_flight"]), (0, None))
        self.assertIn("Remarks\n  picks.cpp:3    auto picks = ", text)


    def test_a_loop_whose_load_must_stay_says_why(self):
        (self.path / "powers.cpp").write_text(kPowers)
        text, data = self.explained("powers.cpp", "a=f16[1024x1024]")
        (loop,) = data["loops"]
        why = "the loop stores to what may be the same memory"
        self.assertEqual((loop["stages_asked"], loop["stages"], loop["reason"]), (3, 1, f"of its load, {why}"))
        self.assertEqual((loop["where"]["line"], loop["groups_in_flight"]), (5, None))
        self.assertEqual(loop["barriers"], len(data["barriers"]))
        self.assertIn(f"3 stages asked, 1 given: of its load, {why}\n", text)
        load = data["copies"][0]
        self.assertEqual((load["variant"], load["refused"]), ("vector", [f"cp_async refused: {why}"]))
        (staged,) = [a for a in data["allocations"] if a["filled_by"]]
        self.assertEqual((staged["stages"], staged["filled_by"], staged["read_by"]),
                         (1, ["stores from registers of argument 'a' at line 6"],
                          ["operand A of the product at line 7", "operand B of the product at line 7"]))

    def test_a_loop_that_does_not_say_runs_ahead(self):
        (self.path / "sums.cpp").write_text(kSums)
        text, data = self.explained("sums.cpp", "a=f16[32x1024]", "b=f16[1024x32]", "c=f32[32x32]")
        (loop,) = data["loops"]
        self.assertEqual((loop["stages_asked"], loop["stages"], loop["reason"]), (None, 3, "by default"))
        self.assertIn("stages not said, 3 given: by default", text)


class File(Case):
    def test_a_column_uses_four_bytes_of_each_sector(self):
        (self.path / "column.mlir").write_text(kColumn)
        text, data = self.explained("column.mlir")
        load = data["copies"][0]
        self.assertEqual((load["variant"], load["sectors"], load["sector_efficiency"]), ("scalar", 32, 0.125))
        self.assertEqual(load["where"]["file"], "column.mlir")
        self.assertEqual(load["where"]["text"], kColumn.splitlines()[load["where"]["line"] - 1].strip())
        self.assertIn("tile.load", load["where"]["text"])
        self.assertIn("vector refused: no two neighbouring elements", text)
        self.assertIn("column.mlir:9    %x = tile.load", text)

    def test_what_the_assembler_says_stands_at_the_line_of_the_source(self):
        ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        if not have_ptxas() or not os.access(ptxas, os.X_OK):
            self.skipTest("no ptxas")
        (self.path / "column.mlir").write_text(kColumn)
        built = subprocess.run([kTilec, "build", "column.mlir"], cwd=self.path, capture_output=True, text=True, timeout=60)
        lines = built.stdout.splitlines()
        load = next(number for number, line in enumerate(lines, 1) if "ld.global" in line)
        talker = self.path / "talker"
        talker.write_text(f"""#!/bin/sh
'{ptxas}' "$@" || exit
echo "ptxas info    : (C7517) a wait is put in around line {load} in function 'column'"
echo "ptxas info    : (C7514) Potential Performance Loss: products are serialized in the function 'column'"
""")
        talker.chmod(0o755)
        text, data = self.explained("column.mlir", TILE_PTXAS=str(talker))
        waits, serialized = data["assembler_messages"]
        self.assertEqual((waits["code"], waits["where"]["line"]), ("C7517", data["copies"][0]["where"]["line"]))
        self.assertEqual(waits["message"], f"a wait is put in around line {load} in function 'column'")
        self.assertEqual((serialized["code"], serialized["where"]), ("C7514", None))
        self.assertRegex(text, r"Remarks\n  column\.mlir:9    %x = tile\.load .*\n    the assembler says: a wait is put in ")
        self.assertIn("the assembler says: Potential Performance Loss: products are serialized", text)
        self.assertGreater(data["resources"]["registers"], 0)
        _, quiet = self.explained("column.mlir")
        self.assertEqual(quiet["assembler_messages"], [])

    def test_bad_input_is_one_line(self):
        (self.path / "bad.mlir").write_text("module {")
        for arguments in (["missing.mlir"], ["bad.mlir"], ["op:nothing"], ["op:matmul", "ZZ=1"], ["op:matmul", "BM=x"],
                          ["op:matmul", "--target", "sm_1"], ["thing.txt"], ["op:add", "op:matmul"],
                          ["op:add", "--json", "no/such/folder/out.json"]):
            errors = self.explain(*arguments, code=2)
            lines = [line for line in errors.strip().splitlines() if not line.startswith("settings:")]
            self.assertEqual(len(lines), 1, errors)


class PageReader(html.parser.HTMLParser):
    """Which source lines each column links to."""

    def __init__(self):
        super().__init__()
        self.columns, self.titles, self.column, self.scripts = {}, {}, None, 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "section":
            self.column = attributes["id"]
            self.columns[self.column] = []
        if tag == "span" and "data-k" in attributes:
            self.columns[self.column].append(attributes["data-k"])
            self.titles[attributes["data-k"]] = attributes["title"]
        for name in ("src", "href"):
            assert name not in attributes, (tag, attributes)


class Html(Case):
    def page(self, *arguments):
        self.explain(*arguments, "--html", "out.html")
        return (self.path / "out.html").read_text()

    def test_lines_of_all_stages_are_linked(self):
        (self.path / "column.mlir").write_text(kColumn)
        page = self.page("column.mlir")
        reader = PageReader()
        reader.feed(page)
        self.assertLessEqual({"source", "tile", "tilegpu", "llvm-ir", "ptx"}, set(reader.columns))
        (key,) = [key for key, title in reader.titles.items() if title == "column.mlir:9"]
        for name in ("source", "tile", "tilegpu", "llvm-ir", "ptx"):
            self.assertIn(key, reader.columns[name], name)
        self.assertRegex(page, rf'data-k="{key}"[^>]*>[^<]*tile\.load')
        self.assertRegex(page, rf'data-k="{key}"[^>]*>[^<]*ld\.global')
        self.assertNotIn("http", re.sub(r"<pre>.*?</pre>", "", page, flags=re.S))

    def test_everything_is_escaped(self):
        evil = "<script>alert('x')</script>&\""
        (self.path / "evil.mlir").write_text(f"// {evil}\n" + kColumn)
        page = self.page("evil.mlir")
        self.assertNotIn("<script>alert", page)
        self.assertIn("// &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;", page)

    def test_chromium_renders_it(self):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if not chromium:
            self.skipTest("chromium is not installed")
        (self.path / "column.mlir").write_text(kColumn)
        self.page("column.mlir")
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.path}/profile",
             "--virtual-time-budget=2000", "--dump-dom", f"file://{self.path}/out.html#line0"],
            capture_output=True, text=True, timeout=120)
        if not done.stdout:
            self.skipTest("chromium does not start here: " + done.stderr[-300:])
        self.assertIn('class="l p"', done.stdout)  # the script ran: the line of the address is pinned
        self.assertIn("tile.load", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)

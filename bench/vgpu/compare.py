"""The virtual GPU beside the peer's interpreter: the same kernels, compiled by the peer, on the same inputs, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/vgpu/compare.py --tilec build/release/bin/tilec

Triton compiles its kernels to PTX, which `tilec run` executes without checks and with all of them; TRITON_INTERPRET=1 runs
their source with NumPy. Times are CPU time of the run alone, the best of several taken in turns, with one thread on each side,
so that other programs on the machine hardly matter; without the start of a process, without compiling and reading files. Results are compared with each other. Ratios above 1: the virtual GPU is faster.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {80: "sm_80", 90: "sm_90a"}


def peer(script, *arguments):
    done = subprocess.run([sys.executable, HERE / script, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"{script} {' '.join(map(str, arguments))} failed:\n{done.stderr[-2000:]}")
    return done.stdout


class Runner:
    """Runs one launch, with inputs that are the same for both sides."""

    def __init__(self, name, launch, options, folder):
        self.name, self.launch, self.options, self.folder = name, launch, options, folder
        random = numpy.random.default_rng(0)
        for i, argument in enumerate(launch.arguments):
            if isinstance(argument, tuple):
                values = random.standard_normal(argument[1]).astype(argument[0])
                numpy.save(folder / f"{name}.in{i}.npy", values)

    def interpreted(self):
        """Seconds, and the result."""
        seconds = float(peer("interpret_peer.py", self.name, self.folder).split()[-1])
        return seconds, numpy.load(self.folder / f"{self.name}.peer.npy")

    def words(self, facts, output):
        kinds = {"float32": "f32", "float16": "f16"}
        signature = [kind for kind in self.launch.kernel[1].values() if kind != "constexpr"]
        for i, argument in enumerate(self.launch.arguments):
            if not isinstance(argument, tuple):
                yield f"{'f32' if signature[i] == 'fp32' else 'i32'}:{argument!r}"
            elif i == self.launch.result():
                yield f"out:{output}:{kinds[argument[0]]}[{'x'.join(map(str, argument[1]))}]"
            else:
                yield f"in:{self.folder / f'{self.name}.in{i}.npy'}"
        # Memory of each program for descriptors it makes; then memory for profiles, of which these kernels need none.
        scratch = facts["global_scratch"] * numpy.prod(self.launch.grid)
        yield f"out:{self.folder / 'scratch.npy'}:u8[{scratch}]" if scratch else "u64:0"
        yield "u64:0"

    def executed(self, arch, checks):
        """Seconds and the result on the virtual GPU, or what it says if it cannot."""
        ptx = self.folder / f"{self.name}-sm_{arch}.ptx"
        facts = json.loads(ptx.with_suffix(".json").read_text())
        output, report = self.folder / f"{self.name}.npy", self.folder / f"{self.name}.report.json"
        done = subprocess.run(
            [self.options.tilec, "run", ptx, "--device", f"virtual:{TARGETS[arch]}", "--check", checks, "--json", report,
             "--grid", ",".join(map(str, self.launch.grid)), "--shared", str(facts["shared"]),
             *self.words(facts, output)], capture_output=True, text=True,
            env={**os.environ, "TILE_VGPU_THREADS": "1"})
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or ["no message"])[0]
        return json.loads(report.read_text())["ran"]["cpu_seconds"], numpy.load(output)


def error_between(ours, theirs):
    difference = numpy.abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64))
    return difference.max() / numpy.abs(theirs.astype(numpy.float64)).max()


def compare(runner):
    """All sides take turns: a machine that is slow for a while is slow for each of them."""
    peer_seconds, runs = [], {(arch, checks): [] for arch in runner.launch.archs for checks in ("none", "all")}
    for _ in range(runner.options.repeats):
        seconds, peer_result = runner.interpreted()
        peer_seconds.append(seconds)
        for run, results in runs.items():
            results.append(runner.executed(*run))
    best_peer = min(peer_seconds)
    for (arch, checks), results in runs.items():
        line = f"{runner.name:24} {TARGETS[arch]:7} {checks:5} {best_peer * 1e3:10.1f} "
        refusal = next((words for seconds, words in results if seconds is None), None)
        if refusal:
            print(line + refusal, flush=True)
            continue
        seconds, result = min(results, key=lambda run: run[0])
        print(f"{line}{seconds * 1e3:10.1f} {best_peer / seconds:7.1f}   {error_between(result, peer_result):.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilec", required=True, help="the program tilec")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="launches whose names begin with this")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for PTX, inputs and results; default: a temporary one")
    options = parser.parse_args()
    import peer_kernels
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        peer("compile_peer.py", folder)
        import triton
        print(f"Triton {triton.__version__}, NumPy {numpy.__version__}, CPU time of one thread, best of {options.repeats}, ms")
        print(f"{'launch':24} {'target':7} {'check':5} {'interpreter':>10} {'virtual':>9} {'ratio':>7}   error, of the largest")
        for name, launch in peer_kernels.LAUNCHES.items():
            if name.startswith(options.only):
                compare(Runner(name, launch, options, folder))


if __name__ == "__main__":
    sys.exit(main())

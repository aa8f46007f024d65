# Runs every tests/**/*.mlir through its RUN lines. tile-opt, tilec, FileCheck, not, split-file, ...
# are found on PATH.
import os
import shutil

import lit.formats

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["kernels"]  # golden stages: GoogleTest programs compare them, there are no RUN lines
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.tile_test_output

path = [config.tile_bin, config.llvm_bin, config.environment.get("PATH", ""), "/usr/local/cuda/bin"]
config.environment["PATH"] = os.path.pathsep.join(path)

if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")

# `%to_ptx FILE` compiles the test's kernels to PTX in FILE, `%lower_to_ptx FILE` those that have
# layouts already; `%ptxas FILE` assembles PTX and reports spills and registers. `%hopper_to_ptx` and
# `%hopper_ptxas` are for sm_90a.
to_llvm = "-tile-wait-for-launches -tile-lower-to-scalars -tile-nest-loops -tile-scalars-to-llvm"
to_hopper_llvm = ("-tile-wait-for-launches=target=sm_90a -tile-lower-to-scalars=target=sm_90a -tile-nest-loops "
                  "-tile-scalars-to-llvm")
llc = "mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -fp-contract=fast"
to_ptx = f"{llc} -mcpu=sm_80 -mattr=+ptx80 -o"
to_hopper_ptx = f"{llc} -mcpu=sm_90a -mattr=+ptx84 -o"
config.substitutions += [
    ("%hopper_to_ptx", f"tile-opt -tile-pipeline=target=sm_90a {to_hopper_llvm} %s | {to_hopper_ptx}"),
    ("%hopper_ptxas", "ptxas -arch=sm_90a -v -o /dev/null"),
    ("%to_ptx", f"tile-opt -tile-pipeline {to_llvm} %s | {to_ptx}"),
    ("%lower_to_ptx", f"tile-opt {to_llvm} %s | {to_ptx}"),
    ("%ptxas", "ptxas -arch=sm_80 -v -o /dev/null"),
]

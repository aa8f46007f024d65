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

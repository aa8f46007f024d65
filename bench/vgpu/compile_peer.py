"""Compiles the peer's kernels to PTX, without a GPU: writes FOLDER/<launch>-sm_<arch>.ptx and what a launch needs to know.

  python3 bench/vgpu/compile_peer.py FOLDER
"""
import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import peer_kernels  # noqa: E402


def compile_launch(launch, arch):
    function, signature, constants, aligned = launch.kernel
    attributes = {(list(signature).index(argument),): [["tt.divisibility", 16]] for argument in aligned}
    source = ASTSource(function, signature, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32),
                          options={"num_warps": launch.warps, "num_stages": launch.stages})


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, launch in peer_kernels.LAUNCHES.items():
        for arch in launch.archs:
            kernel = compile_launch(launch, arch)
            path = folder / f"{name}-sm_{arch}.ptx"
            path.write_text(kernel.asm["ptx"])
            metadata = kernel.metadata
            facts = {"entry": metadata.name, "shared": metadata.shared, "threads": metadata.num_warps * 32,
                     "global_scratch": metadata.global_scratch_size, "profile_scratch": metadata.profile_scratch_size}
            path.with_suffix(".json").write_text(json.dumps(facts) + "\n")
            print(path, kernel.asm["ptx"].count("\n"), "lines", facts)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

#!/usr/bin/env python3
"""Compares the #include lines of each folder with what it may know. The table is the architecture:
data flows frontend -> ir -> passes -> codegen -> runtime -> ops, and the two devices know nothing
of the compiler."""
import pathlib
import re
import sys

# Public headers that devices may use without linking the compiler.
kSelfContained = {"tile/Error.h", "tile/Types.h"}
kCompiler = {"mlir", "llvm"}
# Folder -> what it may include besides itself. "public" is include/tile. A subfolder is a folder of
# its own, not part of the one around it.
kMayInclude = {
    "include/tile": {"public"},
    "ir/layout": set(),
    "ir": {"ir/layout", *kSelfContained} | kCompiler,
    "passes": {"ir", "ir/layout"} | kCompiler,
    "codegen": {"passes", "ir", "ir/layout"} | kCompiler,
    "frontend": {"ir", "ir/layout", "public"} | kCompiler,
    "runtime/device": kSelfContained,
    "runtime/vgpu": {"runtime/device"} | kSelfContained,
    "runtime/jit": {"codegen", "passes", "ir", "ir/layout", "frontend", "runtime/device", "public"}
    | kCompiler,
    "runtime/jit/nvptxcompiler": {"nvPTXCompiler.h"},  # the plugin that holds the library
    "ops/autograd": {"ops", "public"},
    "ops/nn": {"public"},
    "ops": {"public"},
    "examples": {"public"},
    "examples/app": {"public", "Pool.h", "Reference.h"},  # a project of its own
}
kInclude = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
kForeign = {"mlir": "mlir", "mlir-c": "mlir", "llvm": "llvm", "llvm-c": "llvm", "clang": "llvm"}
kCuda = re.compile(r"^(cuda|nvrtc|nvJitLink|nvPTXCompiler)[^/]*\.h$")
root = pathlib.Path(__file__).resolve().parent.parent


def folder_of(path):
    """The deepest folder of the table that holds `path`, or None."""
    return max((f for f in kMayInclude if path.startswith(f + "/")), key=len, default=None)


def fault(folder, quote, name):
    """Why a file of `folder` must not include `name`, or None."""
    allowed = kMayInclude[folder] | {folder}
    if kCuda.match(name) and name not in allowed:
        return "CUDA is reached by dlopen, never by its headers"
    if name in allowed:
        return None
    if name.split("/")[0] in kForeign:
        target = kForeign[name.split("/")[0]]
    elif name.startswith("tile/"):
        target = name if name in allowed else "public"
    else:
        target = folder_of(name)
    if target is None:
        # A name with a folder that is none of ours belongs to a library.
        known = quote == "<" or "/" in name
        return None if known else "write the path from the root of the repository"
    return None if target in allowed else f"{folder} may include only {', '.join(sorted(allowed))}"


def main():
    faults, files = [], 0
    tops = {folder.split("/")[0] for folder in kMayInclude}
    for path in sorted(path for top in tops for path in (root / top).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cpp") or not folder_of(name):
            continue
        files += 1
        for match in kInclude.finditer(text := path.read_text()):
            if why := fault(folder_of(name), *match.groups()):
                line = text.count("\n", 0, match.start(2)) + 1
                faults.append(f"{name}:{line}: error: includes {match[2]}: {why}")
    print("\n".join(faults) or f"{files} files include only what their folder may know")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

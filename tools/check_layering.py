#!/usr/bin/env python3
"""Compares the #include lines of each folder with what it may know. The table is the architecture:
data flows frontend -> ir -> passes -> codegen -> runtime -> ops, and the two devices know nothing
of the compiler but the table of targets. A folder holds no more sources than a reader can look through."""
import collections
import pathlib
import re
import sys

# Public headers that devices may use without linking the compiler.
kSelfContained = {"tile/Error.h", "tile/Prediction.h", "tile/Types.h"}
kCompiler = {"mlir", "llvm"}
kIr = {"ir", "ir/annotations", "ir/gpu", "ir/instructions", "ir/layout", "ir/target", "ir/tile"}
kRefusal = {"base/Refusal.h"}  # how the compiler says no
kOfPasses = kIr | kRefusal | kCompiler
# Public headers of the C API that a library without the compiler has too.
kOfC = {f"tile/c/{name}.h" for name in ("Archive", "Argument", "Device", "Graph", "Status", "Tensor")}
# The rooms of the virtual GPU: each may include those before it. What lies below a room (machine/async) belongs to it.
kVgpuRooms = ["runtime/vgpu/" + room for room in (
    "ptx", "check", "machine", "streams", "decode", "isa/alu", "isa/memory", "isa/async", "isa/sync", "isa/tensor",
    "isa", "time")]
kVgpuRooms.append("runtime/vgpu")
# The rooms of passes: each may include those named, all of which stand above it, and passes itself, which declares all passes.
kPassRooms = {
    "analysis": (),
    "registers": ("analysis",),
    "pipelining/analysis": ("analysis",),
    "staging": ("analysis", "pipelining/analysis"),
    "pipelining": ("analysis", "pipelining/analysis", "registers", "staging"),
    "memory": ("analysis", "pipelining/analysis"),
    "layouts": ("analysis",),
    "variants": ("analysis", "staging"),
    "tile": ("analysis", "staging", "variants"),
}
# Folder -> what it may include besides itself. "public" is include/tile. A subfolder is a folder of
# its own, not part of the one around it.
kMayInclude = {
    "include/tile": {"public"},
    "base": kSelfContained,
    "ir/layout": kRefusal,
    "ir/target": set(),
    "ir": {"ir/annotations", "ir/gpu", "ir/layout", "ir/target", "ir/tile", *kSelfContained} | kRefusal | kCompiler,
    "ir/tile": {"ir", "ir/annotations", "ir/gpu/DotLayouts.h", "ir/layout", "ir/target"} | kRefusal | kCompiler,
    # Of instructions the dialect asks for the tables alone, which know nothing of it.
    "ir/gpu": {"ir", "ir/annotations", "ir/instructions/Mma.h", "ir/instructions/Wgmma.h", "ir/layout", "ir/target", "ir/tile"} | kRefusal | kCompiler,
    "ir/annotations": {"ir", "ir/gpu", "ir/target", "ir/tile"} | kCompiler,
    "ir/instructions": {"ir", "ir/annotations", "ir/gpu", "ir/layout", "ir/target", "ir/tile"} | kRefusal | kCompiler,
    "passes": kOfPasses,
    **{f"passes/{room}": {"passes", *(f"passes/{other}" for other in others)} | kOfPasses
       for room, others in kPassRooms.items()},
    "codegen/compiled": {"base", "ir/target", *kSelfContained},
    "codegen/thread": kIr | kCompiler,
    "codegen": {"codegen/compiled", "codegen/thread", "passes", "passes/analysis", "passes/memory", "passes/registers"} | kIr | kRefusal | kCompiler,
    "frontend/call": {"public"},
    "frontend/trace": {"base", "frontend/call", "ir", "ir/target", "ir/tile", "public"} | kCompiler,
    "frontend/language": {"frontend/trace", "ir/layout", "public"},
    "runtime/device": {"base"} | kSelfContained,
    **{room: {"base", "ir/target", "runtime/device", *kVgpuRooms[:place]} | kSelfContained
       for place, room in enumerate(kVgpuRooms)},
    "runtime/toolchain": {"base", "codegen", "codegen/compiled", "ir/target", *kSelfContained} | kCompiler,
    "runtime/toolchain/nvptxcompiler": {"nvPTXCompiler.h"},  # the plugin that holds the library
    "runtime/cache": {"base", *kSelfContained} | kCompiler,
    "runtime/trace": {"base", *kSelfContained},
    "runtime/launch": {"base", "codegen/compiled", "frontend/call", "ir/target", "runtime/device", "runtime/trace",
                       "public"},
    "runtime/host": {"base", "runtime/device", "runtime/launch", "runtime/trace", "public"},
    "runtime/aot": {"base", "codegen/compiled", "frontend/call", "ir/target", "runtime/device", "runtime/host",
                    "runtime/launch", "runtime/trace", "public"},
    "runtime/jit": {"base", "codegen", "codegen/compiled", "passes", "runtime/cache", "ir", "ir/target", "ir/tile",
                    "frontend/call", "frontend/trace", "runtime/device", "runtime/host", "runtime/launch",
                    "runtime/toolchain", "runtime/trace", "public"} | kCompiler,
    "runtime/bench": {"runtime/device", "runtime/host", "public"},
    "runtime/predict": {"runtime/device", "runtime/host", "runtime/toolchain", "runtime/vgpu", "runtime/vgpu/time", "public"},
    "runtime/tune": {"base", "codegen", "codegen/compiled", "frontend/call", "ir/target", "runtime/bench",
                     "runtime/cache", "runtime/device", "runtime/host", "runtime/jit", "runtime/launch", "runtime/trace",
                     "public"},
    "capi": {"base", "runtime/device", "runtime/host", "tile/Aot.h", "tile/DLPack.h", "tile/Device.h", "tile/Error.h",
             "tile/Graph.h", "tile/HostArg.h", "tile/Shape.h", "tile/Tensor.h", "tile/Types.h", "tile/Version.h",
             "tile/detail/KernelRecord.h", *kOfC},
    "capi/compiler": {"base", "capi", "runtime/device", "runtime/jit", "runtime/tune", "public"},
    "ops/autograd": {"ops", "public"},
    "ops/attention": {"ops", "public"},
    "ops/byname": {"ops", "ops/attention", "ops/matmul", "public"},
    "ops/matmul": {"ops", "public"},
    "ops/nn": {"public"},
    "ops": {"public"},
    "examples": {"public", "lesson_8_kernels.h"},  # which `tilec aot` makes
    "examples/ahead": {"public", "ahead_kernels.h"},  # which `tilec aot` makes
    "examples/app": {"public", "Pool.h", "Reference.h"},  # a project of its own
}
# What includes upwards: file -> headers. The list may only shrink; a row that no longer holds is an error.
kExceptions = {}
kMostSources = 45  # of one folder, without those below it
kInclude = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
kForeign = {"mlir": "mlir", "mlir-c": "mlir", "llvm": "llvm", "llvm-c": "llvm", "clang": "llvm"}
kTops = {folder.split("/")[0] for folder in kMayInclude}
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
    if target is None and name.split("/")[0] in kTops:
        return "no row of the table has its folder"
    if target is None:
        # A name with a folder that is none of ours belongs to a library.
        known = quote == "<" or "/" in name
        return None if known else "write the path from the root of the repository"
    return None if target in allowed else f"{folder} may include only {', '.join(sorted(allowed))}"


def main():
    faults, files, sources = [], 0, collections.Counter()
    excepted = {(name, header) for name, headers in kExceptions.items() for header in headers}
    for path in sorted(path for top in kTops for path in (root / top).rglob("*")):
        name = path.relative_to(root).as_posix()
        sources[path.parent.relative_to(root).as_posix()] += path.suffix in (".h", ".cpp", ".td")
        if path.suffix not in (".h", ".cpp"):
            continue
        files += 1
        if not folder_of(name):
            faults.append(f"{name}:1: error: no row of the table has its folder")
            continue
        for match in kInclude.finditer(text := path.read_text()):
            why = fault(folder_of(name), *match.groups())
            if why and (name, match[2]) in excepted:
                excepted.remove((name, match[2]))
            elif why:
                line = text.count("\n", 0, match.start(2)) + 1
                faults.append(f"{name}:{line}: error: includes {match[2]}: {why}")
    faults += [f"{folder}:1: error: holds {count} sources: more than {kMostSources} want rooms"
               for folder, count in sources.items() if count > kMostSources]
    faults += [f"{name}:1: error: includes {header} no more: take the row out of kExceptions"
               for name, header in sorted(excepted)]
    print("\n".join(faults) or f"{files} files include only what their folder may know")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

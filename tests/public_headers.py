#!/usr/bin/env python3
"""Holds the public headers to their promise: each that users include compiles alone and without a warning, all together do so under every
compiler, as do their templates (public_templates.cpp); together they stay small, and reach no header of MLIR, LLVM or CUDA.
The first compiler, which the build does not use, takes the examples too.
Those of the C API compile as strict C99, too, and name all that is theirs tile_.
What users read begins with what they want: machinery is in include/tile/detail, names are of their side's casing
(docs/decisions/0024-names-of-language-and-host.md), lines have 100 columns at most.

The size is bounded in preprocessed lines of all headers together and not in seconds, which would depend on the machine:
70,000 lines take a compiler about half a second."""
import pathlib
import re
import subprocess
import sys
import tempfile

kMaxLines = 70_000
kForeign = re.compile(
    r'^# \d+ "([^"]*/(?:mlir|mlir-c|llvm|llvm-c|cuda)/[^"]*|[^"]*/(?:cuda|nvrtc|nvJitLink)[^/"]*\.h)"', re.M)
# Lines of a `namespace detail` that a header outside of detail/ may have: declarations, not definitions.
kMaxMachinery = 12
kMaxColumns = 100
# With which most other headers begin.
kBeginnings = ("tile/autograd/Variable.h", "tile/Tensor.h", "tile/Value.h")
# What kernels are written with is snake_case, all else lowerCamel.
kLanguage = {f"tile/{name}.h" for name in (
    "Atomics", "Callable", "Const", "Control", "Debug", "Facts", "Foreign", "Grid", "Hinted", "Hints", "Kernel", "Ops",
    "Random", "Reduce", "Shape", "Specialize", "Value", "View")}
# Those of the C API.
kOfC = re.compile(r"tile/(tile_c|c/\w+)\.h")
# Of the host's side: Types.h, and what Arg says to the tracer.
kHostsWords = {"isFloat", "isStaged", "asInt", "asDouble"}
kDeclaration = re.compile(r"(?:\b(\w+)|[>&*\]]) +[&*]*([a-z]\w*)\(")  # the word before, and the name
kDetail = re.compile(r"^namespace [\w:]*detail \{.*?^\}[^\n]*$", re.M | re.S)
include = pathlib.Path(__file__).resolve().parent.parent / "include"
templates = pathlib.Path(__file__).resolve().parent / "public_templates.cpp"
examples = include.parent / "examples"


def compile_source(compiler, source, *arguments, language=("-x", "c++", "-std=c++20"), before=()):
    command = [compiler, *language, *before, f"-I{include}", "-Wall", "-Wextra", "-Werror", *arguments]
    return subprocess.run(command if source is None else [*command, "-"], input=source, text=True, capture_output=True)


def faults_together(compiler, headers):
    """What is wrong with all headers in one source, and with their templates."""
    everything = "".join(f"#include <{header}>\n" for header in headers)
    for name, source in ("all headers in one source", everything), (templates.name, templates.read_text()):
        result = compile_source(compiler, source, "-fsyntax-only")
        if result.returncode:
            yield f"{name}: does not compile with {compiler}:\n{result.stderr}"
    text = compile_source(compiler, everything, "-E").stdout
    lines = sum(1 for line in text.splitlines() if line and not line.startswith("#"))
    if lines > kMaxLines:
        yield f"the public headers: {lines} preprocessed lines with {compiler}, at most {kMaxLines}: include less"
    for foreign in sorted(set(kForeign.findall(text))):
        if not pathlib.Path(foreign).is_relative_to(include):
            yield f"the public headers reach {foreign}; they need no MLIR, LLVM or CUDA"


def precompiled(compiler, header, folder):
    """The words with which g++ reads `header` before a source, from a .gch in `folder`; if it does not compile it is read as text,
    and the source refused."""
    source = pathlib.Path(folder, header.replace("/", "-"))  # g++ makes no .gch from its standard input
    source.write_text(f"#include <{header}>\n")
    compile_source(compiler, None, source, "-o", f"{source}.gch", language=("-x", "c++-header", "-std=c++20"))
    return ["-include", source]


def faults_of_examples(compiler):
    """Which examples `compiler` refuses. The project examples/app is built by tests/package; examples/ahead and the last
    lesson include headers that the build makes. What most begin with is compiled once."""
    with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
        words = precompiled(compiler, "tile/tile.h", folder)
        for path in sorted(path for path in examples.rglob("*.cpp") if path.parent.name not in ("app", "ahead") and
                           "lesson_8" not in path.name):
            text = path.read_text()
            begins = re.search(r"^#.*", text, re.M)[0] == "#include <tile/tile.h>"
            result = compile_source(compiler, text, "-fsyntax-only", f"-I{examples.parent}", '-DTILE_EXAMPLES_DATA=""',
                                    before=words if begins else [])
            if result.returncode:
                yield f"{path.relative_to(examples.parent)}: does not compile with {compiler}:\n{result.stderr}"


def faults_of_kernels(compiler):
    """Which lessons show a kernel that needs more than what lesson 1 says, <tile/tile.h>."""
    for path in sorted((examples / "tutorial").glob("lesson_*.cpp")):
        kernels = re.findall(r"^// \[kernel\]\n(.*?)^// \[end\]", path.read_text(), re.M | re.S)
        source = "#include <tile/tile.h>\nusing namespace tile;\n" + "".join(kernels)
        result = compile_source(compiler, source, "-fsyntax-only", "-Wno-unused-variable")
        if kernels and result.returncode:
            yield f"the kernel of {path.name} needs more than <tile/tile.h> with {compiler}:\n{result.stderr}"


def faults_alone(compiler, headers):
    """What is wrong with the headers, each compiled alone. What one begins with may be read before it, from a file that others
    have in common: it is what the compiler reads first either way."""
    with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
        words = {header: precompiled(compiler, header, folder) for header in kBeginnings}
        for header in headers:
            first = next((each for each in beginnings(header) if each in words), None)
            yield from faults(compiler, header, words.get(first, []))


def faults(compiler, header, words):
    """The sentences that say what is wrong with `header` under `compiler`, which `words` tell what to read before it."""
    result = compile_source(compiler, f"#include <{header}>\n", "-fsyntax-only", before=words)
    if result.returncode:
        yield f"<{header}> does not compile alone with {compiler}:\n{result.stderr}"
    if kOfC.fullmatch(header):
        result = compile_source(compiler, f"#include <{header}>\n", "-fsyntax-only", "-pedantic",
                                language=("-x", "c", "-std=c99"))
        if result.returncode:
            yield f"<{header}> is not C99 for {compiler}:\n{result.stderr}"


def first_include(header):
    """The public header that `header` begins with, if any: to compile the one is to compile the other, alone, first."""
    directives = re.findall(r"^#(?!pragma once).*", (include / header).read_text(), re.M)
    begins = re.match(r"#include <(tile/[^>]+)>$", directives[0]) if directives else None
    is_of_one_language = begins and bool(kOfC.fullmatch(header)) == bool(kOfC.fullmatch(begins[1]))
    return begins[1] if is_of_one_language else None


def beginnings(header):
    """The headers that `header` begins with, the largest first."""
    while header := first_include(header):
        yield header


def public_part(text):
    """What of a header users may name: without comments, texts, macros, detail and the private members of classes."""
    text = re.sub(r"//.*|\"[^\"\n]*\"|^#.*", "", text, flags=re.M)
    text = re.sub(r"^private:.*?^\};", "};", kDetail.sub("", text), flags=re.M | re.S)
    return re.sub(r"\b(?:static_assert|\w*_cast|__attribute__)\b", "", text)


def reading_faults(header):
    """What a reader of `header` should not meet."""
    text = (include / header).read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > kMaxColumns:
            yield f"<{header}>:{number}: {len(line)} columns, at most {kMaxColumns}"
    if "/detail/" in header:
        return
    machinery = max((len(block.splitlines()) for block in kDetail.findall(text)), default=0)
    if machinery > kMaxMachinery:
        yield f"<{header}>: {machinery} lines of detail, at most {kMaxMachinery}: move them to include/tile/detail"
    kind, wrong = ("language", r"[a-z0-9][A-Z]") if header in kLanguage else ("host API", r"[a-z]_[a-z]")
    declared = {name for word, name in kDeclaration.findall(public_part(text)) if word not in ("return", "else")}
    if kOfC.fullmatch(header):
        kind, wrong = "C API", r"^(?!tile_[a-z0-9_]+$)"
    for name in sorted(declared - kHostsWords):
        if re.search(wrong, name) and not name.startswith("float8_"):
            yield f"<{header}>: {name} is not of the {kind}'s casing (docs/decisions/0024)"


def main(compilers):
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    found = [fault for header in headers for fault in reading_faults(header)]
    public = [header for header in headers if "/detail/" not in header]
    known = {first_include(header) for header in public}
    found += faults_alone(compilers[0], [header for header in public if header not in known])
    found += [fault for compiler in compilers for fault in faults_together(compiler, headers)]
    found += faults_of_examples(compilers[0])
    found += faults_of_kernels(compilers[0])
    print("\n".join(found) or f"{len(headers)} public headers pass with {' and '.join(compilers)}, "
          f"the examples with {compilers[0]}")
    return 1 if found or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["g++"]))

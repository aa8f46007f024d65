#!/usr/bin/env python3
"""Holds the conventions that rot unseen: each pass has a source and a lit test of its name that runs
it, each op of our dialects is described with an example, each public op of tensors is in the table of
tests/ops whose rows are called with wrong arguments, and each option of the language in the tables of tests/options."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
kTblgen, kIncludes = "/usr/lib/llvm-22/bin/llvm-tblgen", ["/usr/lib/llvm-22/include"]
kPass = re.compile(r'^def\s+(\w+)\s*:\s*\w*Pass<\s*"([\w-]+)"', re.M)


def pass_faults():
    passes = [(td.parent, *match) for td in root.glob("*/Passes.td")
              for match in kPass.findall(td.read_text())]
    for folder, name, argument in passes:
        if not any(folder.rglob(f"{name}.cpp")):
            yield f"pass {name}: {folder.name}/{name}.cpp is missing"
        test = f"{argument.removeprefix('tile-')}.mlir"
        runs = re.compile(rf"RUN:.*--?(pass-pipeline=.*)?{re.escape(argument)}\b(?!-)")
        if not any(runs.search(path.read_text()) for path in (root / "tests").rglob(test)):
            yield f"pass {name}: no tests/**/{test} with a RUN line that names {argument}"


def ops_of(td, tblgen=kTblgen, includes=kIncludes):
    """The op records of a file and those it includes, each as a dictionary of its fields."""
    command = [tblgen, "--dump-json", f"-I{root}", *(f"-I{path}" for path in includes), str(td)]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [records[name] for name in records["!instanceof"].get("Op", [])]


def op_faults(tblgen, includes):
    seen = set()
    for td in sorted((root / "ir").rglob("*Ops.td")):
        for op in ops_of(td, tblgen, includes):
            name = f"{op['opDialect']['def']}.{op['opName']}"
            if name in seen:
                continue
            seen.add(name)
            if not op.get("summary"):
                yield f"op {name} has no summary"
            if "```" not in (op.get("description") or ""):
                yield f"op {name}: the description has no example between ``` lines"
    if not seen:
        yield "no ops were found in ir/**/*Ops.td"


kPublicOp = re.compile(r"^(?:template <.*>\s)?(?:void|Tensor|[A-Z]\w*) (\w+)\((?:const Stream &|CallSite )\w+,\s", re.M)


def public_op_faults():
    table = "".join(path.read_text() for path in (root / "tests/ops").glob("Public*Ops.cpp"))
    for header in sorted((root / "include/tile/ops").glob("*.h")):
        public = re.sub(r"^namespace detail \{.*?^\} // namespace detail", "", header.read_text(), flags=re.M | re.S)
        for name in sorted(set(kPublicOp.findall(public))):
            if f'"{name}"' not in table:
                yield f"op {name} of {header.name}: no row in tests/ops/Public*Ops.cpp"


# A public option is a field of these structs, an enumerator of these enums, a hint, a setting of a launch or a method of a loop.
kOptionStructs = re.compile(r"^struct (Access|Dot|Atomic|Reduce|Scan|Ptx)Options \{(.*?)^\};", re.M | re.S)
kOptionField = re.compile(r"^  [\w:]+ (\w+) = [\w:]+;", re.M)
kOptionEnums = re.compile(r"^enum class (Cache|Evict|CopyBy|Precision|Mma|MemorySem|MemoryScope)\b[^{]*\{(.*?)\}", re.M | re.S)
kHint = re.compile(r"^(?:void|int) (\w+)\(", re.M)
kSetting = re.compile(r"^  \[\[nodiscard\]\] (?:Launcher|Range) (\w+)\(", re.M)


def public_options():
    """Each option as a program writes it: what a row of tests/options must have in its text."""
    include = root / "include/tile"
    for header in sorted(include.glob("*.h")):
        text = header.read_text()
        for _, body in kOptionStructs.findall(text):
            yield from ((header, f".{field} =") for field in kOptionField.findall(body))
        for enum, body in kOptionEnums.findall(text):
            yield from ((header, f"{enum}::{name.split('=')[0].strip()}") for name in body.split(","))
    for name in kHint.findall((include / "Hints.h").read_text()):
        yield include / "Hints.h", f"hint::{name}("
    for header in (include / "Kernel.h", include / "Control.h"):
        yield from ((header, f".{name}(") for name in kSetting.findall(header.read_text()))


def option_faults():
    rows = "".join(path.read_text() for path in (root / "tests/options").glob("*Test.cpp"))
    options = list(public_options())
    if len(options) < 50:
        yield f"only {len(options)} options were found in include/tile: the patterns no longer fit the headers"
    for header, option in options:
        if option not in rows:
            yield f"option {option} of {header.name}: no row in tests/options/*Test.cpp"


def switch_faults():
    """The optional passes are those of docs/switches.md."""
    listed = set(re.findall(r'^      \{"([a-z-]+)",', (root / "passes/PassSwitches.cpp").read_text(), re.M))
    text = (root / "docs/switches.md").read_text()
    table = text[text.index("| pass | "):].split("\n\n")[0]
    told = set(re.findall(r"`([a-z-]+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:])))
    for name in sorted(listed ^ told):
        yield f"optional pass {name}: " + ("no row in docs/switches.md" if name in listed else "docs/switches.md has it, PassSwitches.cpp has not")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tblgen", default=kTblgen)
    parser.add_argument("--include", nargs="*", default=kIncludes)
    arguments = parser.parse_args()
    faults = [*pass_faults(), *op_faults(arguments.tblgen, arguments.include), *public_op_faults(),
              *option_faults(), *switch_faults()]
    print("\n".join(faults) or "every pass is tested under its name, every op has an example, public ops a row of wrong arguments, options a row, optional passes one in docs/switches.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

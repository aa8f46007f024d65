#!/usr/bin/env python3
"""Holds what passes/Passes.td and codegen/Passes.td say of the order of passes against the Pipeline.cpp beside each, and what the
dialect says of its attributes against the names that code gives them: each pass runs after those that it relies on and before those
that it says it comes before, and TileGpuDialect.td names all attributes `tilegpu.*` and no others."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
kPass = re.compile(r'^def (\w+) : Pass<"tile-.*?(?=^def |\Z)', re.M | re.S)
kAfter = re.compile(r"Relies on:\s+(.*?)\.(?:\s|$)", re.S)
kBefore = re.compile(r"\bBefore\s+(\w+)")
kAttribute = re.compile(r'Name = "(tilegpu\.[a-z_]+)"')


def pass_faults(folder):
    page = (root / folder / "Pipeline.cpp").read_text()
    order = re.findall(r"\bcreate(\w+?)(?:Pass)?\(", page)
    passes = {found.group(1): found.group(0) for found in kPass.finditer((root / folder / "Passes.td").read_text())}
    for name, text in passes.items():
        if name not in order:
            yield f"{name}: {folder}/Pipeline.cpp does not run it"
            continue
        after = {other for said in kAfter.findall(text) for other in re.findall(r"\w+", said) if other in passes}
        before = {other for other in kBefore.findall(text) if other in passes}
        yield from (f"{name} relies on {other}, which runs after it" for other in after if order.index(other) > order.index(name))
        yield from (f"{name} says it runs before {other}, which runs before it" for other in before if order.index(other) < order.index(name))


def attribute_faults():
    names = {name for path in (root / "ir").rglob("*Annotations.cpp") for name in kAttribute.findall(path.read_text())}
    description = (root / "ir/gpu/TileGpuDialect.td").read_text().split("let description = [{")[1].split("}];")[0]
    told = set(re.findall(r"`(tilegpu\.[a-z_]+)`", description))
    yield from (f"TileGpuDialect.td: does not name the attribute {name}" for name in sorted(names - told))
    yield from (f"TileGpuDialect.td: there is no attribute {name}" for name in sorted(told - names))


def main():
    faults = [*pass_faults("passes"), *pass_faults("codegen"), *attribute_faults()]
    print("\n".join(faults) or "passes run in the order that Passes.td tells, and the dialect names its attributes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

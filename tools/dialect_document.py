#!/usr/bin/env python3
"""docs/dialects/tile.md and docs/dialects/tilegpu.md: the reference of the two dialects, made from the .td files below ir.

mlir-tblgen writes what operations, attributes, types and enums are; this puts operations of one .td file together in the order of that
file, and says in a line what it says in tables of C++ types.

Without arguments: fails if a document is out of date.
--update (or TILE_UPDATE_GOLDEN=1): writes the documents."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

kRoot = pathlib.Path(__file__).resolve().parent.parent
kTools, kIncludes = "/usr/lib/llvm-22/bin", ["/usr/lib/llvm-22/include"]
kDialects = {"tile": "ir/tile/TileOps.td", "tilegpu": "ir/gpu/TileGpuOps.td"}
kEffects = {"Read": "reads", "Write": "writes", "Allocate": "allocates"}
kCppTypes = {"::llvm::ArrayRef": "list of ", "::mlir::": "", "::tile::gpu::": "", "::tile::ir::": "", "int32_t": "i32", "int64_t": "i64",
             "bool": "i1"}
# mlir-tblgen's description of a constraint -> ours.
kConstraints = {" attribute": "", "32-bit signless integer": "i32", "1-bit signless integer": "i1", "64-bit signless integer": "i64",
                "8-bit signless integer": "i8", " whose minimum value is": " from", " whose maximum value is": " to", " values": "",
                " dense array": " list", "unit": "flag"}

# What an entry of a document is made from: mlir-tblgen's summary, text, syntax, and rows of its tables.
Entry = collections.namedtuple("Entry", "summary text syntax tables effects traits")


# --- What the tools say -----------------------------------------------------------------------------------------------------

def records_of(td, tools, includes):
    """The records of a file and of those it includes, by name."""
    command = [f"{tools}/llvm-tblgen", "--dump-json", f"-I{kRoot}", *(f"-I{path}" for path in includes), kRoot / td]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def reference_of(dialect, td, tools, includes):
    """mlir-tblgen's document: the text before its first section, and by section the entries of it by name."""
    command = [f"{tools}/mlir-tblgen", "-gen-dialect-doc", f"-dialect={dialect}", f"-I{kRoot}", *(f"-I{path}" for path in includes),
               kRoot / td]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    head, *sections = re.split(r"^## (\w+)\n", made, flags=re.M)
    found = {}
    for name, body in zip(sections[::2], sections[1::2]):
        parts = re.split(r"^### (.+)\n", body, flags=re.M)[1:]
        found[name] = {re.sub(r"`(\S+)`.*", r"\1", entry): entry_of(text) for entry, text in zip(parts[::2], parts[1::2])}
    return re.sub(r"<!--.*?-->|^# .*|\[TOC\]", "", head, flags=re.M).strip(), found


def entry_of(text):
    tables = dict(re.findall(r"^#### (\w+):\n(.*?)(?=^#### |\Z)", text, re.M | re.S))
    text = text.split("\n#### ")[0]
    effects = re.search(r"^Effects: `(.*)`$", text, re.M)
    traits = re.search(r"^Traits: (.*)$", text, re.M)
    text = re.sub(r"^(Effects|Traits|Interfaces): .*\n", "", text, flags=re.M)
    syntax = re.search(r"^Syntax:\n\n```\n(.*?)^```$", text, re.M | re.S)
    text = text.replace(syntax[0], "") if syntax else text
    summary = re.search(r"^_(.*)_$", text, re.M)
    text = text.replace(summary[0], "", 1) if summary else text
    return Entry(summary[1] if summary else "", text.strip(), syntax[1].rstrip() if syntax else "",
                 {name: rows_of(table) for name, table in tables.items()}, effects[1] if effects else None, traits[1] if traits else "")


def rows_of(table):
    """The cells of a table in Markdown or HTML, without its head."""
    rows = re.findall(r"^<tr><td><code>(.*?)</code></td><td>(.*?)</td><td>(.*?)</td></tr>$", table, re.M | re.S)
    if rows:
        return [[cell.split("<details>")[0] for cell in row] for row in rows]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.strip().split("\n")[2:]]


# --- What a document says ---------------------------------------------------------------------------------------------------

def replaced(text, table):
    for old, new in table.items():
        text = text.replace(old, new)
    return text


def cpp_type(text):
    return re.sub(r"list of <(.*)>", r"list of \1", replaced(text, kCppTypes))


def effects_of(entry):
    """A sentence on memory; of operations without a word of their own on it none."""
    if entry.effects is None:
        return "As its body does." if "RecursiveMemoryEffects" in entry.traits else ""
    found = collections.defaultdict(list)
    for effect, resource in re.findall(r"MemoryEffects::(\w+) on ([\w:]+)", entry.effects):
        found["shared memory" if resource.endswith("SharedMemory") else "any memory"].append(kEffects[effect])
    if not found:
        return "Touches no memory."
    sentence = ", ".join(f"{' and '.join(effects)} {resource}" for resource, effects in found.items())
    return sentence[0].upper() + sentence[1:] + "."


def default_of(value, enums):
    """A default in C++ as the IR has it, where it is of an enum."""
    *_, enum, name = ["", *value.split("::")]
    return next((word for symbol, _, word in enums[enum].tables["Cases"] if symbol == name), name) if enum in enums else name


def arguments_of(record, records, enums):
    """Name -> "optional" or its default, of an operation's arguments that have either."""
    found = {}
    for kind, name in record["arguments"]["args"]:
        constraint = records[kind["def"]]
        if constraint.get("defaultValue"):
            found[name] = "default " + default_of(constraint["defaultValue"], enums)
        elif constraint.get("isOptional") or "Optional" in constraint["!superclasses"]:
            found[name] = "optional"
    return found


def types_of(records):
    """The summary of each type of ours, by which mlir-tblgen calls it, and its name in the IR."""
    types = [records[name] for name in records["!instanceof"]["TypeDef"]]
    return {type["summary"]: f"`!{records[type['dialect']['def']]['name']}.{type['mnemonic']}`" for type in types}


def constraint_of(text, records):
    """What a value may be; the types of a tile's elements once, by the name that the dialect gives them."""
    text = re.sub(r"(\btile of .*?) of .*", r"\1", replaced(text, types_of(records) | kConstraints))
    return text[:1].lower() + text[1:]


def operands_of(entry, record, records, enums):
    """Rows of a table on what goes in and out."""
    extra = arguments_of(record, records, enums)
    for title, kind in (("Operands", "operand"), ("Attributes", "attribute"), ("Results", "result")):
        for name, *_, what in entry.tables.get(title, []):
            what = constraint_of(what, records)
            if name in extra and what != "flag":
                what += ", " + extra[name]
            yield f"| {kind} | `{name}` | {what} |"


def operation(name, entry, record, records, enums):
    yield f"### `{name}`\n\n_{entry.summary}_\n"
    if entry.text:
        yield entry.text + "\n"
    if entry.syntax:
        yield "Syntax:\n```\n" + entry.syntax.removeprefix("operation ::= ") + "\n```\n"
    rows = list(operands_of(entry, record, records, enums))
    if rows:
        yield "\n".join(["| | name | |", "|---|---|---|", *rows]) + "\n"
    if effects := effects_of(entry):
        yield f"Memory: {effects[0].lower()}{effects[1:]}\n"


def head_of(td):
    """The comment at the top of a file, as a paragraph."""
    lines = []
    for line in td.read_text().split("\n"):
        if not line.startswith("//"):
            return " ".join(lines)
        lines.append(line.removeprefix("//").strip())
    return " ".join(lines)


def topics_of(records):
    """.td file -> its operations, in its order."""
    found = collections.defaultdict(list)
    for name in records["!instanceof"]["Op"]:
        file, line = records[name]["!locs"][0].split(":")[:2]
        found[file].append((int(line), name))
    return {file: [name for _, name in sorted(ops)] for file, ops in sorted(found.items())}


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def operations(dialect, folder, entries, records, enums):
    topics = topics_of(records)
    yield "| defined in | operations |\n|---|---|"
    for file, names in topics.items():
        links = ", ".join(f"[`{records[name]['opName']}`](#{anchor(dialect + '.' + records[name]['opName'])})" for name in names)
        yield f"| [{file}](../../{folder}/{file}) | {links} |"
    yield ""
    for file, names in topics.items():
        yield f"## {file}\n\n{head_of(kRoot / folder / file)}\n"
        for name in names:
            op = f"{dialect}.{records[name]['opName']}"
            yield from operation(op, entries.pop(op), records[name], records, enums)
    if entries:
        sys.exit(f"mlir-tblgen has operations that llvm-tblgen has not: {', '.join(entries)}")


def definitions(title, mark, dialect, entries, records):
    """Attributes or types."""
    yield f"## {title}\n"
    kind = {"Attributes": "AttrDef", "Types": "TypeDef"}[title]
    mnemonics = {records[name]["cppClassName"]: records[name]["mnemonic"] for name in records["!instanceof"].get(kind, [])}
    for name, entry in entries.items():
        parts = ", ".join(f"`{part}` ({cpp_type(type)})" for part, type, *_ in entry.tables.get("Parameters", []))
        yield f"### `{mark}{dialect}.{mnemonics[name]}`\n\n_{entry.summary}_\n\n{entry.text}\n"
        yield f"Parameters: {parts}.\n"


def enums_of(entries):
    yield "## Enums\n\n| enum | what it says | words |\n|---|---|---|"
    for name, entry in entries.items():
        words = ", ".join(f"`{word}`" for _, _, word in entry.tables["Cases"])
        yield f"| {name} | {entry.summary[:1].lower() + entry.summary[1:]} | {words} |"
    yield ""


def document(dialect, td, tools, includes):
    records = records_of(td, tools, includes)
    head, sections = reference_of(dialect, td, tools, includes)
    summary, _, text = head.partition("\n")
    return "\n".join([f"# The dialect `{dialect}`\n", summary + "\n", text.strip() + "\n",
                      "This page is made from the .td files by tools/dialect_document.py. Examples run as tests.\n",
                      *operations(dialect, os.path.dirname(td), sections["Operations"], records, sections["Enums"]),
                      *definitions("Attributes", "#", dialect, sections["Attributes"], records),
                      *definitions("Types", "!", dialect, sections["Types"], records),
                      *enums_of(sections["Enums"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", default=os.environ.get("TILE_UPDATE_GOLDEN") == "1")
    parser.add_argument("--tools", default=kTools, help="the folder of mlir-tblgen and llvm-tblgen")
    parser.add_argument("--include", nargs="+", default=kIncludes)
    arguments = parser.parse_args()
    status = 0
    for dialect, td in kDialects.items():
        path = kRoot / f"docs/dialects/{dialect}.md"
        made = document(dialect, td, arguments.tools, arguments.include)
        if arguments.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made)
        elif not path.exists() or path.read_text() != made:
            print(f"{path.relative_to(kRoot)} is not what the .td files say: tools/dialect_document.py --update writes it")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

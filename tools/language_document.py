#!/usr/bin/env python3
"""docs/language.md: its tables are made from the public headers and from tests/language/Examples.cpp.

Without arguments: fails if the document is out of date, or if an operation has no example.
--update (or TILE_UPDATE_GOLDEN=1): rewrites the tables.

The document says where tables go:
  <!-- operations HEADER: SECTION -->   every public function of that section of include/tile/HEADER.h
  <!-- operations HEADER -->            of the whole header
  <!-- examples: NAME; NAME -->         examples of what is no function
Each is followed by its table and <!-- end -->.
"""
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/language.md"
EXAMPLES = ROOT / "tests/language/Examples.cpp"
# For structured bindings, not for people.
HIDDEN = {"get"}


@dataclass
class Operation:
    name: str
    section: str
    comment: str
    signatures: list = field(default_factory=list)


def simplified(declaration):
    """`Value exp(Arg x, Loc loc = Loc::here())` is `exp(x)` to a reader."""
    name, parameters = re.match(r".*?(\w+)\((.*)\)", declaration, re.S).groups()
    names = []
    depth, start = 0, 0
    for at, letter in enumerate(parameters + ","):
        depth += (letter in "<({") - (letter in ">)}")
        if letter == "," and depth == 0:
            parameter = parameters[start:at].strip()
            start = at + 1
            if not parameter or parameter.startswith("Loc "):
                continue
            bare = re.sub(r"\s*=.*", "", parameter, flags=re.S)
            names.append(re.findall(r"\w+", bare)[-1])
    return f"{name}({', '.join(names)})"


def declarations(header):
    """Free functions of namespace tile, in order. A comment is about all that follow it up to a
    blank line or the next comment."""
    text = (ROOT / "include/tile" / f"{header}.h").read_text()
    operations, section, comment, depth, skipped, wasComment = {}, "", "", 0, None, False
    inner = re.search(r"^namespace tile::(\w+)", text, re.M)
    prefix = inner.group(1) + "::" if inner else ""
    lines = iter(text.splitlines())
    for line in lines:
        isBlank = not line.strip()
        line = re.sub(r"^template <[^>]*> ?", "", line)
        heading = re.match(r"// --- (.+?) -+$", line)
        if heading:
            section = heading.group(1)
        if line.startswith("///"):
            comment = (comment + " " if wasComment else "") + line[3:].strip()
        elif isBlank:
            comment = ""
        wasComment = line.startswith("///")
        if line.startswith("namespace detail"):
            skipped = depth
        start = re.match(r"(?!class|struct|return|using|namespace|requires|inline|constexpr|friend|enum|extern|/)"
                         r"(?:\[\[nodiscard\]\] )?[A-Z_a-z][\w:<>, ]*\s[&*]?(\w+)\(", line)
        if depth == 1 and skipped is None and start and start.group(1) not in HIDDEN:
            while not re.search(r"[;{}]\s*$", line):
                line += " " + next(lines).strip()
            name = prefix + start.group(1)
            operation = operations.setdefault(name, Operation(name, section, ""))
            if comment and comment not in operation.comment:
                operation.comment = (operation.comment + " " + comment).strip()
            operation.signatures.append(prefix + simplified(line))
        depth += line.count("{") - line.count("}")
        if skipped is not None and depth <= skipped and "}" in line:
            skipped = None
    return operations


def examples():
    """name -> list of (text, elements)."""
    found = {}
    text = re.sub(r"//.*", "", EXAMPLES.read_text())
    for kind, name, rest in re.findall(r'^ +(EXAMPLE|BODY)\("([^"]+)", (.*)\),$', text, re.M):
        if kind == "BODY":
            code, elements = rest.rsplit(";,", 1)
            before, _, shown = code.rpartition("return ")  # those before are of lambdas
            code = before + shown
        else:
            depth, at = 0, 0
            for at, letter in enumerate(rest):
                depth += (letter in "({[") - (letter in ")}]")
                if letter == "," and depth == 0:
                    break
            code, elements = rest[:at], rest[at + 1:]
        found.setdefault(name, []).append((code.strip(), " ".join(elements.replace(",", " ").split())))
    return found


def cell(text):
    return text.replace("|", "\\|")


def shown(name, known):
    return "<br>".join(f"`{cell(code)}` → {elements}" for code, elements in known.get(name, []))


def operations_table(header, section, known, problems, documented):
    rows = ["| operation | meaning | example |", "|---|---|---|"]
    for operation in declarations(header).values():
        if section and operation.section != section:
            continue
        documented.add(operation.name)
        if operation.name not in known:
            problems.append(f"{header}.h: {operation.name} has no example in {EXAMPLES.name}")
        if not operation.comment:
            problems.append(f"{header}.h: {operation.name} has no comment")
        signatures = "<br>".join(f"`{one}`" for one in dict.fromkeys(operation.signatures))
        rows.append(f"| {signatures} | {cell(operation.comment)} | {shown(operation.name, known)} |")
    if len(rows) == 2:
        problems.append(f"{header}.h has no section '{section}'")
    return rows


def made(document, problems):
    known, documented, out = examples(), set(), []
    lines = iter(document.splitlines())
    for line in lines:
        out.append(line)
        marker = re.match(r"<!-- (operations|examples):? (.+?) -->$", line)
        if not marker:
            continue
        kind, what = marker.groups()
        if kind == "operations":
            header, _, section = what.partition(": ")
            out += operations_table(header, section, known, problems, documented)
        else:
            names = what.split("; ")
            documented.update(names)
            out += ["| | example |", "|---|---|"]
            out += [f"| `{cell(name)}` | {shown(name, known)} |" for name in names]
        for line in lines:
            if line == "<!-- end -->":
                break
        out.append("<!-- end -->")
    problems += [f"the example of {name} stands nowhere" for name in known if name not in documented]
    return "\n".join(out) + "\n"


def main():
    problems, document = [], DOCUMENT.read_text()
    fresh = made(document, problems)
    if "--update" in sys.argv or os.environ.get("TILE_UPDATE_GOLDEN"):
        DOCUMENT.write_text(fresh)
    elif fresh != document:
        problems.append("docs/language.md is out of date: run tools/dev golden")
    print("\n".join(problems) or "every operation is documented with an example")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

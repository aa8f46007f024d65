#!/usr/bin/env python3
"""docs/language.md: its tables are made from the public headers and from tests/language/Examples.cpp.

Without arguments: fails if the document is out of date, or if an operation has no example.
--update (or TILE_UPDATE_GOLDEN=1): rewrites the tables.

The document says where tables go:
  <!-- operations HEADER: SECTION -->   every public function of that section of include/tile/HEADER.h
  <!-- operations HEADER -->            of the whole header
  <!-- examples: NAME; NAME -->         examples of what is no function
  <!-- members HEADER: CLASS -->         every public function of a class that has a comment
  <!-- types HEADER: NAME; NAME -->      enumerations and structures, with what each of them has
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
            signature = prefix + simplified(line)
            if comment and comment not in operation.comment:
                # What is said of another form of the operation says of which.
                form = f"`{signature}`: " if operation.comment and signature not in operation.signatures else ""
                operation.comment = f"{operation.comment} {form}{comment}".strip()
            operation.signatures.append(signature)
        depth += line.count("{") - line.count("}")
        if skipped is not None and depth <= skipped and "}" in line:
            skipped = None
    return operations


def body_of(header, kind, name):
    """The lines of a class, structure or enumeration, and the comment before it."""
    text = (ROOT / "include/tile" / f"{header}.h").read_text()
    found = re.search(rf"((?:^///[^\n]*\n)*)^{kind} {name}\b[^;{{]*\{{(.*?)\}};", text, re.M | re.S)
    if not found:
        return None
    comment = " ".join(line[3:].strip() for line in found[1].splitlines())
    return comment, found[2]


def members(header, name):
    """(signature, comment) of the public functions of a class, in order."""
    text = (ROOT / "include/tile" / f"{header}.h").read_text()
    inside = re.search(rf"^(?:template <[^>]*> )?class {name}\b[^;{{]*\{{\n(.*?)^\}};", text, re.M | re.S)
    found, comment = [], ""
    for line in re.split(r"^private:", inside[1] if inside else "", flags=re.M)[0].splitlines():
        if line.startswith("  ///"):
            comment += " " + line.strip()[3:].strip()
            continue
        isTemplate = line.startswith("  template")
        line = re.sub(r"^  template <[^>]*> ", "  ", line)
        start = re.match(r"  (?:\[\[nodiscard\]\] )?[\w:<>,. ]+\s[&*]?(\w+)\(", line)
        if start and comment and not comment.startswith(" For the "):
            found.append((simplified(line[:line.rindex(")") + 1] if ")" in line else line + ")"), comment.strip()))
        if start or not isTemplate:
            comment = ""
    return found


def members_table(header, name, problems):
    rows = ["| | meaning |", "|---|---|"]
    rows += [f"| `{f'.{signature}'.replace('.operator', '')}` | {cell(comment)} |"
             for signature, comment in members(header, name)]
    if len(rows) == 2:
        problems.append(f"{header}.h: {name} has no public function with a comment")
    return rows


def fields_of(kind, body):
    """What of an enumeration or structure a reader may say: its words, or its fields with their defaults and comments."""
    if kind == "enum class":
        return ", ".join(f"`{word}`" for word in re.findall(r"(\w+)(?: = \d+)?(?:,|$)", " ".join(body.split())))
    fields, comment = [], ""
    for line in body.splitlines():
        field = re.match(r"\s+[\w:]+ (\w+) = ([^;]+);(?: *///< *(.*))?$", line)
        if line.strip().startswith("///"):
            comment += " " + line.strip()[3:].strip()
        elif field:
            about = (comment or " " + (field[3] or "")).strip()
            fields.append(f"`.{field[1]} = {field[2]}`" + (f": {about}" if about else ""))
            comment = ""
        else:
            comment = ""
    return "<br>".join(fields)


def types_table(header, names, problems):
    rows = ["| | meaning |", "|---|---|"]
    for name in names:
        for kind in "enum class", "struct":
            if found := body_of(header, kind, name):
                comment, body = found
                rows.append(f"| `{name}` | {cell(' '.join([comment, fields_of(kind, body)]).strip())} |")
                break
        else:
            problems.append(f"{header}.h has no type {name}")
    return rows


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
        marker = re.match(r"<!-- (operations|examples|members|types):? (.+?) -->$", line)
        if not marker:
            continue
        kind, what = marker.groups()
        if kind == "operations":
            header, _, section = what.partition(": ")
            out += operations_table(header, section, known, problems, documented)
        elif kind == "members":
            out += members_table(*what.split(": "), problems)
        elif kind == "types":
            header, _, names = what.partition(": ")
            out += types_table(header, names.split("; "), problems)
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

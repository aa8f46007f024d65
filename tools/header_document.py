#!/usr/bin/env python3
"""docs/ops.md, docs/autograd.md and docs/nn.md: their references are made from the public headers.

Without arguments: fails if a document is out of date, or leaves out a header.
--update (or TILE_UPDATE_GOLDEN=1): rewrites the references.

A document says where the reference of a header goes:
  <!-- header: ops/Reduce.h -->
and where a file goes as it is: <!-- file: examples/06_custom_gradient.cpp -->
Each is followed by what is made, and <!-- end -->.
"""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include/tile"
# Document -> the folder of headers that it must cover.
DOCUMENTS = {"docs/ops.md": "ops", "docs/autograd.md": "autograd", "docs/nn.md": "nn"}


def head_comment(lines):
    """The comment at the top of a header, as text."""
    comment = []
    for line in lines:
        if not line.startswith("//"):
            break
        comment.append(line[2:].removeprefix(" "))
    return prose(comment)


def prose(lines):
    """Comment lines as Markdown: indented ones are code, and what is said about shapes is a paragraph."""
    out, code = [], False
    for line in lines:
        isCode = line.startswith("  ")
        if isCode != code:
            out += ["```cpp"] if isCode else ["```"]
            code = isCode
        if out and out[-1] and re.match(r"(Shapes|Dtypes|Method|Errors|NaN|A NaN)\b.*?[:,]? ", line):
            out.append("")
        out.append(line[2:] if isCode else escaped(line))
    return "\n".join(out + (["```"] if code else []))


def escaped(line):
    """Names with asterisks or angle brackets are text, outside code."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([*<_])", r"\\\1", part) for part in parts)


def body_length(lines, at):
    """How many lines the declaration at `at` has, up to its semicolon or the end of its body."""
    depth = 0
    for end in range(at, len(lines)):
        code = re.sub(r"//.*", "", lines[end])
        depth += code.count("{") - code.count("}")
        if depth == 0 and re.search(r"[;}]\s*$", code):
            return end - at + 1
    return len(lines) - at


def declaration(lines):
    """What a reader needs of it: of functions the signature, of types all that is public."""
    text = "\n".join(lines)
    if re.match(r"(template <.*>\s*)?(class|struct)\b", text):
        text = re.sub(r"\n *(?=private:)private:.*?(?=\n};|$)", "", text, flags=re.S)
        return text
    text = re.sub(r"\)\s*(const)?\s*\{.*", r")\1;", text, flags=re.S)
    return re.sub(r",?\s*Loc loc = Loc::here\(\)", "", text)


def entries(lines):
    """(comment, [declarations]) of everything public that has a comment."""
    at, depth, comment, found = 0, 0, [], None
    while at < len(lines):
        line = lines[at]
        if line.startswith("namespace"):
            if "detail" in line:
                at = next(i for i in range(at, len(lines)) if lines[i].startswith("} // namespace") and "detail" in lines[i])
            at, comment, found = at + 1, [], None
        elif line.startswith("///"):
            if found is not None or not comment:
                comment = []
            comment.append(line[3:].removeprefix(" "))
            at, found = at + 1, None
        elif comment and line.strip() and not line.startswith(("//", "}", "#")):
            size = body_length(lines, at)
            if found is None:
                found = (comment, [])
                yield found
            found[1].append(declaration(lines[at:at + size]))
            at += size
        else:
            at, comment, found = at + 1, [], None


def reference(header):
    lines = (INCLUDE / header).read_text().splitlines()
    yield f"### {Path(header).name.removesuffix('.h')}"
    yield ""
    yield head_comment(lines)
    yield ""
    yield f"`#include <tile/{header}>`"
    for comment, declarations in list(entries(lines)):
        yield ""
        yield "```cpp"
        yield "\n".join(declarations)
        yield "```"
        yield ""
        yield prose(comment)


def made(document, covered):
    out, lines = [], iter(document.splitlines())
    for line in lines:
        out.append(line)
        marker = re.match(r"<!-- (header|file): (\S+) -->$", line)
        if not marker:
            continue
        kind, name = marker.groups()
        for old in lines:
            if old == "<!-- end -->":
                break
        if kind == "header":
            covered.add(name)
            out += reference(name)
        else:
            out += ["```cpp", (ROOT / name).read_text().rstrip(), "```"]
        out.append("<!-- end -->")
    return "\n".join(out) + "\n"


def main():
    update = "--update" in sys.argv or os.environ.get("TILE_UPDATE_GOLDEN") == "1"
    problems = []
    for name, folder in DOCUMENTS.items():
        covered, path = set(), ROOT / name
        before = path.read_text()
        after = made(before, covered)
        for header in sorted((INCLUDE / folder).glob("*.h")):
            if f"{folder}/{header.name}" not in covered:
                problems.append(f"{name} leaves out {folder}/{header.name}: add <!-- header: {folder}/{header.name} -->")
        if before == after:
            continue
        if update:
            path.write_text(after)
        else:
            problems.append(f"{name} is out of date: python3 tools/header_document.py --update")
    print("\n".join(problems) or f"{', '.join(DOCUMENTS)} say what the headers say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""docs/ops.md, docs/autograd.md, docs/nn.md, docs/graphs.md, docs/c.md, docs/aot.md and docs/tutorial: what they quote is made from the files they quote.

Without arguments: fails if a document is out of date, leaves out a header, or a region of a file it quotes.
--update (or TILE_UPDATE_GOLDEN=1): rewrites the quotations.

A document says what goes where:
  <!-- header: ops/Reduce.h -->                               the reference of a public header
  <!-- file: examples/06_custom_gradient.cpp -->              a file
  <!-- file: examples/tutorial/lesson_2_softmax.cpp kernel --> the lines between `// [kernel]` and `// [end]` in it
  <!-- output: examples/tutorial/lesson_2_softmax.output -->  what a program prints
Each is followed by what is made, and <!-- end -->.
"""
import os
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include/tile"
# Document -> the folder of headers that it must cover, if there is one.
DOCUMENTS = {"docs/ops.md": "ops", "docs/autograd.md": "autograd", "docs/nn.md": "nn", "docs/graphs.md": "",
             "docs/c.md": "", "docs/aot.md": "", "docs/from-triton.md": "", "docs/from-cuda.md": ""}


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


def regions(name):
    """The marked regions of a source: name -> lines. The region "" is the whole of it, without the marks."""
    found, region = {"": []}, None
    for line in (ROOT / name).read_text().splitlines():
        mark = re.match(r"\s*// \[(\w+)\]$", line)
        if mark and mark[1] == "end":
            region = None
        elif mark:
            region = mark[1]
        else:
            found[""].append(line)
            if region:
                found.setdefault(region, []).append(line)
    return found


def quoted(language, lines):
    return [f"```{language}", *textwrap.dedent("\n".join(lines)).strip("\n").split("\n"), "```"]


def quotation(kind, name, region):
    if kind == "header":
        return list(reference(name))
    if kind == "output":
        return quoted("text", (ROOT / name).read_text().splitlines())
    found = regions(name)
    if region not in found:
        raise SystemExit(f"{name} has no region {region}: mark it by `// [{region}]` and `// [end]`")
    return quoted("c" if name.endswith(".c") else "cpp", found[region])


def made(document, covered):
    """The document with its quotations as they should be; adds (kind, file, region) of each to `covered`."""
    out, lines = [], iter(document.splitlines())
    for line in lines:
        out.append(line)
        marker = re.match(r"<!-- (header|file|output): (\S+)(?: (\w+))? -->$", line)
        if not marker:
            continue
        kind, name, region = marker.group(1), marker.group(2), marker.group(3) or ""
        covered.add((kind, name, region))
        out += quotation(kind, name, region)
        for old in lines:
            if old == "<!-- end -->":
                break
        else:
            raise SystemExit(f"there is no <!-- end --> after <!-- {kind}: {name} -->")
        out.append("<!-- end -->")
    return "\n".join(out) + "\n"


def omissions(name, folder, covered):
    """Headers of the document's folder, and regions of files that it quotes, which it leaves out."""
    headers = sorted((INCLUDE / folder).glob("*.h")) if folder else []
    wanted = {("header", f"{folder}/{header.name}", "") for header in headers}
    for kind, file, _ in covered:
        if kind == "file" and (kind, file, "") not in covered:
            wanted |= {(kind, file, region) for region in regions(file) if region}
    for kind, file, region in sorted(wanted - covered):
        yield f"{name} leaves out {file} {region}".rstrip() + f": add <!-- {kind}: {file} {region}".rstrip() + " -->"


def main():
    update = "--update" in sys.argv or os.environ.get("TILE_UPDATE_GOLDEN") == "1"
    problems = []
    lessons = {path.relative_to(ROOT).as_posix(): "" for path in sorted((ROOT / "docs/tutorial").glob("*.md"))}
    for name, folder in (DOCUMENTS | lessons).items():
        covered, path = set(), ROOT / name
        before = path.read_text()
        after = made(before, covered)
        problems += omissions(name, folder, covered)
        if before == after:
            continue
        if update:
            path.write_text(after)
        else:
            problems.append(f"{name} is out of date: python3 tools/header_document.py --update")
    print("\n".join(problems) or f"{', '.join(DOCUMENTS)} and {len(lessons)} lessons say what the sources say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

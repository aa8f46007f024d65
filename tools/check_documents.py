#!/usr/bin/env python3
"""Holds what rots unseen in documents: each link between files of the repository leads to one, and to a heading that is there; each
path in backquotes that begins with a folder of ours and ends like a source is a file; docs/README.md lists every document, and
every record of docs/decisions once, under its own heading.

check_documents.py [ROOT] checks another tree."""
import pathlib
import re
import sys

kFence = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
kCode = re.compile(r"`[^`\n]*`")
kLink = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
kHeading = re.compile(r"^#+ (.+)$", re.M)
kForeign = re.compile(r"^[a-z]+:")
kEndings = "cpp|h|c|td|py|md|mlir|txt|cmake|sh|ll|ptx|json|npy|map"


def prose(text):
    """The text without its blocks of code."""
    return kFence.sub("", text)


def anchors(text):
    """What GitHub calls the headings of a document."""
    heads = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in kHeading.findall(prose(text)))
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def links(text):
    """The name and the target of each link in prose."""
    return kLink.findall(kCode.sub(lambda code: code[0].replace("](", "] ("), prose(text)))


def link_faults(path, text):
    for _, target in links(text):
        if kForeign.match(target):
            continue
        name, _, anchor = target.partition("#")
        other = path.parent / name if name else path
        if not other.exists():
            yield f"links to {target}, which does not exist"
        elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text()):
            yield f"links to {target}, but {other.name} has no such heading"


def path_faults(root, text):
    folders = "|".join(sorted(each.name for each in root.iterdir() if each.is_dir() and each.name not in ("build", ".git")))
    for name in re.findall(rf"`((?:{folders})/[\w./-]+\.(?:{kEndings}))`", prose(text)):
        if not (root / name).exists():
            yield f"names `{name}`, which does not exist"


def index_faults(root):
    index = root / "docs/README.md"
    listed = [(name, (index.parent / target.partition("#")[0]).resolve()) for name, target in links(index.read_text())
              if not kForeign.match(target)]
    targets = [path for _, path in listed]
    others = {index, *(root / "docs/decisions").glob("*.md")}
    for path in sorted({*(root / "docs").rglob("*.md")} - others):
        if path.resolve() not in targets:
            yield f"does not list {path.relative_to(root / 'docs')}"
    for path in sorted((root / "docs/decisions").glob("*.md")):
        heading = kHeading.search(path.read_text())[1]
        times = [name for name, target in listed if target == path.resolve()].count(heading)
        if times != 1:
            yield f"lists decision {path.name} {times} times under its heading, \"{heading}\""


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    documents = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    faults = [f"docs/README.md:1: error: {fault}" for fault in index_faults(root)]
    for path in documents:
        text = path.read_text()
        faults += [f"{path.relative_to(root)}:1: error: {fault}"
                   for fault in (*link_faults(path, text), *path_faults(root, text))]
    print("\n".join(faults) or f"{len(documents)} documents name files and documents that there are")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

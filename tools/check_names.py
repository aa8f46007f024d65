#!/usr/bin/env python3
"""Holds the one rule for names that a reader leans on: private data members end in `_`, or are constants `kName`, and no
public ones do. .clang-tidy says the same, but takes seconds a file; ctags takes one for the tree."""
import json
import pathlib
import re
import subprocess
import sys

# Folders and files that were written without. The list may only shrink: a row that needs no exception is an error.
kExempt = ("codegen", "passes")
kPrivate = re.compile(r"\w+_|k[A-Z]\w*")
root = pathlib.Path(__file__).resolve().parent.parent


def members():
    """The data members of all classes and structures."""
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], cwd=root, check=True, capture_output=True).stdout
    command = ["ctags", "-L", "-", "-f", "-", "--output-format=json", "--languages=C++", "--langmap=C++:.h.cpp",
               "--kinds-C++=m", "--fields=+aSn"]
    tags = subprocess.run(command, cwd=root, input=files, check=True, capture_output=True).stdout
    return [json.loads(line) for line in tags.splitlines()]


def exemption(path):
    """The row of kExempt that a file falls under, or None."""
    return next((row for row in kExempt if path == row or path.startswith(row + "/")), None)


def fault(member):
    """What is wrong with a member's name, or None."""
    name = member["name"]
    if member.get("access") == "private" and not kPrivate.fullmatch(name):
        return f"the private member {name} of {member['scope']} is spelt {name}_"
    if name.endswith("_") and member.get("access") == "public":
        return f"{name} of {member['scope']} is public and ends like a private member"
    return None


def main():
    found = [(member, why) for member in members() if (why := fault(member))]
    faults = [f"{member['path']}:{member['line']}: error: {why}" for member, why in found if not exemption(member["path"])]
    needed = {exemption(member["path"]) for member, _ in found}
    faults += [f"{row}: error: every name there is as it should be: take it out of kExempt"
               for row in kExempt if row not in needed]
    print("\n".join(faults) or "private members end in _, no others do")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

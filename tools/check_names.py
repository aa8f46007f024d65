#!/usr/bin/env python3
"""Holds two rules for names. Private data members end in `_`, or are constants `kName`, and no public ones do: .clang-tidy says
the same, but takes seconds a file; ctags takes one for the tree. Tests are named in UpperCamel, as a claim without its spaces:
what they are listed under, and what --gtest_filter is given."""
import json
import pathlib
import re
import subprocess
import sys

kPrivate = re.compile(r"\w+_|k[A-Z]\w*")
# A test as gtest and rapidcheck spell it; lines of a macro that makes tests name its parameter, and end in a backslash.
kTest = re.compile(r"^\s*(?:TYPED_TEST|TEST|RC_GTEST(?:_FIXTURE)?_PROP)(?:_[A-Z])?\((\w+),\s*(\w+)(?!.*\\$)", re.MULTILINE)
kUpperCamel = re.compile(r"[A-Z][A-Za-z0-9]*")
root = pathlib.Path(__file__).resolve().parent.parent


def members():
    """The data members of all classes and structures."""
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], cwd=root, check=True, capture_output=True).stdout
    command = ["ctags", "-L", "-", "-f", "-", "--output-format=json", "--languages=C++", "--langmap=C++:.h.cpp",
               "--kinds-C++=m", "--fields=+aSn"]
    tags = subprocess.run(command, cwd=root, input=files, check=True, capture_output=True).stdout
    return [json.loads(line) for line in tags.splitlines()]


def fault(member):
    """What is wrong with a member's name, or None."""
    name = member["name"]
    if member.get("access") == "private" and not kPrivate.fullmatch(name):
        return f"the private member {name} of {member['scope']} is spelt {name}_"
    if name.endswith("_") and member.get("access") == "public":
        return f"{name} of {member['scope']} is public and ends like a private member"
    return None


def test_faults():
    """The tests whose suite or name is spelt otherwise."""
    for path in sorted((root / "tests").rglob("*.cpp")):
        text = path.read_text()
        for test in kTest.finditer(text):
            for name in test.groups():
                if not kUpperCamel.fullmatch(name):
                    line = text.count("\n", 0, test.start(1)) + 1
                    yield f"{path.relative_to(root)}:{line}: error: the test name {name} is not in UpperCamel"


def main():
    faults = [f"{member['path']}:{member['line']}: error: {why}" for member in members() if (why := fault(member))]
    faults += test_faults()
    print("\n".join(faults) or "private members end in _, no others do; tests are in UpperCamel")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

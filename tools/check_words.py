#!/usr/bin/env python3
"""Guarantees that the documents and the comments of the sources get no new phrase that a reader from CUTLASS, Triton or LLVM would
not search for, and no new comment line beyond 100 columns; public headers have no such line at all.

tools/words_allowed.txt has how many of both each file still has. Its numbers only go down: a file with fewer than that is an
error, too, and --lower writes the lower numbers."""
import argparse
import pathlib
import re
import subprocess
import sys

kRoot = pathlib.Path(__file__).resolve().parent.parent
kAllowed = kRoot / "tools/words_allowed.txt"
kColumns = 100
kFiles = ("*.md", "*.cpp", "*.h", "*.c", "*.td", ":!docs/dialects")  # which is made from descriptions in .td files
# Phrase -> what the field says. Each begins with letters of its own, which is what makes the search fast.
kPhrases = {re.compile(phrase): instead for phrase, instead in {
    r"copy engine": "TMA",
    r"by the engine": "by TMA",
    r"group(?:s of (?:four )?| of four )warps\b": "warpgroup",
    r"warp of its own\b": "producer warp",
    r"behind (?:the|a|its|each|their|that|all) (?:loop|wait|barrier|product|release|store|pass|end|last)": "after",
    r"under way\b": "in flight",
    r"on (?:its|their) way\b": "in flight",
    r" as ever\b": "as before",
    r"anew\b": "again",
    r"carr(?:y|ies|ied|ying) out\b": "execute, implement",
    r"part after part\b": "in subtiles",
    r"lies? along K\b": "is K-major",
    r"products? by (?:wgmma|mma)": "dot, MMA",
    r"groups? (?:of warps )?take turns\b": "alternate",
    r"mended\b": "fixed",
    r"s meet (?:at|before|behind|in|there|where)\b": "synchronize",
    r"round the loop\b": "across iterations",
    r"s an? (?:iteration|multiprocessor)[,.;:)]": "per iteration, per multiprocessor",
    r"\. Of (?:the|an?|all|what|those) ": "a sentence that begins with its subject",
}.items()}
kFence = re.compile(r"^```.*?^```$", re.M | re.S)  # code and what programs print
kComment = re.compile(r"//+<?(.*)")


def prose(path, text):
    """A document without its code, or the comments of a source; in one line, since phrases cross line ends."""
    return " ".join((kFence.sub("", text) if path.endswith(".md") else "\n".join(kComment.findall(text))).split())


def phrases_in(path, text):
    """(phrase, what to say instead) of each hit."""
    words = prose(path, text)
    return [(found, instead) for phrase, instead in kPhrases.items() for found in phrase.findall(words)]


def long_comments(path, text):
    """The numbers of the lines that a comment makes too long."""
    if path.endswith(".md"):
        return []
    return [number for number, line in enumerate(text.split("\n"), 1) if len(line) > kColumns and "//" in line]


def allowed():
    """Path -> [phrases, long lines]."""
    lines = (line.split() for line in kAllowed.read_text().splitlines() if not line.startswith("#"))
    return {path: [int(words), int(columns)] for words, columns, path in lines}


def faults_of(path, words, columns, limits):
    """What is wrong with a file that may have `limits`."""
    if len(words) > limits[0]:
        said = "; ".join(f"'{found.strip()}': {instead}" for found, instead in words)
        yield f"{path}: error: {len(words)} phrases to replace, {limits[0]} are allowed: {said}"
    if len(columns) > limits[1]:
        yield (f"{path}:{columns[-1]}: error: {len(columns)} comment lines beyond {kColumns} columns, {limits[1]} are allowed: "
               f"break lines {', '.join(map(str, columns[-5:]))}")
    if len(words) < limits[0] or len(columns) < limits[1]:
        yield (f"{path}: error: {limits[0]} phrases and {limits[1]} long lines are allowed, {len(words)} and {len(columns)} are left: "
               "lower the numbers by tools/check_words.py --lower")


def write_lower(counts, limits):
    """Lowers what is allowed to what is there."""
    head = [line for line in kAllowed.read_text().splitlines() if line.startswith("#")]
    lower = {path: [min(pair) for pair in zip(counts.get(path, (0, 0)), limit)] for path, limit in limits.items()}
    lines = [f"{words:3} {columns:3} {path}" for path, (words, columns) in sorted(lower.items()) if words or columns]
    kAllowed.write_text("\n".join(head + lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lower", action="store_true", help="write lower numbers to tools/words_allowed.txt")
    lower = parser.parse_args().lower
    limits, counts, faults = allowed(), {}, []
    for path in subprocess.run(["git", "ls-files", *kFiles], cwd=kRoot, check=True, capture_output=True, text=True).stdout.split():
        if not (kRoot / path).exists():
            continue
        text = (kRoot / path).read_text(errors="replace")
        words, columns = phrases_in(path, text), long_comments(path, text)
        counts[path] = len(words), len(columns)
        faults += faults_of(path, words, columns, limits.get(path, (0, 0)))
    if lower:
        return write_lower(counts, limits)
    faults += [f"{path}: error: is gone, but has allowed phrases: drop them by tools/check_words.py --lower" for path in limits if path not in counts]
    print("\n".join(faults) or "documents and comments have no new phrase to replace and no new long line")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

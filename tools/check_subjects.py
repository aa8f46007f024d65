#!/usr/bin/env python3
"""Guarantees that the subject of a commit, which says what now holds, has at most 100 characters.

Without arguments it takes the commits of a change: those since the default branch, or, on that branch itself, the last one. Where
there is no history, as in an exported tree or a shallow checkout, there is nothing to check. --message FILE checks a message
before it is committed: .githooks/commit-msg calls it so.

Exit code: 0 if all subjects are short enough, 1 if one is not."""
import argparse
import pathlib
import sys

from check_includes import base_of, git

kMost = 100
kAutosquash = ("fixup! ", "squash! ", "amend! ")  # which git puts before the subject of another commit
kScissors = "# ------------------------ >8 ------------------------"  # what follows is no part of the message


def subject_of(message):
    """The subject as git will take it: the first paragraph, in one line."""
    lines = message.split(kScissors)[0].splitlines()
    paragraph = []
    for line in (line.strip() for line in lines if not line.startswith("#")):
        if line:
            paragraph.append(line)
        elif paragraph:
            break
    return " ".join(paragraph)


def fault(subject):
    """What is wrong with a subject, or None."""
    while subject.startswith(kAutosquash):
        subject = subject.split(" ", 1)[1]
    if len(subject) <= kMost:
        return None
    return f"error: the subject has {len(subject)} characters, at most {kMost} are allowed; give reasons in the body: {subject}"


def subjects_of_change(root):
    """(commit, subject) of each commit of the change."""
    top = git(root, "rev-parse", "--show-toplevel")
    if not top or pathlib.Path(top).resolve() != root:  # an exported tree, perhaps within another repository
        return []
    base, _ = base_of(root)
    log = git(root, "log", "--no-merges", "--format=%h %s", f"{base}..HEAD") if base else None
    return [line.split(" ", 1) for line in (log or "").splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--message", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    if options.message:
        isMerge = git(options.root, "rev-parse", "-q", "--verify", "MERGE_HEAD")  # its subject is git's
        faults = [] if isMerge else [fault(subject_of(options.message.read_text(encoding="utf-8", errors="replace")))]
    else:
        commits = subjects_of_change(options.root.resolve())
        faults = [text and f"{commit}: {text}" for commit, subject in commits if (text := fault(subject))]
        faults or print(f"{len(commits)} commits have subjects of at most {kMost} characters")
    print("\n".join(filter(None, faults)), end="\n" if any(faults) else "", file=sys.stderr)
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles sources of a build without its precompiled headers: what they fail to include, those would hide.

Without file names it takes what a change touches: sources and headers that differ from the default branch, or, on that branch
itself, from the commit before; then the sources that include one of these headers, since a header may have lost what they
took from it. A file takes seconds, so that at most --at-most are compiled, those that the change touches first; which of the
rest are left follows from the commit, so that none is left for ever. Headers are compiled alone.

Exit code: 0 if all compile, 1 if one does not, 2 if the build folder is of no use."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

kDefaultBranches = ["origin/HEAD", "origin/main", "main", "origin/master", "master"]
kMost = 24  # two minutes at most on two cores, where all include MLIR
kEndings = (".cpp", ".h")
kInclude = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.M)
kPublic = "include/"  # the root that public headers are included from


def git(root, *words):
    """What git says, or None if it fails."""
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of(root):
    """The commit that a change begins at, and its name for people; None where there is none, as in a shallow checkout."""
    head = git(root, "rev-parse", "HEAD")
    for branch in kDefaultBranches:
        base = git(root, "merge-base", branch, "HEAD")
        if base and base != head:
            return base, branch
    return git(root, "rev-parse", "--verify", "-q", "HEAD~1"), "the commit before"


def touched(root, since):
    """The sources and headers that differ from a commit, as relative paths; where there is none, those of the last commit. What is
    not committed counts."""
    of_commits = ["diff", "--name-only", "--diff-filter=d", since] if since else \
        ["show", "--name-only", "--format=", "--diff-filter=d", "HEAD"]
    asked = [of_commits, ["diff", "--name-only", "--diff-filter=d", "HEAD"], ["ls-files", "--others", "--exclude-standard"]]
    names = {name for words in asked for name in (git(root, *words) or "").splitlines()}
    return [name for name in sorted(names) if name.endswith(kEndings) and (root / name).is_file()]


class Build:
    """What a build folder says of its sources."""

    def __init__(self, folder, root):
        self.root, self.commands = root, {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            path = pathlib.Path(entry["directory"], entry["file"]).resolve()
            if path.is_relative_to(root):
                self.commands.setdefault(path.relative_to(root).as_posix(), entry)

    def takes_precompiled(self, source):
        return ".pch" in (command := self.commands[source]["command"]) or "cmake_pch" in command

    def nearest(self, header):
        """A source whose flags a header is compiled with: of its folder, else of the folder that is nearest."""
        def distance(source):
            common = os.path.commonpath(["/" + header, "/" + source])
            return -common.count("/"), source.count("/"), source
        return min(filter(lambda source: source.endswith(".cpp"), self.commands), key=distance)

    def command(self, name):
        """Words that check a file without a precompiled header, and the folder to run them in."""
        entry = self.commands[name if name in self.commands else self.nearest(name)]
        kept, words = [], iter(shlex.split(entry["command"]))
        for word in words:
            if word == "-Xclang":  # -Xclang -include-pch -Xclang FILE, and options of precompiled headers
                if next(words) == "-include-pch":
                    next(words), next(words)
            elif word == "-include":
                if "cmake_pch" not in (file := next(words)):
                    kept += [word, file]
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                next(words)
            elif word not in ("-c", "-MD", "-MMD", "-Winvalid-pch", "-fpch-instantiate-templates"):
                kept.append(word)
        program = next(at for at, word in enumerate(kept) if not is_launcher(word))
        language = ["-x", "c++", "-Wno-pragma-once-outside-header"] if name.endswith(".h") else []
        file = os.path.join(self.root, name)
        return [word for word in kept[program:] if not word.endswith(kEndings)] + ["-fsyntax-only", *language, file], \
            entry["directory"]


def is_launcher(word):
    """Whether a word stands before the compiler: of ccache and its settings."""
    return os.path.basename(word) in ("env", "ccache") or re.match(r"\w+=", word)


def including(build, headers):
    """Sources with a precompiled header that include one of these headers themselves."""
    names = {header.removeprefix(kPublic) for header in headers}
    for source in build.commands:
        if build.takes_precompiled(source) and names & set(kInclude.findall((build.root / source).read_text())):
            yield source


def chosen(build, files, most):
    """The files to compile, and how many are left."""
    mine = [name for name in files if name.endswith(".h") or (name in build.commands and build.takes_precompiled(name))]
    others = set(including(build, [name for name in files if name.endswith(".h")])) - set(mine)
    commit = git(build.root, "rev-parse", "HEAD") or ""
    def order(name):
        return hashlib.sha256((commit + name).encode()).digest()
    ordered = sorted(mine, key=order) + sorted(others, key=order)
    return ordered[:most], len(ordered[most:])


def check(build, name):
    """What the compiler says of a file, nothing if it compiles."""
    command, folder = build.command(name)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return f"{name}: does not compile without precompiled headers:\n{done.stderr}" if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", metavar="FOLDER", help="a configured and built folder (build/dev)")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent, help="the checkout (this one)")
    parser.add_argument("--since", metavar="COMMIT", help="where the change begins, instead of the default branch")
    parser.add_argument("--at-most", type=int, default=kMost, metavar="N", help=f"compile this many files at most ({kMost})")
    parser.add_argument("--all", action="store_true", help="take every source that has a precompiled header")
    parser.add_argument("files", nargs="*", help="files to take instead, as paths from the root of the checkout")
    options = parser.parse_args()
    root = pathlib.Path(options.root).resolve()
    try:
        build = Build(root / options.build, root)
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"{options.build} is no build folder with its compile_commands.json: {error}")
    if options.all:
        files, origin = [source for source in build.commands if source.endswith(".cpp")], "the build"
    elif options.files:
        files, origin = options.files, "the command line"
    else:
        since, name = (options.since, options.since) if options.since else base_of(root)
        files, origin = touched(root, since), f"the change since {name}" if since else "the last commit"
    names, left = chosen(build, files, len(build.commands) if options.all else options.at_most)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda name: check(build, name), names) if fault]
    print("\n".join(faults) or f"{len(names)} files of {origin} compile without precompiled headers"
          + (f"; {left} more that it may concern were left, --at-most {options.at_most}" if left else ""))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

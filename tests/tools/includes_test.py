#!/usr/bin/env python3
"""Which files are compiled without precompiled headers, and what is said of them. Usage: includes_test.py CHECK_INCLUDES COMPILER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

kProgram = os.path.abspath(sys.argv.pop(1))
kCompiler = sys.argv.pop(1)
kGood = "#include <cstddef>\nstd::size_t good;\n"
kBad = "std::size_t bad;\n"


class Includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.git("init", "-q", "-b", "main")
        self.write(**{"good.cpp": kGood, "lib/old.cpp": kBad, "lib/old.h": kGood})
        self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *words], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def write(self, **files):
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-qm", "files")

    def check(self, code, *words, apart=()):
        """What is printed by the check in a build of all sources, those in `apart` without a precompiled header."""
        # As CMake writes it for clang, and through ccache. The header it names need not exist.
        uses = "-Winvalid-pch -Xclang -include-pch -Xclang /none/cmake_pch.hxx.pch -Xclang -fno-pch-timestamp"
        entries = [{"directory": str(self.path), "file": str(path), "command":
                    f"/usr/bin/env A=1 /usr/bin/ccache {kCompiler} -std=c++20 {'' if path.name in apart else uses} "
                    f"-o {path.stem}.o -c {path}"} for path in self.path.rglob("*.cpp")]
        build = self.path / "build"
        build.mkdir(exist_ok=True)
        (build / "compile_commands.json").write_text(json.dumps(entries))
        (self.path / ".gitignore").write_text("build\n.gitignore\n")
        done = subprocess.run([sys.executable, kProgram, "--root", self.path, "--build", "build", *words], cwd=self.path,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_missing_include_is_shown(self):
        self.git("checkout", "-qb", "change")
        self.write(**{"new.cpp": kBad})
        self.commit()
        text = self.check(1)
        self.assertIn("new.cpp: does not compile without precompiled headers:\n", text)
        self.assertIn("new.cpp:1:", text)
        self.assertNotIn("old.cpp", text)
        self.write(**{"new.cpp": kGood})
        self.commit()
        self.assertEqual(self.check(0), "1 files of the change since main compile without precompiled headers\n")

    def test_what_is_not_committed_counts(self):
        self.write(**{"lib/old.cpp": kGood})
        self.commit()
        self.write(**{"good.cpp": kBad})
        self.assertIn("good.cpp: does not compile", self.check(1))
        self.write(**{"good.cpp": kGood + "\n", "unknown.cpp": kBad})
        self.assertIn("unknown.cpp: does not compile", self.check(1))

    def test_sources_without_a_precompiled_header_are_left(self):
        self.write(**{"good.cpp": kBad})
        self.commit()
        self.assertIn("0 files of the change since the commit before", self.check(0, apart=["good.cpp"]))

    def test_the_last_commit_where_there_is_no_other(self):
        self.assertIn("lib/old.cpp: does not compile", self.check(1))
        self.write(**{"lib/old.cpp": kGood})
        self.assertIn("3 files of the last commit compile", self.check(0))

    def test_headers_are_compiled_alone_and_what_includes_them_again(self):
        self.write(**{"lib/new.h": kBad, "user.cpp": '#include <cstddef>\n#include "lib/new.h"\n'})
        self.commit()
        self.write(**{"lib/new.h": kBad + "\n"})
        text = self.check(1)
        self.assertIn("lib/new.h: does not compile", text)
        self.assertNotIn("user.cpp: does not", text)
        self.write(**{"lib/new.h": "#pragma once\n"})
        self.commit()
        self.write(**{"user.cpp": '#include "lib/new.h"\n' + kGood.splitlines()[1]})
        self.commit()
        self.write(**{"lib/new.h": "#pragma once\n\n"})  # the source took its type from nowhere
        text = self.check(1)
        self.assertIn("user.cpp: does not compile", text)
        self.assertNotIn("lib/new.h: does not", text)

    def test_no_more_than_asked(self):
        self.write(**{"lib/old.cpp": kGood})
        self.commit()
        self.write(**{f"new{i}.cpp": kGood for i in range(4)})
        text = self.check(0, "--at-most", "2")
        self.assertIn("2 files of the change since the commit before compile without precompiled headers; 3 more that it may "
                      "concern were left", text)

    def test_all(self):
        self.assertIn("lib/old.cpp: does not compile", self.check(1, "--all"))
        self.write(**{"lib/old.cpp": kGood})
        self.assertIn("2 files of the build compile", self.check(0, "--all"))

    def test_no_build_folder(self):
        self.assertIn("none is no build folder", self.check(2, "--build", "none"))


if __name__ == "__main__":
    unittest.main()

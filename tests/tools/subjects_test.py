#!/usr/bin/env python3
"""Which commits are refused for their subjects, by the hook that tools/dev installs and by lint. Usage: subjects_test.py ROOT"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

kRoot = pathlib.Path(sys.argv.pop(1)).resolve()
kFiles = "tools/dev", "tools/check_subjects.py", "tools/check_includes.py", ".githooks/commit-msg"
kLong = "x" * 101
kShort = "é" * 100  # 100 characters, 200 bytes
# Neither a hook nor an identity of the machine's own.
kAlone = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", **{
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "t"), ("EMAIL", "t@localhost"))}}
for name in "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE":  # as a hook sets them that runs the tests
    kAlone.pop(name, None)


class Subjects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "tree"
        for name in kFiles:
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(kRoot / name, self.path / name)

    def run_in(self, path, code, *words):
        done = subprocess.run(words, cwd=path, capture_output=True, text=True, timeout=60, env=kAlone)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def git(self, *words, code=0):
        return self.run_in(self.path, code, "git", *words)

    def commit(self, subject, *words, code=0):
        return self.git("commit", "--allow-empty", "-qm", subject, *words, code=code)

    def check(self, code, path=None):
        return self.run_in(path or self.path, code, sys.executable, "tools/check_subjects.py")

    def begin(self, *hooks):
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.commit("Files")
        for name, text in hooks:
            (self.path / ".git/hooks" / name).parent.mkdir(exist_ok=True)
            (self.path / ".git/hooks" / name).write_text(text)

    def install(self):
        """What `tools/dev build` says before it fails, since there is nothing to build."""
        return self.run_in(self.path, 1, "tools/dev", "build")

    def test_the_hook_refuses_a_long_subject(self):
        self.begin()
        self.assertIn("git now refuses", self.install())
        self.assertNotIn("git now refuses", self.install())
        self.assertIn("has 101 characters, at most 100", self.commit(kLong, code=1))
        self.commit(kShort)
        self.commit("A subject\n\n" + kLong)
        self.commit("fixup! " + kShort)
        self.commit("x" * 60 + "\n" + "x" * 60, code=1)  # git makes one line of it

    def test_the_hook_lets_merges_pass(self):
        self.begin()
        self.install()
        self.git("checkout", "-qb", kLong)
        self.commit("A")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", kLong)

    def test_other_hooks_stay(self):
        self.begin(("pre-commit", "#!/bin/sh\n"))
        self.assertNotIn("git now refuses", self.install())
        self.commit(kLong)

    def test_another_path_of_hooks_stays(self):
        self.begin()
        self.git("config", "core.hooksPath", "elsewhere")
        self.install()
        self.assertEqual(self.git("config", "core.hooksPath"), "elsewhere\n")

    def test_lint_takes_the_commits_of_a_change(self):
        self.begin()
        self.commit(kLong)  # before the change
        self.commit(kShort)
        self.assertIn("1 commits", self.check(0))  # the last one of the default branch
        self.git("checkout", "-qb", "change")
        self.commit("A")
        self.assertIn("1 commits", self.check(0))
        self.commit(kLong)
        self.commit("B")
        self.assertIn("has 101 characters", self.check(1))

    def test_without_history_there_is_nothing_to_check(self):
        self.assertIn("0 commits", self.check(0))
        self.begin()
        self.commit(kLong)
        shallow = self.path.parent / "shallow"
        self.run_in(self.path.parent, 0, "git", "clone", "-q", "--depth=1", f"file://{self.path}", str(shallow))
        self.assertIn("0 commits", self.check(0, shallow))
        exported = self.path / "exported"
        exported.mkdir()
        shutil.copytree(self.path / "tools", exported / "tools")
        self.assertIn("0 commits", self.check(0, exported))


if __name__ == "__main__":
    unittest.main()

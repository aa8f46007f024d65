#!/usr/bin/env python3
"""documents_test.py CHECK: tools/check_documents.py finds each kind of fault in a small tree, and none in a good one."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

kCheck = sys.argv.pop(1)
kIndex = "# All\n\n[a page](page.md), [0001 A choice](decisions/0001-choice.md)\n"


class Documents(unittest.TestCase):
    def faults(self, index=kIndex, page="# A page\n"):
        """What the check says of a tree with this index and this page."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/README.md": index, "docs/page.md": page, "src/One.cpp": "",
                               "docs/decisions/0001-choice.md": "# 0001 A choice\n\n## Why not\n"}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([sys.executable, kCheck, folder], capture_output=True, text=True)
            lines = done.stdout.splitlines()
            self.assertEqual(done.returncode, 1 if "error: " in done.stdout else 0, done.stderr)
            return [line.split("error: ")[1] for line in lines if "error: " in line]

    def test_a_good_tree_has_none(self):
        self.assertEqual(self.faults(page="# A page\n\n[choice](decisions/0001-choice.md#why-not), [here](#a-page), `src/One.cpp`,\n"
                                          "`k[](x)`, [far](https://a.b/c)\n```\n[code](none.md)\n```\n"), [])

    def test_links_lead_somewhere(self):
        self.assertEqual(self.faults(page="# A page\n\n[gone](../src/Two.cpp)\n"),
                         ["links to ../src/Two.cpp, which does not exist"])
        self.assertEqual(self.faults(page="# A page\n\n[gone](decisions/0001-choice.md#why)\n"),
                         ["links to decisions/0001-choice.md#why, but 0001-choice.md has no such heading"])
        self.assertEqual(self.faults(page="# A page\n\n[gone](#below)\n"), ["links to #below, but page.md has no such heading"])

    def test_paths_are_files(self):
        self.assertEqual(self.faults(page="# A page\n\n`src/Two.cpp`\n"), ["names `src/Two.cpp`, which does not exist"])

    def test_the_index_lists_every_document(self):
        self.assertEqual(self.faults(index=kIndex.replace("page.md", "decisions/0001-choice.md")), ["does not list page.md"])

    def test_the_index_lists_every_decision_once_under_its_heading(self):
        fault = 'lists decision 0001-choice.md {} times under its heading, "0001 A choice"'
        self.assertEqual(self.faults(index=kIndex.replace("A choice", "Choices")), [fault.format(0)])
        self.assertEqual(self.faults(index=kIndex + kIndex.replace("# All", "")), [fault.format(2)])


if __name__ == "__main__":
    unittest.main()

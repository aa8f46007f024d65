"""The file of results: all that a run found out, replaced as a whole after each row, and read again by a later run."""
import json
import math
import os
import pathlib
import tempfile

FORMAT = 1
# What must not change between the runs that share a file: times of other machines or programs are no neighbours.
SAME = ("format", "product", "driver", "program", "shapes", "versions")


class Refused(Exception):
    """A file that cannot be gone on with."""


def write_whole(path, text):
    """Under a name of its own first, then renamed: nobody reads half a file, and a failure leaves the old one."""
    path = pathlib.Path(path)
    handle, scratch = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(scratch, 0o666 & ~umask)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def finite(value):
    """JSON has no NaN and no infinities: null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Results:
    def __init__(self, path, head):
        self.path, self.head, self.rows = pathlib.Path(path), {"format": FORMAT, **head}, {}

    def resume(self, path):
        """Takes over the rows of an earlier run."""
        try:
            before = json.loads(pathlib.Path(path).read_text())
            rows = {row["name"]: row for row in before["rows"]}
        except (OSError, ValueError, KeyError, TypeError) as failure:
            raise Refused(f"--resume {path}: not the results of a run: {failure}") from None
        for key in SAME:
            if before.get(key) != self.head.get(key):
                raise Refused(f"--resume {path}: its '{key}' is {before.get(key)}, here it is {self.head.get(key)}: "
                              f"start a file of its own by --out")
        self.rows.update(rows)

    def add(self, row):
        self.rows[row["name"]] = finite(row)

    def save(self, means, left):
        document = {**self.head, "rows": list(self.rows.values()), "means": means, "left": left}
        write_whole(self.path, json.dumps(document, indent=1, allow_nan=False) + "\n")
        return document

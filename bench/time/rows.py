"""Rows of microbenchmarks (data/micro.jsonl), chosen by the values of their fields."""
import hashlib
import json
import pathlib
import statistics

kData = pathlib.Path(__file__).resolve().parent / "data"
kMicro = kData / "micro.jsonl"


class Rows:
    """The rows of a file. `rows("write", sms=1, bytes=lambda n: n > 4096)` are those that match: values, or conditions."""

    def __init__(self, path=kMicro):
        text = pathlib.Path(path).read_bytes()
        self.digest = hashlib.sha256(text).hexdigest()
        self.rows = [json.loads(line) for line in text.splitlines()]

    def __call__(self, bench, **fields):
        found = [row for row in self.rows if row["bench"] == bench
                 and all(key in row and matches(row[key], wanted) for key, wanted in fields.items())]
        if not found:
            raise LookupError(f"no row of {bench} has {fields}")
        return found

    def median(self, bench, value, **fields):
        """The median of a field, or of what a function makes of a row."""
        pick = value if callable(value) else lambda row: row[value]
        return statistics.median(pick(row) for row in self(bench, **fields))


def matches(value, wanted):
    return wanted(value) if callable(wanted) else value == wanted


def table(path):
    """The rows of a TSV file as dictionaries. Lines with # are remarks, the last of them names the columns."""
    remarks, rows = [], []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            remarks.append(line)
        elif line:
            rows.append(line.split("\t"))
    columns = remarks[-1].lstrip("# ").split("\t")
    return [dict(zip(columns, row)) for row in rows]

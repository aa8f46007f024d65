"""Counts of outcomes, and the tables that people read."""
import collections
import re

KINDS = ("right", "definition", "refused", "wrong")


class Counts:
    """Of one name: outcomes by kind, refusals by reason with an example each, everything wrong, and calls that PyTorch refuses."""

    def __init__(self, outcomes):
        self.kinds = collections.Counter(each["kind"] for each in outcomes)
        refused = [each for each in outcomes if each["kind"] == "refused"]
        self.reasons = collections.Counter(shape_of(each["reason"]) for each in refused)
        self.examples = {shape_of(each["reason"]): each["reason"] for each in reversed(refused)}
        self.definitions = collections.Counter(each["reason"] for each in outcomes if each["kind"] == "definition")
        self.wrong = [each for each in outcomes if each["kind"] == "wrong"]
        self.taken = [each for each in outcomes if each["kind"] == "taken"]

    @property
    def samples(self):
        return sum(self.kinds[kind] for kind in KINDS)


def shape_of(reason):
    """A message without what differs between samples."""
    reason = re.sub(r"\b([iu]?\d+|b?f\d+) (scalar|\d+(x\d+)*)\b", "TENSOR", reason)
    reason = re.sub(r"\b\d+(x\d+)+\b", "SHAPE", re.sub(r"\((\d+,? ?)*\)|\[(-?\d+,? ?)*\]|\{(\d+,? ?)*\}", "SHAPE", reason))
    reason = re.sub(r"\b(i1|[iu](8|16|32|64)|b?f(16|32|64))\b", "DTYPE", reason)
    return re.sub(r"-?\b\d+(\.\d+)?(e[-+]?\d+)?\b", "N", reason)


def total_of(counts):
    total = collections.Counter()
    for each in counts.values():
        total.update(each.kinds)
    return total


def percentage(kinds):
    samples = sum(kinds[kind] for kind in KINDS)
    return 100 * kinds["right"] / samples if samples else 100.0


def markdown(head, counts):
    total = total_of(counts)
    samples = sum(total[kind] for kind in KINDS)
    text = [head, "", f"**{percentage(total):.2f} % right**: {total['right']} of {samples} samples; {total['definition']} differ by "
            f"definition, {total['refused']} are refused, {total['wrong']} are wrong. Of calls that PyTorch refuses, "
            f"{total['refused too']} are refused here too and {total['taken']} are taken.", "",
            "| name | samples | right | by definition | refused | wrong | refused as PyTorch does | taken |", "|---|" + "---:|" * 7]
    for name, each in counts.items():
        kinds = each.kinds
        text.append(f"| `{name}` | {each.samples} | {kinds['right']} | {kinds['definition']} | {kinds['refused']} | {kinds['wrong']} | "
                    f"{kinds['refused too']} | {kinds['taken']} |")
    return "\n".join([*text, "", *definitions(counts), *refusals(counts), *wrong(counts)]) + "\n"


def definitions(counts):
    found = collections.Counter()
    for each in counts.values():
        found.update(each.definitions)
    lines = [f"| {reason} | {count} |" for reason, count in found.most_common()]
    return ["## Different by definition", "", "| docs/ops.md | samples |", "|---|---:|", *lines, ""] if lines else []


def refusals(counts, most=60):
    found, names, examples = collections.Counter(), collections.defaultdict(list), {}
    for name, each in counts.items():
        found.update(each.reasons)
        examples.update(each.examples)
        for reason in each.reasons:
            names[reason].append(name)
    if not found:
        return []
    lines = [f"| {count} | {', '.join(names[reason][:4])}{' ...' if len(names[reason]) > 4 else ''} | "
             f"{examples[reason][:200].replace('|', '/')} |" for reason, count in found.most_common(most)]
    rest = len(found) - len(lines)
    return ["## Refused", "", "Grouped by the message but for numbers, shapes and dtypes, with an example of each.", "",
            "| samples | names | for example |", "|---:|---|---|", *lines, "", *([f"And {rest} more, in the JSON.", ""] if rest > 0 else [])]


def wrong(counts):
    lines = [f"- `{name}`, {each['dtype']}, sample {each['sample']}, {each['storage']}: {each['reason'][:300]}"
             for name, one in counts.items() for each in one.wrong]
    more = [f"- and {len(lines) - 200} more, in the JSON"] if len(lines) > 200 else []
    return ["## Wrong", "", *lines[:200], *more, ""] if lines else []


def document(head, counts):
    """For other programs."""
    return {"head": head, "total": dict(total_of(counts)), "names": {
        name: {"kinds": dict(each.kinds), "reasons": dict(each.reasons), "examples": each.examples,
               "definitions": dict(each.definitions), "wrong": each.wrong, "taken": each.taken} for name, each in counts.items()}}

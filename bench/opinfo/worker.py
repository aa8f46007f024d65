"""A process that computes samples: tasks come on standard input, outcomes go to standard output, a line of JSON each.

A task is `{"name", "skip"}`: all samples of a name but for the first `skip`. Each outcome follows a line that says which sample has
begun, so that the parent knows which one it was if this process does not come back.
"""
import itertools
import json
import os
import sys

import torch

import tilec
from names import NAMES
from sample import ours_of, outcome_of, refusal_of
from samples import DATABASE, dtypes_of, errors_of, samples_of
from storage import STORAGES


def work_of(title, kind, storages):
    """(what it is, a function that gives its outcome) of each sample of a name, in one order."""
    name, info = NAMES[title], DATABASE[title]
    for dtype in dtypes_of(info):
        for at, sample in enumerate(samples_of(info, dtype, kind)):
            for storage in storages:
                words = {"dtype": str(dtype).removeprefix("torch."), "sample": at, "storage": storage}
                yield words, lambda device: outcome_of(title, name, info, sample, storage, device)
    for at, error in enumerate(errors_of(info)):
        yield {"dtype": "", "sample": at, "storage": "error"}, lambda device: of_error(name, info, error.sample_input, device)


def of_error(name, info, sample, device):
    """What becomes of a call that PyTorch refuses."""
    try:
        ours_of(name, info, (sample.input, *sample.args), dict(sample.kwargs), "as is", device)
    except Exception as error:
        outcome = refusal_of(error)
        outcome.kind = {"refused": "refused too"}.get(outcome.kind, outcome.kind)
        return outcome
    outcome = refusal_of(ValueError("taken, though PyTorch refuses it"))
    outcome.kind = "taken"
    return outcome


def main():
    options = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    device = tilec.Device(options["device"])
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print is no outcome

    def say(words):
        output.write(json.dumps(words) + "\n")
        output.flush()

    say({"ready": True})
    for line in sys.stdin:
        task = json.loads(line)
        work = work_of(task["name"], options["samples"], options["storages"] or STORAGES)
        for words, run in itertools.islice(work, task["skip"], None):
            say({"begun": words})
            outcome = run(device)
            say({**words, "kind": outcome.kind, "reason": outcome.reason})
        say({"done": True})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The program `text` as its users run it: it learns, goes on after an interruption with the same bits, and writes the same with
and without a cache.  text.py PROGRAM"""
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM = sys.argv[1]
SMALL = ["--width", "32", "--heads", "2", "--length", "32"]


def run(*words, **variables):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=400, env=environment | variables)
    if done.returncode:
        sys.exit(f"text {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def train(file, *words, **variables):
    return run("train", *SMALL, "--dropout", "0.05", "--out", str(file), *words, **variables)


def check(condition, what):
    if not condition:
        sys.exit(f"text: {what}")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    # What one run compiles the next ones find.
    environment = os.environ | {"TILE_CACHE": "on", "TILE_CACHE_DIR": str(folder / "kernels")}
    model, curve = folder / "model.safetensors", folder / "loss.svg"
    # Knowing nothing is ln 128 = 4.85, knowing how often each character comes 3.12. The kernels are checked in the short runs below.
    train(model, "--steps", "80", "--rate", "1e-2", "--below", "3.2", "--curve", str(curve), TILE_VGPU_CHECK="none")
    xml.dom.minidom.parse(str(curve))

    whole, parts = folder / "whole.safetensors", folder / "parts.safetensors"
    short = ["--steps", "8", "--save-every", "3"]
    train(whole, *short)
    train(parts, *short, "--until", "4")
    check(whole.read_bytes() != parts.read_bytes(), "the interrupted run was not interrupted")
    train(parts, *short, "--resume")
    check(whole.read_bytes() == parts.read_bytes(), "the run that went on ended with other bits")

    for how in [], ["--temperature", "0.8"]:
        words = ["generate", "--model", str(model), "--prompt", "We the", "--count", "20", *how]
        cached = run(*words)
        check(cached.startswith("We the") and len(cached) == 27, f"it wrote {cached!r}")
        check(run(*words, "--uncached") == cached, "it writes something else without a cache")

"""Workers that compute the samples of names; one that crashes or takes too long costs one sample, not the run."""
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

FOLDER = pathlib.Path(__file__).resolve().parent
START = 120  # seconds that PyTorch may take to be loaded


class Worker:
    def __init__(self, options, seconds):
        self.options, self.seconds, self.process = options, seconds, None

    def start(self):
        command = [sys.executable, str(FOLDER / "worker.py"), json.dumps(self.options)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "")})
        self.lines = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, self.lines), daemon=True).start()
        if self.next_line(START) is None:
            self.stop()
            raise RuntimeError(f"no worker starts: {' '.join(command[:2])}")

    @staticmethod
    def _read(pipe, lines):
        for line in pipe:
            lines.put(json.loads(line))
        lines.put(None)

    def next_line(self, seconds):
        """None if the process has ended; "late" if it says nothing in time."""
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            return "late"

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def outcomes(self, name):
        """Of all samples of a name, in order."""
        count = 0
        while True:
            if not self.process:
                self.start()
            self.process.stdin.write(json.dumps({"name": name, "skip": count}) + "\n")
            self.process.stdin.flush()
            begun = None
            while isinstance(line := self.next_line(self.seconds), dict):
                if "done" in line:
                    return
                if "begun" in line:
                    begun = line["begun"]
                    continue
                count += 1
                begun = None
                yield line
            self.stop()
            if begun is None:
                raise RuntimeError(f"{name}: the worker ends between two samples")
            count += 1
            yield {**begun, "kind": "wrong", "reason": "the process crashes" if line is None else f"no result in {self.seconds:g} s"}


def outcomes_of(names, options, seconds, jobs):
    """(name, its outcomes) of all names, as they are done."""
    tasks, results = queue.Queue(), queue.Queue()
    for name in names:
        tasks.put(name)

    def work():
        worker = Worker(options, seconds)
        try:
            while True:
                name = tasks.get_nowait()
                results.put((name, list(worker.outcomes(name))))
        except queue.Empty:
            pass
        except Exception as failure:
            results.put((None, failure))
        finally:
            worker.stop()

    for _ in range(jobs):
        threading.Thread(target=work, daemon=True).start()
    for _ in names:
        name, outcomes = results.get()
        if name is None:
            raise outcomes
        yield name, outcomes

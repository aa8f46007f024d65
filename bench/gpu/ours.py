"""Our side: the server (bench/gpu/Server.h) in a process of its own, which is started again when it dies."""
import json
import os
import pathlib
import queue
import subprocess
import threading

REFUSALS = ("InvalidArgument", "InvalidShape", "Unsupported")


class Refused(Exception):
    """The server answered with an error; it goes on."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Lost(Exception):
    """The server died or did not answer in time."""


class Server:
    """One process, spoken to by lines."""

    def __init__(self, program, device, timeout):
        self.timeout = timeout
        words = ["gpu-bench", "serve"] + (["--device", device] if device else [])
        self.process = subprocess.Popen(words, executable=program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()

    def _listen(self, stream):
        for line in stream:
            self.answers.put(line)
        self.answers.put(None)

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=self.timeout)
        except queue.Empty:
            self.stop()
            raise Lost(f"no answer to '{request['do']}' in {self.timeout} s: the server was ended") from None
        except BrokenPipeError:
            line = None
        if line is None:
            raise Lost(f"the server ended with exit code {self.process.wait()} at '{request['do']}'")
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"], answer["code"])
        return answer["ok"]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Ours:
    """Our ops on the rows' tensors."""

    def __init__(self, program, device, exchange, timeout):
        self.arguments = (program, device, timeout)
        self.exchange = exchange
        self.server = None
        self.start()

    def start(self):
        self.made = set()
        self.server = Server(*self.arguments)
        self.machine = self.server.ask(do="hello")

    def stop(self):
        """Ends the server; the next row starts another one."""
        if self.server:
            self.server.stop()
        self.server = None

    def prepare(self, row):
        """Makes the row's tensors, but for inputs that the last row had as well, and makes each call once, so that its kernels
        are compiled and loaded."""
        if not self.server:
            self.start()
        wanted = {operand.memory: operand for operand in row.operands.values()}
        self.made &= {name for name, operand in wanted.items() if operand.seed is not None}
        self.server.ask(do="keep", names=sorted(self.made))
        for name, operand in wanted.items():
            if name not in self.made:
                seed = {} if operand.seed is None else {"seed": operand.seed}
                self.server.ask(do="tensor", name=name, dtype=operand.dtype, count=operand.room, **seed)
                self.made.add(name)
        # The op itself comes last: yardsticks write other results into its outputs.
        for call in (*row.yardsticks, *((row.before,) if row.before else ()), (row.op, row.operands)):
            self.server.ask(do="run", **self._call(row, *call))

    def score(self, row):
        return self.server.ask(do="score", **self._call(row, row.op, row.operands))

    def yardsticks(self, row):
        """More calls of ours to be timed: names and what scores them."""
        return {f"tilec {op}": lambda call=self._call(row, op, names): self.server.ask(do="score", **call)
                for op, names in row.yardsticks}

    def bits(self, operand, whole=False):
        """A file with the operand's raw bits, or those of its whole memory, for the caller to remove."""
        path = pathlib.Path(self.exchange, f"gpu-bench-{os.getpid()}-{operand.memory}")
        self.server.ask(do="save", name=operand.memory, count=operand.room if whole else operand.count, file=str(path))
        return path

    def _call(self, row, op, names):
        operands = {name: {"tensor": row.operands[name].memory, "extents": row.operands[name].extents,
                           "order": row.operands[name].order} for name in names}
        return {"op": op, "operands": operands, **({"causal": True} if row.causal else {}),
                **({} if row.deterministic else {"deterministic": False})}

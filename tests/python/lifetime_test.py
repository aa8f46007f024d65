#!/usr/bin/env python3
"""Objects end in any order, in any thread, with the interpreter and in forked processes."""
import gc
import itertools
import pathlib
import tempfile
import threading
import unittest

from support import Case, kKernels, kRuntime, live_handles, numpy, python, tilec

kBegin = """
import gc, os, signal, sys, threading, time
import numpy, tilec
device = tilec.Device("virtual:sm_90a")
stream = device.stream()
x = tilec.from_numpy(numpy.arange(1000, dtype="f4"), device)
y = tilec.empty(1000, tilec.f32, stream=stream)
kernel = tilec.Library(sys.argv[1]).kernel("scale")
kernel(stream, x, y, 0.5, B=128)
"""


class Lifetimes(Case):
    def test_every_order(self):
        def all_of_them():
            device = tilec.Device("virtual:sm_90a")
            stream = device.stream()
            x, event = tilec.zeros(1000, device=device), device.event()
            y = tilec.empty(1000, stream=stream)
            scale = tilec.Library(kKernels).kernel("scale")
            graph = tilec.Graph.capture(stream, lambda: scale(stream, x, y, 1, B=128))
            event.record(stream)
            graph.replay(stream)
            return [device, stream, x, y, graph, x[5:]]

        before = live_handles()
        for order in list(itertools.permutations(range(6)))[::47]:
            things = all_of_them()
            for index in order:
                things[index] = None
            self.assertEqual(live_handles(), before)
            things = all_of_them()
            for index in order:
                things[index].close()
        del things
        self.assertEqual(live_handles(), before)

    def test_views_keep_the_memory(self):
        row = tilec.from_numpy(numpy.arange(6, dtype="f4").reshape(2, 3), self.device)[1]
        gc.collect()
        self.assertEqual(row.numpy().tolist(), [3, 4, 5])

    def test_cycles_are_collected(self):
        class Model:
            pass

        model = Model()
        model.own, model.weight = model, tilec.zeros(10, device=self.device)
        before = live_handles()
        del model
        self.assertEqual(live_handles(), before - 1)

    def test_threads(self):
        array, failed = numpy.arange(500, dtype="f4"), []

        def work(by):
            try:
                scale = tilec.Library(kKernels).kernel("scale")
                for _ in range(10):
                    with self.device.stream() as stream:
                        x = tilec.from_numpy(array, self.device, stream=stream)
                        y = tilec.empty(500, stream=stream)
                        scale(stream, x, y, by, B=128)
                        numpy.testing.assert_array_equal(y.numpy(stream), array * by)
                with self.assertRaisesRegex(tilec.Error, f"extent -{by} "):  # errors are of their thread
                    tilec.empty(-by, device=self.device)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(failed, [])

    def test_closing_what_another_thread_uses(self):
        wrong = []
        for _ in range(20):
            tensor = tilec.zeros(1000, device=self.device)

            def use():
                try:
                    while True:
                        tensor.numpy(self.stream)
                except tilec.Error as error:
                    if error.code != "InvalidHandle":
                        wrong.append(error)

            thread = threading.Thread(target=use)
            thread.start()
            tensor.close()
            thread.join(30)
        self.assertEqual(wrong, [])


class Interpreters(unittest.TestCase):
    def succeeds(self, source, output="", **environment):
        done = python(kBegin + source, **environment)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, output, ""))

    def test_the_end_with_everything_alive(self):
        self.succeeds("graph = tilec.Graph.capture(stream, lambda: kernel(stream, x, y, 2, B=128))\n"
                      "capsules = [x.__dlpack__(), x.__dlpack__(max_version=(1, 1)), numpy.from_dlpack(x)]\n"
                      "cycle = [x, y]; cycle.append(cycle)\n"
                      "tilec.ops.add(x, x)\n"
                      "class Late:\n"
                      "    def __init__(self, *kept): self.kept = kept\n"
                      "    def __del__(self): self.kept[0].close()\n"
                      "sys.kept = Late(y, x, capsules)\n"
                      "print(y.numpy(stream)[4])", "2.0")

    def test_the_end_without_collection(self):
        self.succeeds("gc.disable(); gc.freeze()\nprint(x.shape)", "(1000,)")

    def test_the_end_with_work_under_way(self):
        with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
            trace = pathlib.Path(folder, "trace.json")
            self.succeeds("for _ in range(50): kernel(stream, x, y, 0.5, B=128)", TILE_VGPU_SCHEDULE="lazy", TILE_TRACE=str(trace))
            self.assertIn("for a stream that ends", trace.read_text())

    def test_the_end_while_threads_work(self):
        self.succeeds("""
def work():
    try:
        while True:
            kernel(stream, x, y, 0.5, B=128)
            stream.synchronize()
    except tilec.Error as error: # when the interpreter has begun to end
        assert error.code == "InvalidHandle", error
for _ in range(2): threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
sys.stdout.flush()
""")

    def test_forked_processes_leave_the_library_alone(self):
        self.succeeds("""
import ctypes
live = ctypes.CDLL(tilec.library_path)._ZN4tile4capi11liveHandlesEv
before = live()
child = os.fork()
if child == 0:
    signal.alarm(20)
    del x, y, kernel, stream, device
    gc.collect()
    sys.exit(live() - before)
print(os.waitpid(child, 0)[1], y.numpy(stream)[4])
""", "0 2.0")

    def test_a_library_without_the_compiler(self):
        done = python("""
import sys
import numpy, tilec
assert not tilec.has_compiler and not any("MLIR" in line for line in open("/proc/self/maps"))
with tilec.Device("virtual:sm_90a") as device, device.stream() as stream:
    x = tilec.from_numpy(numpy.arange(10), device)
    graph = tilec.Graph.capture(stream, lambda: None)
    graph.replay(stream)
    print(numpy.from_dlpack(x[2:5]).tolist(), dir(tilec.ops))
for wrong in (lambda: tilec.Library(sys.argv[1]), tilec.ops.names, lambda: tilec.ops.run("add", x, x)):
    try:
        wrong()
    except tilec.Error as error:
        assert error.code == "Unsupported" and "set TILE_LIBRARY" in str(error), error
    else:
        raise AssertionError("nothing was raised")
""", TILE_LIBRARY=kRuntime)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[2, 3, 4] ['names', 'run']\n", ""))

    def test_no_library(self):
        done = python("import tilec", TILE_LIBRARY="/nowhere/libtile.so")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: tilec: there is no libtile.so; set TILE_LIBRARY", done.stderr)
        done = python("import tilec", TILE_LIBRARY="libc.so.6")
        self.assertIn("libc.so.6 is not libtile.so", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""Runs one of the peer's launches in the peer's own interpreter, on the CPU.

  python3 bench/vgpu/interpret_peer.py LAUNCH FOLDER

Reads FOLDER/<LAUNCH>.in<i>.npy, prints the CPU seconds of the run and writes FOLDER/<LAUNCH>.peer.npy.
"""
import os
import pathlib
import sys
import time

os.environ["TRITON_INTERPRET"] = "1"

import numpy  # noqa: E402

import peer_kernels  # noqa: E402


class Array:
    """A NumPy array with what the interpreter asks of a tensor. It stays where it is: nothing is copied to the host and
    back, which favours the peer."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self):
        return self.array.ctypes.data

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, *_, **__):
        return self

    def set_(self, *_):
        pass

    def copy_(self, _):
        pass

    def storage_offset(self):
        return 0

    def size(self):
        return self.array.shape

    def stride(self):
        return self.array.strides


def main(name, folder):
    launch = peer_kernels.LAUNCHES[name]
    function, signature, constants, _ = launch.kernel
    arguments = [Array(numpy.load(folder / f"{name}.in{i}.npy")) if isinstance(argument, tuple) else argument
                 for i, argument in enumerate(launch.arguments)]
    start = time.process_time()
    function[launch.grid](*arguments, **constants)
    print(time.process_time() - start)
    numpy.save(folder / f"{name}.peer.npy", arguments[launch.result()].array)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))

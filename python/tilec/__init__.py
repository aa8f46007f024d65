"""tilec: kernels in C++ tiles, ops on tensors, on NVIDIA GPUs and on a virtual GPU that checks every access.

    import numpy, tilec

    device = tilec.Device("virtual:sm_90a")
    with device.stream() as stream:
        x = tilec.from_numpy(numpy.arange(1000, dtype="f4"), device)
        y = tilec.empty(1000, tilec.f32, device)
        scale = tilec.Library("libkernels.so").kernel("scale")
        scale(stream, x, y, 0.5, B=256)
        print(y.numpy(stream))

docs/python.md says more."""
from . import _abi, ops
from .archive import Archive, Function
from .arguments import Parameter
from .device import Device, Event, Stream
from .dtypes import DType
from .errors import Error
from .graph import Graph
from .library import Kernel, Library
from .tensor import Tensor, empty, from_dlpack, from_numpy, zeros

__version__ = _abi.library.tile_version().decode()
library_path = _abi.library_name  # of the library that was found
has_compiler = _abi.has_compiler  # whether it has ops and loads libraries of kernels
globals().update(DType.__members__)

__all__ = ["Archive", "Device", "Event", "Stream", "DType", "Error", "Function", "Graph", "Kernel", "Library", "Parameter", "Tensor",
           "empty", "from_dlpack", "from_numpy", "has_compiler", "library_path", "ops", "zeros", *DType.__members__]

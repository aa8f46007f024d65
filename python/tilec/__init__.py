"""tilec: kernels in C++ tiles, ops on tensors, on NVIDIA GPUs and on a virtual GPU that checks every access.

    import numpy, tilec

    device = tilec.Device("virtual:sm_90a")
    with device.stream() as stream:
        x = tilec.from_numpy(numpy.arange(1000, dtype="f4"), device)
        y = tilec.empty(1000, device=device)
        scale = tilec.Library("libkernels.so").kernel("scale")
        scale(stream, x, y, 0.5, B=256)
        print(y.numpy(stream))

docs/python.md says more."""
from . import _abi, ops
from ._making import arange, empty, empty_like, from_dlpack, from_numpy, full, ones, tensor, zeros, zeros_like
from ._suggest import did_you_mean
from ._tensor import Tensor
from .archive import Archive, Function
from .arguments import Parameter
from .device import Device, Event, Stream
from .dtypes import DType
from .errors import Error
from .graph import Graph
from .library import Kernel, Library
from .prediction import PredictedLaunch, Prediction

__version__ = _abi.library.tile_version().decode()
library_path = _abi.library_name  # of the library that was found
has_compiler = _abi.has_compiler  # whether it has ops and loads libraries of kernels
globals().update(DType.__members__)



def __getattr__(name):
    if not name.startswith("_") and name in dir(ops):
        raise AttributeError(f"tilec has no '{name}': tilec.ops.{name} is an op")
    question = did_you_mean(name, [*__all__, *(f"ops.{op}" for op in dir(ops))])
    raise AttributeError(f"tilec has no '{name}'{': ' + question if question else ''}")


__all__ = ["Archive", "Device", "Event", "Stream", "DType", "Error", "Function", "Graph", "Kernel", "Library", "Parameter", "PredictedLaunch", "Prediction", "Tensor",
           "arange", "empty", "empty_like", "from_dlpack", "from_numpy", "full", "has_compiler", "library_path", "ones", "ops", "tensor", "zeros",
           "zeros_like", *DType.__members__]

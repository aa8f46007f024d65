"""The samples that PyTorch's database yields for a name, the same on every run."""
import random
import warnings

import numpy
import torch

warnings.simplefilter("ignore")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

SEED = 1234
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
          torch.bool)
DATABASE = {info.name + (f"/{info.variant_test_name}" if info.variant_test_name else ""): info for info in op_db}


def dtypes_of(info):
    """Those that PyTorch has for it on CPU and tilec has at all."""
    supported = info.supported_dtypes("cpu")
    return [dtype for dtype in DTYPES if dtype in supported]


def samples_of(info, dtype, kind):
    for seed in (random.seed, numpy.random.seed, torch.manual_seed):
        seed(SEED)
    make = info.reference_inputs if kind == "reference" else info.sample_inputs
    yield from make("cpu", dtype)


def errors_of(info):
    """The calls that PyTorch is to refuse; few names have any."""
    if info.error_inputs_func is None:
        return
    for seed in (random.seed, numpy.random.seed, torch.manual_seed):
        seed(SEED)
    yield from info.error_inputs("cpu")

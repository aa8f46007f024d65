"""How long kernels would take on an H100, by a model: Device.predict() (docs/time.md)."""
from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

from . import _abi
from ._handles import Handle, call, made, require_compiler
from ._recorded import Recorded


class _Handle(Handle):
    _release_function = "tile_prediction_release"
    __slots__ = ()

    def text(self, form: bytes) -> str:
        text = ctypes.c_char_p()
        call(_abi.library.tile_prediction_text, self._handle, form, ctypes.byref(text))
        return text.value.decode()


class PredictedLaunch:
    """One launch. Its attributes are the names of the JSON that `tilec time --json` writes: kernel, grid, us, cycles, bound, busy, stalls,
    registers, assumptions, ..."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"<tilec.PredictedLaunch {self.kernel}: {self.us:.3g} us>"


class Prediction:
    """Launches in their order, and their sums: `us` and `cycles`. `is_calibrated` is false on devices that the model's numbers are not of:
    times then serve to order launches alone. str() is a report of about 15 lines a launch."""

    def __init__(self, text: str, report: dict[str, Any]) -> None:
        self._text = text
        self.us: float = report["us"]
        self.cycles: float = report["cycles"]
        self.is_calibrated: bool = report["is_calibrated"]
        self.launches = [PredictedLaunch(launch) for launch in report["launches"]]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<tilec.Prediction of {len(self.launches)} launches: {self.us:.3g} us>"


def predict(device: int, work: Callable[[], Any], clock_ghz: float | None, dirty: bool, assemble: bool) -> Prediction:
    """What Device.predict() does, for a device's handle."""
    require_compiler("predictions")
    flags = (0 if dirty else _abi.PREDICT_CLEAN) | (0 if assemble else _abi.PREDICT_ESTIMATE)
    if clock_ghz is not None and not clock_ghz > 0:
        raise ValueError(f"clock_ghz must be above 0, got {clock_ghz}")
    options = _abi.PredictOptions(clock_ghz=clock_ghz or 0.0, flags=flags)
    handle = Recorded(work).handed(
        lambda function: made(_abi.library.tile_predict, device, function, None, ctypes.byref(options)))
    with _Handle(handle) as found:
        return Prediction(found.text(b"text"), json.loads(found.text(b"json")))

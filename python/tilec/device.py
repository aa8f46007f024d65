"""Devices, streams and events."""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from . import _abi
from ._handles import Handle, call, encoded, made
from ._numbers import address
from .prediction import Prediction, predict


class Device(Handle):
    """An NVIDIA GPU or the virtual GPU: "cuda", "cuda:1", "virtual" (sm_80), "virtual:sm_90a" or "auto". Without a name the one
    that the environment's TILE_DEVICE names, else a GPU if there is one, else the virtual GPU."""

    _release_function = "tile_device_release"
    __slots__ = ()

    def __init__(self, name: str | None = None) -> None:
        super().__init__(made(_abi.library.tile_device_open, None if name is None else encoded(name)))

    @classmethod
    def _of(cls, handle: int) -> Device:
        device = cls.__new__(cls)
        Handle.__init__(device, handle)
        return device

    @classmethod
    def of_context(cls, context: int | None = None) -> Device:
        """The device of a CUcontext that another library made and keeps, as a number; without one, of that which is current to this
        thread."""
        return cls._of(made(_abi.library.tile_device_of_context, None if context is None else address(context, "context")))

    def _text(self, name: bytes) -> str:
        text = ctypes.c_char_p()
        call(_abi.library.tile_device_text, self._handle, name, ctypes.byref(text))
        return text.value.decode()

    def number(self, name: str) -> int:
        """A property that is a number, by its name in include/tile/c/Device.h: "total_memory", "l2_bytes", ..."""
        number = ctypes.c_int64()
        call(_abi.library.tile_device_number, self._handle, encoded(name), ctypes.byref(number))
        return number.value

    @property
    def name(self) -> str:
        """What Device() takes: "cuda:0", "virtual:sm_80"."""
        return self._text(b"name")

    @property
    def product(self) -> str:
        return self._text(b"product")

    @property
    def target(self) -> str:
        """The PTX target that kernels are compiled for: "sm_90a"."""
        return self._text(b"target")

    @property
    def is_virtual(self) -> bool:
        return bool(self.number("is_virtual"))

    @property
    def multiprocessors(self) -> int:
        return self.number("multiprocessors")

    @property
    def default_stream(self) -> Stream:
        """The stream of calls that are given none: one a device, made when it is first needed."""
        return default_stream(self.number("id"), lambda: self)

    def stream(self) -> Stream:
        """A new stream."""
        return Stream(made(_abi.library.tile_stream_create, self._handle))

    def external_stream(self, native: int) -> Stream:
        """A CUstream that another library made and keeps, as a number: `torch.cuda.current_stream().cuda_stream`."""
        return Stream(made(_abi.library.tile_stream_adopt, self._handle, address(native, "native")))

    def event(self) -> Event:
        """A new event."""
        return Event(made(_abi.library.tile_event_create, self._handle))

    def synchronize(self) -> None:
        """Waits for all work of the device."""
        call(_abi.library.tile_device_synchronize, self._handle)

    def predict(self, work: Callable[..., Any], *arguments: Any, clock_ghz: float | None = None, dirty: bool = True,
                assemble: bool = True, **settings: Any) -> Prediction:
        """Calls `work(*arguments, **settings)` and predicts the kernels that it launches on this virtual GPU, which are not run:
        `device.predict(scale, stream, x, y, 0.5, B=256).us`. docs/time.md says how far to trust it. `clock_ghz` is in place of the clock
        that the model expects; `dirty`: L2 is full of written lines at the start; `assemble`: ptxas is asked for registers where there is
        one."""
        return predict(self._handle, lambda: work(*arguments, **settings), clock_ghz, dirty, assemble)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.number("id") == other.number("id")

    def __hash__(self) -> int:
        return self.number("id")

    def __repr__(self) -> str:
        return "<tilec.Device, closed>" if self.closed else f"tilec.Device({self.name!r})"


class Stream(Handle):
    """A queue of work of a device, in the order in which it was given; from Device.stream(). Leaving it as a context manager waits
    for its work."""

    _release_function = "tile_stream_release"
    __slots__ = ()

    @property
    def device(self) -> Device:
        return Device._of(made(_abi.library.tile_stream_device, self._handle))

    @property
    def native(self) -> int:
        """The CUstream as a number, for other libraries."""
        return made(_abi.library.tile_stream_native, self._handle) or 0

    def synchronize(self) -> None:
        """Waits for the stream's work. Raises what that work did wrong."""
        call(_abi.library.tile_stream_synchronize, self._handle)

    def wait(self, other: Stream | Event) -> None:
        """What this stream is given from here on starts after what the other stream was given so far, or after an event."""
        if isinstance(other, Event):
            call(_abi.library.tile_stream_wait_event, self._handle, other._handle)
        elif isinstance(other, Stream):
            call(_abi.library.tile_stream_wait, self._handle, other._handle)
        else:
            raise TypeError(f"a Stream or an Event is expected, got a {type(other).__name__}")

    def overlap_launches(self, overlap: bool = True) -> None:
        """From here on kernels given to the stream may start while the one before ends; results stay the same."""
        call(_abi.library.tile_stream_overlap_launches, self._handle, bool(overlap))

    def trim(self) -> None:
        """Waits for the stream and gives the device the memory that it keeps for later tensors."""
        call(_abi.library.tile_stream_trim, self._handle)

    @property
    def usage(self) -> dict[str, int]:
        """What tensors made with `stream=` hold of the device's memory: used_bytes, kept_bytes, allocations."""
        usage = _abi.StreamUsage()
        call(_abi.library.tile_stream_get_usage, self._handle, ctypes.byref(usage))
        return {name: getattr(usage, name) for name in ("used_bytes", "kept_bytes", "allocations")}

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None and not self.closed:
                self.synchronize()
        finally:
            self.close()


class Event(Handle):
    """A point in the work of a stream; from Device.event()."""

    _release_function = "tile_event_release"
    __slots__ = ()

    def record(self, stream: Stream) -> None:
        """The event is, from here on, the end of what the stream was given so far."""
        call(_abi.library.tile_event_record, self._handle, stream_handle(stream))

    def synchronize(self) -> None:
        call(_abi.library.tile_event_synchronize, self._handle)

    def query(self) -> bool:
        """Whether it has been reached; true if it was never recorded."""
        reached = ctypes.c_int32()
        call(_abi.library.tile_event_query, self._handle, ctypes.byref(reached))
        return bool(reached.value)

    def elapsed_ms(self, end: Event) -> float:
        """Milliseconds from this event to `end`; waits for both."""
        milliseconds = ctypes.c_float()
        call(_abi.library.tile_event_elapsed, self._handle, end._handle, ctypes.byref(milliseconds))
        return milliseconds.value


def stream_handle(stream: Any) -> int:
    """The handle of a stream. TypeError for what is none."""
    if not isinstance(stream, Stream):
        raise TypeError(f"a tilec.Stream is expected, got a {type(stream).__name__}")
    return stream._handle


def device_or_default(device: Device | str | None) -> Device:
    """The device that is meant: an object, a name, or None for the one that Device() opens."""
    if isinstance(device, Device):
        return device
    if device is None or isinstance(device, str):
        return Device(device)
    raise TypeError(f"a tilec.Device or its name is expected, got a {type(device).__name__}")


_lock = threading.Lock()
_default_streams: dict[int, Stream] = {}  # by the device's id, which no other device of this process has


def default_stream(device_id: int, device: Callable[[], Device]) -> Stream:
    """The default stream of a device, which `device()` gives if it is needed."""
    with _lock:
        stream = _default_streams.get(device_id)
        if stream is None or stream.closed:
            stream = _default_streams[device_id] = device().stream()
        return stream

"""Graphs: work of a stream that is recorded once and given to the device as a whole, again and again (docs/graphs.md)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _abi
from ._handles import Handle, call, made
from ._recorded import Recorded
from .device import Stream, stream_handle


class Graph(Handle):
    """Captured work; from Graph.capture()."""

    _release_function = "tile_graph_release"
    __slots__ = ()

    @classmethod
    def capture(cls, stream: Stream, work: Callable[[], Any]) -> Graph:
        """Calls `work()`, whose calls for the stream are recorded instead of carried out."""
        handle = stream_handle(stream)
        return cls(Recorded(work).handed(lambda function: made(_abi.library.tile_graph_capture, handle, function, None)))

    def replay(self, stream: Stream) -> None:
        """Gives the work to the stream, in whose order it runs."""
        call(_abi.library.tile_graph_replay, self._handle, stream_handle(stream))

    def update(self, stream: Stream, work: Callable[[], Any]) -> None:
        """Captures anew; later replays do that work. Only addresses, numbers, grids and kernels may differ."""
        handle = stream_handle(stream)
        Recorded(work).handed(
            lambda function: call(_abi.library.tile_graph_update, self._handle, handle, function, None))

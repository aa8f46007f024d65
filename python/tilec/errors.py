"""The exception of this package."""
from __future__ import annotations

from collections.abc import Iterable

from . import _abi

_FAULTS = {0: "", 1: "user", 2: "compiler", 3: "device"}


class Error(Exception):
    """What tilec refuses or cannot do. Its text has one to three lines: file:line, fault, values, remedy, then notes."""

    def __init__(self, text: str, code: str = "", status: int = 0, message: str = "", file: str = "", line: int = 0,
                 notes: Iterable[str] = (), fault: str = "") -> None:
        super().__init__(text)
        self.code = code  # "InvalidArgument", ...
        self.status = status  # the same as a number of the C API
        self.message = message or text
        self.file = file
        self.line = line
        self.notes = list(notes)
        self.fault = fault  # whose it is: "user", "compiler" or "device"


def _text(value: bytes | None) -> str:
    return value.decode(errors="replace") if value else ""


def last_error(status: int) -> Error:
    """The last error of this thread, which a call has just returned as `status`."""
    library = _abi.library
    notes = [_text(library.tile_last_error_note(index)) for index in range(library.tile_last_error_note_count())]
    return Error(_text(library.tile_last_error_text()), code=_text(library.tile_status_name(status)), status=status,
                 message=_text(library.tile_last_error_message()), file=_text(library.tile_last_error_file()),
                 line=library.tile_last_error_line(), notes=notes,
                 fault=_FAULTS.get(library.tile_last_error_fault(), ""))

"""Functions of Python that the C API calls."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _abi
from .errors import Error


class Recorded:
    """A function without arguments as the C API calls it. What it raises ends the call and is raised again behind it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.raised: BaseException | None = None
        self.function = _abi.Work(self._run)

    def _run(self, _: Any) -> int:
        try:
            self.work()
            return 0
        except Error as error:
            self.raised = error
            return error.status or _abi.INTERNAL_ERROR
        except BaseException as error:
            self.raised = error
            return _abi.INVALID_ARGUMENT

    def handed(self, give: Callable[[Any], Any]) -> Any:
        """What `give(function)` returns."""
        try:
            return give(self.function)
        except Error:
            if self.raised is None:
                raise
        raise self.raised

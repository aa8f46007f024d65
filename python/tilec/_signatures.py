"""What ops are called with: the names of their tensors and settings, as the library tells them, and Python's form of that."""
from __future__ import annotations

import ctypes
import functools
import inspect
from typing import Any

from . import _abi
from ._handles import call, encoded
from .dtypes import DType

# What NumPy and PyTorch call settings; the first name here that an op has is meant.
_OTHER_NAMES = {
    "axis": ("axes", "dim"), "dim": ("axes",), "axes": ("dim",), "keepdim": ("keep_dims",), "keepdims": ("keep_dims",),
    "lr": ("rate",), "learning_rate": ("rate",), "eps": ("epsilon",), "is_causal": ("causal",), "max_norm": ("largest",),
    "std": ("deviation",), "p": ("probability",), "num_embeddings": ("rows",), "equation": ("formula",), "rounding_mode": ("rounding",), "alpha": ("factor",)}


class Setting:
    """A setting of an op. `kind` is "integer", "number", "flag", "dtype", "integers" or "text"."""

    def __init__(self, described: _abi.SettingDescription) -> None:
        self.name, self.kind = described.name.decode(), _abi.SETTING_KINDS[described.kind]
        self.word, self.summary = described.fallback.decode(), described.summary.decode()
        self.is_required = bool(described.is_required)

    @property
    def fallback(self) -> Any:
        """What it is unless given, in Python; None where the op chooses."""
        if not self.word:
            return None
        kinds = {"integer": int, "number": float, "flag": lambda word: word != "0", "dtype": DType.__getitem__}
        return kinds.get(self.kind, str)(self.word)


def _names_in(text: bytes) -> list[str]:
    """Of a list of names, those that are words of every call being others."""
    return [name + "_" if name in ("out", "stream") else name for name in text.decode().split(", ")] if text else []


class Signature:
    """Of an op: `inputs` are the names of its tensors, of which the first `needed` must be there."""

    def __init__(self, name: str) -> None:
        described, names = _abi.OpDescription(), _abi.OpSignature()
        call(_abi.library.tile_op_find, encoded(name), ctypes.byref(described))
        call(_abi.library.tile_op_signature_of, encoded(name), ctypes.byref(names))
        self.name, self.summary = described.name.decode(), described.summary.decode()
        self.needed, self.most, self.changed = described.inputs, described.inputs + described.optional_inputs, described.changed
        self.inputs, self.outputs = (_names_in(text) for text in (names.inputs, names.outputs))
        self.is_described = bool(self.inputs)
        self.settings = {setting.name: setting for setting in map(self._setting, range(names.settings))}

    def _setting(self, index: int) -> Setting:
        described = _abi.SettingDescription()
        call(_abi.library.tile_op_setting_at, encoded(self.name), index, ctypes.byref(described))
        return Setting(described)

    @property
    def repeats(self) -> bool:
        """Whether the last name is that of any number of tensors."""
        return len(self.inputs) < self.most

    def input_name(self, index: int) -> str:
        if not self.is_described:
            return f"tensor {index}"
        return self.inputs[index] if index < len(self.inputs) else self.inputs[-1]

    def setting_named(self, name: str) -> Setting | None:
        """The setting that is meant by this name or by one of other packages, or None."""
        for known in (name, *_OTHER_NAMES.get(name, ())):
            if known in self.settings:
                return self.settings[known]
        return None

    def text(self) -> str:
        """add(a, b), layernorm(x, weight=None, bias=None)"""
        words = [f"{name}=None" if at >= self.needed else name for at, name in enumerate(self.inputs)]
        if self.repeats:
            words[-1:] = [f"*{self.inputs[-1]}"] if self.inputs else ["*tensors"]
        return f"{self.name}({', '.join(words)})"

    def of_python(self) -> inspect.Signature:
        """The same as an inspect.Signature."""
        P = inspect.Parameter
        words = []
        for at, name in enumerate(self.inputs[:-1] if self.repeats else self.inputs):
            words.append(P(name, P.POSITIONAL_OR_KEYWORD, default=None if at >= self.needed else P.empty))
        if self.repeats:
            words = [P(word.name, P.POSITIONAL_ONLY) for word in words]
            words.append(P(self.inputs[-1] if self.inputs else "tensors", P.VAR_POSITIONAL))
        words += [P(name, P.KEYWORD_ONLY, default=None) for name in ("out", "stream")]
        for setting in self.settings.values():
            words.append(P(setting.name, P.KEYWORD_ONLY, default=P.empty if setting.is_required else setting.fallback))
        if not self.is_described:
            words.append(P("settings", P.VAR_KEYWORD))
        return inspect.Signature(words)

    def document(self) -> str:
        """The text of help()."""
        lines = [self.summary + "."]
        if self.outputs:
            last = ", the last only with `statistics`" if "statistics" in self.settings else ""
            lines.append(f"Returns {', '.join(self.outputs)}{last}.")
        changed = [self.input_name(at) for at in range(min(self.most, 8)) if self.changed >> at & 1]
        if changed:
            lines.append(f"Changes {', '.join(dict.fromkeys(changed))} in place.")
        text = "\n".join(lines)
        if self.settings:
            width = max(map(len, self.settings))
            text += "\n\nSettings:\n" + "\n".join(f"  {name:{width}}  {setting.summary}" for name, setting in self.settings.items())
        return text


@functools.lru_cache(maxsize=None)
def signature_of(name: str) -> Signature:
    """The signature of an op that there is."""
    return Signature(name)


_names: list[str] = []


def op_names() -> list[str]:
    """The names of all ops, none without a compiler. Libraries that are loaded later may register more."""
    if not _abi.has_compiler:
        return []
    count = ctypes.c_size_t()
    call(_abi.library.tile_op_count, ctypes.byref(count))
    if count.value != len(_names):
        described, found = _abi.OpDescription(), []
        for index in range(count.value):
            call(_abi.library.tile_op_at, index, ctypes.byref(described))
            found.append(described.name.decode())
        _names[:] = found
    return list(_names)


def is_op(name: str) -> bool:
    return name in _names or name in op_names()

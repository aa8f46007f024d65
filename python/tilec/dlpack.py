"""DLPack capsules, which Python's libraries exchange tensors in (docs/exchange.md).

A capsule holds a pointer to a structure with a deleter. Who takes the tensor renames the capsule to `used_...`; a capsule that ends
under its first name calls the deleter.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _abi
from ._handles import call, made
from .device import Device, Stream, stream_handle

if TYPE_CHECKING:
    from ._tensor import Tensor

CPU, CUDA = 1, 2
_VERSION = (1, 1)
_NO_SYNC = -1  # a consumer that orders its work itself


class _Form:
    """One of the two structures: the names of its capsules, and where its deleter is."""

    def __init__(self, name, deleter_offset, export, take):
        self.name, self.used = ctypes.create_string_buffer(name), ctypes.create_string_buffer(b"used_" + name)
        self.deleter_offset, self.export, self.take = deleter_offset, export, take


_VERSIONED = _Form(b"dltensor_versioned", 16, "tile_tensor_to_dlpack", "tile_tensor_from_dlpack")
_UNVERSIONED = _Form(b"dltensor", 56, "tile_tensor_to_dlpack_unversioned", "tile_tensor_from_dlpack_unversioned")

_api = ctypes.PyDLL(None)
_new, _is_valid, _pointer, _set_name = (
    _api.PyCapsule_New, _api.PyCapsule_IsValid, _api.PyCapsule_GetPointer, _api.PyCapsule_SetName)
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
_set_name.restype, _set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_void_p]


def _typed(function, result, capsule):
    """The function with a capsule that is an object or, in a destructor, an address."""
    typed = ctypes.PYFUNCTYPE(result, capsule, ctypes.c_void_p)
    return typed(ctypes.cast(function, ctypes.c_void_p).value)


def _make_destructor():
    # It may run while the interpreter ends: what it needs is bound here and never freed.
    is_valid = _typed(_is_valid, ctypes.c_int, ctypes.c_void_p)
    pointer = _typed(_pointer, ctypes.c_void_p, ctypes.c_void_p)
    forms = [(ctypes.addressof(form.name), form.deleter_offset) for form in (_VERSIONED, _UNVERSIONED)]
    word, deleter = ctypes.c_void_p, ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def destroy(capsule):
        for name, offset in forms:
            if is_valid(capsule, name):
                managed = pointer(capsule, name)
                function = word.from_address(managed + offset).value
                if function:
                    deleter(function)(managed)

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


_destructor = _make_destructor()
_kept = (_destructor, _VERSIONED, _UNVERSIONED)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))
_destructor_address = ctypes.cast(_destructor, ctypes.c_void_p).value


def device_of(tensor: Tensor) -> tuple[int, int]:
    """What others can address: memory of a GPU as it is, that of the virtual GPU as a copy in memory of the host."""
    device = tensor.device
    return (CPU, 0) if device.is_virtual else (CUDA, device.number("ordinal"))


def export(tensor: Tensor, stream: int | None, max_version: tuple[int, int] | None, dl_device: tuple[int, int] | None,
           copy: bool | None) -> Any:
    """`Tensor.__dlpack__`: a capsule. BufferError for what the memory cannot be."""
    own = device_of(tensor)
    if dl_device is not None and tuple(dl_device) != own:
        if tuple(dl_device) == (CPU, 0) and copy is not False:
            return tensor.numpy().__dlpack__()
        raise BufferError(f"the tensor is exported for DLPack device {own}, not {tuple(dl_device)}")
    if own[0] == CPU and copy is False:
        raise BufferError("memory of the virtual GPU is copied to the host to be exported")
    if own[0] == CPU and stream is not None:
        raise BufferError(f"memory of the host has no stream, got {stream}")
    if own[0] == CUDA and copy:
        raise BufferError("memory of a GPU is shared; copy it before")
    if own[0] == CUDA and stream != _NO_SYNC:
        tensor.device.synchronize()  # any of our streams may be writing it
    form = _VERSIONED if max_version is not None and tuple(max_version) >= (1, 0) else _UNVERSIONED
    managed = made(getattr(_abi.library, form.export), tensor._handle)
    return _new(managed, ctypes.addressof(form.name), _destructor_address)


def _capsule_of(source, stream, is_cuda):
    if type(source).__name__ == "PyCapsule":
        return source
    if not hasattr(source, "__dlpack__"):
        raise TypeError(f"a {type(source).__name__} has no __dlpack__: it cannot be taken by DLPack")
    options = {"stream": stream.native} if stream is not None and is_cuda else {}
    try:
        return source.__dlpack__(max_version=_VERSION, **options)
    except TypeError:  # of before DLPack 1.0
        return source.__dlpack__(**options)


def is_shared(source: Any, device: Device) -> bool:
    """Whether a tensor of another library is taken without a copy."""
    place = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (CPU, 0)
    return int(place[0]) == CUDA and not device.is_virtual


def take(source: Any, device: Device, stream: Stream | None) -> int:
    """The handle of a tensor with a source's elements; the source is told in any case that it was taken."""
    if stream is not None:
        stream_handle(stream)
    place = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (CPU, 0)
    is_cuda = int(place[0]) not in (CPU, 3)
    capsule = _capsule_of(source, stream, is_cuda)
    for form in (_VERSIONED, _UNVERSIONED):
        if not _typed(_is_valid, ctypes.c_int, ctypes.py_object)(capsule, ctypes.addressof(form.name)):
            continue
        managed = _typed(_pointer, ctypes.c_void_p, ctypes.py_object)(capsule, ctypes.addressof(form.name))
        _set_name(capsule, ctypes.addressof(form.used))
        handle = made(getattr(_abi.library, form.take), device._handle, managed, None)
        if is_cuda and stream is None:
            call(_abi.library.tile_device_synchronize, device._handle)
        return handle
    raise ValueError("the capsule holds no tensor of DLPack: it was taken already, or is of something else")

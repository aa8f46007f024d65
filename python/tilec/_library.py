"""Finds and loads the library behind this package.

The first of these that there is: the file that TILE_LIBRARY names; `lib/libtile_rt.so` beside this file, where wheels have it;
libtile.so.0 of the installation that this file is part of (PREFIX/lib/python3/dist-packages/tilec); libtile.so.0 or
libtile_rt.so.0 of the system. libtile_rt.so is without the compiler: it has no ops and loads no libraries of kernels.
"""
import ctypes
import os
import pathlib

ABI_VERSION = 1  # of include/tile/c/Status.h, what this package was written for


def _candidates():
    named = os.environ.get("TILE_LIBRARY")
    if named:
        return [named]
    here = pathlib.Path(__file__).resolve()
    places = [here.parent / "lib/libtile_rt.so"]
    if here.parts[-4:-1] == ("python3", "dist-packages", "tilec"):
        places += [here.parents[3] / name for name in ("libtile.so.0", "libtile_rt.so.0")]
    return [str(place) for place in places if place.exists()] + ["libtile.so.0", "libtile_rt.so.0"]


def load():
    """The library, and the name under which it was found. ImportError says what was tried."""
    reasons = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
            continue
        if not hasattr(library, "tile_abi_version"):
            raise ImportError(f"tilec: {name} is not libtile.so: it lacks tile_abi_version")
        version = library.tile_abi_version()
        if version < ABI_VERSION:
            raise ImportError(f"tilec: {name} has version {version} of the C API, this package needs {ABI_VERSION}: "
                              "install a newer libtile.so")
        return library, name
    raise ImportError("tilec: there is no libtile.so; set TILE_LIBRARY to its path or install it. Tried: " + "; ".join(reasons))

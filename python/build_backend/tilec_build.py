"""Builds the wheel of the package tilec, for pip and other frontends (PEP 517): its files and, if there is one, the library.

`pip wheel python` bundles build/release/lib/libtile_rt.so or build/dev/lib/libtile_rt.so. libtile.so is not for it, which needs
the libraries of LLVM. Settings (`--config-settings`):
  library=PATH      bundle this libtile_rt.so instead; library=none: none, the package then finds one
  platform=TAG      of a wheel with a library: linux_x86_64 unless this says manylinux_2_36_x86_64, say
"""
import base64
import hashlib
import io
import pathlib
import re
import sysconfig
import tarfile
import tomllib
import zipfile

kFolder = pathlib.Path(__file__).resolve().parent.parent
kRoot = kFolder.parent
kDate = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def project():
    return tomllib.loads((kFolder / "pyproject.toml").read_text())["project"]


def version():
    """A source archive has it in a file of its own."""
    noted = kFolder / "VERSION"
    if noted.exists():
        return noted.read_text().strip()
    text = (kRoot / "include/tile/Version.h").read_text()
    return ".".join(re.search(rf"TILE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def license_file():
    return next(path for path in (kFolder / "LICENSE", kRoot / "LICENSE") if path.exists())


def library_of(settings):
    """The library to bundle, or None."""
    named = settings.get("library")
    if named == "none":
        return None
    if named:
        path = pathlib.Path(named)
        if not path.is_file() or not path.name.startswith("libtile_rt.so"):
            raise SystemExit(f"library={named}: a file libtile_rt.so is expected")
        return path
    built = [kRoot / "build" / preset / "lib/libtile_rt.so" for preset in ("release", "dev")]
    return next((path for path in built if path.is_file()), None)


def package_files(folder):
    """Its sources, and the mark of a package that has type hints."""
    return sorted([*(kFolder / folder).glob("*.py"), *(kFolder / folder).glob("py.typed")])


def metadata():
    described = project()
    lines = ["Metadata-Version: 2.1", f"Name: {described['name']}", f"Version: {version()}",
             f"Summary: {described['description']}", f"License: {described['license']['text']}",
             f"Requires-Python: {described['requires-python']}"]
    for extra, needs in described.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need} ; extra == "{extra}"' for need in needs)]
    return "\n".join(lines) + "\n"


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(directory, tag, files):
    """`files` are contents by name; returns the wheel's name."""
    name = f"tilec-{version()}-{tag}.whl"
    info = f"tilec-{version()}.dist-info"
    files = {**files, f"{info}/METADATA": metadata().encode(), f"{info}/licenses/LICENSE": license_file().read_bytes(),
             f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: tilec\nRoot-Is-Purelib: {str(tag.endswith('any')).lower()}\n"
                               f"Tag: {tag}\n").encode()}
    record = "".join(record_line(*item) for item in files.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in {**files, f"{info}/RECORD": record.encode()}.items():
            entry = zipfile.ZipInfo(path, kDate)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def build_wheel(directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    files = {f"tilec/{path.name}": path.read_bytes() for path in package_files("tilec")}
    library = library_of(settings)
    if library is None:
        return write_wheel(directory, "py3-none-any", files)
    files["tilec/lib/libtile_rt.so"] = library.read_bytes()
    platform = settings.get("platform") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return write_wheel(directory, f"py3-none-{platform}", files)


def build_editable(directory, config_settings=None, metadata_directory=None):
    """A wheel that points to this folder (PEP 660)."""
    return write_wheel(directory, "py3-none-any", {"tilec.pth": f"{kFolder}\n".encode()})


def build_sdist(directory, config_settings=None):
    base = f"tilec-{version()}"
    files = {path.relative_to(kFolder).as_posix(): path.read_bytes() for folder in ("tilec", "build_backend")
             for path in package_files(folder)}
    files |= {"pyproject.toml": (kFolder / "pyproject.toml").read_bytes(), "VERSION": f"{version()}\n".encode(),
              "PKG-INFO": metadata().encode(), "LICENSE": license_file().read_bytes()}
    with tarfile.open(pathlib.Path(directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{base}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel

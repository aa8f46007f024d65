#!/usr/bin/env python3
"""tilec/_abi.py against the headers: every function with its types, every structure with its fields."""
import ctypes
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import kRoot
from tilec import _abi

kHeaders = sorted((kRoot / "include/tile/c").glob("*.h"))
kStructures = {"tile_stream_usage": _abi.StreamUsage, "tile_tensor_layout": _abi.TensorLayout, "tile_argument": _abi.Argument,
               "tile_setting": _abi.Setting, "tile_op_description": _abi.OpDescription,
               "tile_kernel_description": _abi.KernelDescription, "tile_parameter_description": _abi.ParameterDescription,
               "tile_constant": _abi.Constant, "tile_launch_options": _abi.LaunchOptions,
               "tile_function_description": _abi.FunctionDescription, "tile_op_signature": _abi.OpSignature,
               "tile_setting_description": _abi.SettingDescription,
               "tile_predict_options": _abi.PredictOptions}
kPointers = {"tile_stream_usage": "u", "tile_tensor_layout": "t", "tile_argument": "a", "tile_setting": "e",
             "tile_op_description": "o", "tile_kernel_description": "k", "tile_parameter_description": "p",
             "tile_function_description": "d", "tile_op_signature": "g", "tile_setting_description": "w",
             "tile_launch_options": "n", "int32_t": "I", "tile_dtype": "I", "int64_t": "L", "size_t": "Z", "float": "F", "double": "D", "tile_predict_options": "r", "char": "s",
             "void": "h"}
kValues = {"int32_t": "i", "tile_dtype": "i", "tile_status": "i", "int64_t": "l", "size_t": "z", "void": "v"}
# Headers of functions that this package does not have.
kOthers = set()


def letter(parameter):
    """The letter of _abi for a parameter of C."""
    if "(*" in parameter:
        return "f" if parameter.startswith("tile_status") else "h"
    words = re.sub(r"\b(const|struct)\b", " ", parameter)
    name = re.match(r"\s*(\w+)", words)[1]
    stars = words.count("*")
    if stars == 0:
        return kValues[name]
    if stars == 2:
        return "S" if name == "char" else "H"
    return kPointers.get(name, "h")


def declared():
    """name -> signature of all functions in the headers."""
    found = {}
    for header in kHeaders:
        if header.name in kOthers:
            continue
        text = re.sub(r"//.*|^#.*", "", header.read_text(), flags=re.M)
        text = re.sub(r"static inline.*?^}", "", text, flags=re.M | re.S)
        for result, name, parameters in re.findall(r"^((?:const )?\w+ \*?)(tile_\w+)\((.*?)\);", text, re.M | re.S):
            parts = re.split(r",(?![^(]*\))", " ".join(parameters.split()))
            letters = "".join(letter(part.strip()) for part in parts) if parameters != "void" else ""
            found[name] = f"{letter(result + 'x')} {letters}".strip()
    return found


class Abi(unittest.TestCase):
    def test_functions(self):
        self.assertEqual(declared(), {**_abi.SIGNATURES, **_abi.COMPILER_SIGNATURES})

    def test_structures(self):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-22")
        if not compiler:
            self.skipTest("there is no C compiler")
        rows, expected = [], []
        for name, structure in kStructures.items():
            rows.append(f'printf("%zu\\n", sizeof({name}));')
            expected.append(ctypes.sizeof(structure))
            for field, _ in structure._fields_:
                rows.append(f'printf("%zu\\n", offsetof({name}, {field}));')
                expected.append(getattr(structure, field).offset)
        source = "#include <stdio.h>\n#include <tile/tile_c.h>\nint main(void) {" + "\n".join(rows) + "return 0; }\n"
        with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
            program = pathlib.Path(folder, "layouts")
            subprocess.run([compiler, "-std=c99", f"-I{kRoot / 'include'}", "-x", "c", "-", "-o", program], input=source,
                           text=True, check=True, timeout=60)
            output = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual([int(line) for line in output.split()], expected)

    def test_numbers(self):
        text = "".join(header.read_text() for header in kHeaders)
        numbers = {name: int(value) for name, value in re.findall(r"TILE_(\w+) = (\d+)", text)}
        from tilec.dtypes import DType
        for dtype in DType:
            self.assertEqual(numbers[dtype.name.upper()], dtype.value)
        for name in ("NO_FP_FUSION", "FLUSH_DENORMALS", "CHECKED", "NO_ASSUME", "UNSUPPORTED", "INVALID_ARGUMENT", "INTERNAL_ERROR",
                     "PREDICT_CLEAN", "PREDICT_ESTIMATE", "TENSOR_ARGUMENT", "INTEGER_ARGUMENT", "REAL_ARGUMENT", "UNSIGNED_ARGUMENT"):
            self.assertEqual(numbers[name], getattr(_abi, name), name)
        kinds = {"in": "IN", "out": "OUT", "inout": "IN_OUT", "scalar": "SCALAR", "const": "CONST"}
        self.assertEqual({numbers[kinds[kind]]: kind for kind in kinds}, _abi.PARAMETER_KINDS)
        settings = {numbers[name]: name[:-len("_SETTING")].lower() for name in numbers if name.endswith("_SETTING")}
        self.assertEqual(settings, _abi.SETTING_KINDS)


if __name__ == "__main__":
    unittest.main()

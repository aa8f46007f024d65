"""The C API, include/tile/tile_c.h, in ctypes: structures, enumerations and the types of its functions.

A test holds this file against the headers."""
import ctypes
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from . import _library

MAX_RANK = 8


class _Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, *arguments, **fields):
        super().__init__(*arguments, **fields)
        self.size = ctypes.sizeof(self)


class StreamUsage(_Sized):
    _fields_ = [("size", c_size_t), ("used_bytes", c_uint64), ("kept_bytes", c_uint64), ("allocations", c_uint64)]


class TensorLayout(_Sized):
    _fields_ = [("size", c_size_t), ("dtype", c_int32), ("rank", c_int32), ("shape", c_int64 * MAX_RANK),
                ("strides", c_int64 * MAX_RANK), ("data", c_void_p), ("elements", c_int64), ("bytes", c_size_t),
                ("device", c_uint64), ("is_contiguous", c_int32)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("dtype", c_int32), ("rank", c_int32), ("reserved", c_int32), ("data", c_void_p),
                ("device", c_uint64), ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK),
                ("integer", c_int64), ("real", c_double)]


TENSOR_ARGUMENT, INTEGER_ARGUMENT, REAL_ARGUMENT, UNSIGNED_ARGUMENT = 1, 2, 3, 4


class Setting(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class OpDescription(_Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("summary", c_char_p), ("inputs", c_int32),
                ("optional_inputs", c_int32), ("changed", ctypes.c_uint64)]


class OpSignature(_Sized):
    _fields_ = [("size", c_size_t), ("inputs", c_char_p), ("outputs", c_char_p), ("settings", c_int32)]


class SettingDescription(_Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("fallback", c_char_p), ("summary", c_char_p), ("kind", c_int32),
                ("is_required", c_int32)]


SETTING_KINDS = {1: "integer", 2: "number", 3: "flag", 4: "dtype", 5: "integers", 6: "text"}


class KernelDescription(_Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("file", c_char_p), ("line", c_int32), ("parameters", c_int32),
                ("constants", c_int32), ("is_tuned", c_int32)]


class ParameterDescription(_Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("kind", c_int32), ("dtype", c_int32), ("rank", c_int32)]


PARAMETER_KINDS = {1: "in", 2: "out", 3: "inout", 4: "scalar", 5: "const"}


class FunctionDescription(_Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("targets", c_char_p), ("parameters", c_int32),
                ("constants", c_int32)]


class Constant(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class LaunchOptions(_Sized):
    _fields_ = [("size", c_size_t), ("constants", POINTER(Constant)), ("constant_count", c_size_t), ("warps", c_int32),
                ("max_registers", c_int32), ("occupancy", c_int32), ("flags", c_uint32), ("grid", c_int64 * 3)]


class PredictOptions(_Sized):
    _fields_ = [("size", c_size_t), ("clock_ghz", c_double), ("flags", c_uint32)]


PREDICT_CLEAN, PREDICT_ESTIMATE = 1, 2

NO_FP_FUSION, FLUSH_DENORMALS, CHECKED, NO_ASSUME = 1, 2, 4, 8

# Named as in the C API; statuses that this package makes itself.
UNSUPPORTED, INVALID_ARGUMENT, INTERNAL_ERROR = 7, 1, 18

Work = ctypes.CFUNCTYPE(c_int32, c_void_p)

# name: what it returns, then its parameters. Handles are numbers; a letter stands for each type.
_TYPES = {
    "h": c_void_p,  # a handle, or an address
    "H": POINTER(c_void_p),  # where a handle is written
    "s": c_char_p,
    "S": POINTER(c_char_p),
    "i": c_int32,
    "I": POINTER(c_int32),
    "l": c_int64,
    "L": POINTER(c_int64),
    "z": c_size_t,
    "Z": POINTER(c_size_t),
    "F": POINTER(c_float),
    "f": Work,
    "u": POINTER(StreamUsage),
    "t": POINTER(TensorLayout),
    "a": c_void_p,  # of arguments, which bytes can be
    "e": POINTER(Setting),
    "o": POINTER(OpDescription),
    "g": POINTER(OpSignature),
    "w": POINTER(SettingDescription),
    "k": POINTER(KernelDescription),
    "p": POINTER(ParameterDescription),
    "d": POINTER(FunctionDescription),
    "n": POINTER(LaunchOptions),
    "D": POINTER(c_double),
    "r": POINTER(PredictOptions),
    "v": None,
}
SIGNATURES = {
    "tile_abi_version": "i", "tile_version": "s",
    "tile_status_name": "s i", "tile_last_error_code": "i", "tile_last_error_text": "s", "tile_last_error_message": "s",
    "tile_last_error_note_count": "z", "tile_last_error_note": "s z", "tile_last_error_file": "s",
    "tile_last_error_line": "i", "tile_last_error_fault": "i", "tile_clear_last_error": "v", "tile_at": "v si",
    "tile_device_open": "i sH", "tile_device_of_context": "i hH", "tile_device_release": "i h",
    "tile_device_text": "i hsS", "tile_device_number": "i hsL", "tile_device_synchronize": "i h",
    "tile_stream_create": "i hH", "tile_stream_adopt": "i hhH", "tile_stream_release": "i h", "tile_stream_native": "i hH",
    "tile_stream_device": "i hH", "tile_stream_synchronize": "i h", "tile_stream_wait": "i hh",
    "tile_stream_wait_event": "i hh", "tile_stream_trim": "i h", "tile_stream_overlap_launches": "i hi",
    "tile_stream_get_usage": "i hu",
    "tile_event_create": "i hH", "tile_event_release": "i h", "tile_event_record": "i hh",
    "tile_event_synchronize": "i h", "tile_event_query": "i hI", "tile_event_elapsed": "i hhF",
    "tile_dtype_name": "s i", "tile_dtype_size": "z i",
    "tile_tensor_create": "i hiiLLH", "tile_tensor_create_on": "i hiiLLH", "tile_tensor_wrap": "i hhiiLLhhH",
    "tile_tensor_release": "i h", "tile_tensor_permute": "i hIH", "tile_tensor_slice": "i hillH",
    "tile_tensor_reshape": "i hiLH", "tile_tensor_restride": "i hiLLH", "tile_tensor_info": "i ht",
    "tile_tensor_device": "i hH", "tile_tensor_upload": "i hhhz", "tile_tensor_download": "i hhhz",
    "tile_tensor_upload_async": "i hhhz", "tile_tensor_download_async": "i hhhz",
    "tile_tensor_to_dlpack": "i hH", "tile_tensor_to_dlpack_unversioned": "i hH",
    "tile_tensor_from_dlpack": "i hhhH", "tile_tensor_from_dlpack_unversioned": "i hhhH",
    "tile_tensor_argument": "i ha",
    "tile_archive_open": "i sH", "tile_archive_read": "i hzsH", "tile_archive_release": "i h",
    "tile_archive_function_count": "i hZ", "tile_archive_function_at": "i hzH", "tile_archive_function": "i hsH",
    "tile_function_release": "i h", "tile_function_info": "i hd", "tile_function_parameter": "i hzp",
    "tile_function_constant": "i hzSL", "tile_function_launch": "i hhaz", "tile_function_prepare": "i hh",
    "tile_embedded_launch": "i hzshaz", "tile_embedded_prepare": "i hzsh",
    "tile_graph_capture": "i hfhH", "tile_graph_replay": "i hh", "tile_graph_update": "i hhfh", "tile_graph_release": "i h",
}
# What libtile_rt.so has not.
COMPILER_SIGNATURES = {
    "tile_op_count": "i Z", "tile_op_at": "i zo", "tile_op_find": "i so", "tile_op_output": "i sHzezIIL",
    "tile_op_run": "i shHzhez", "tile_op_output_count": "i sHzezZ", "tile_op_output_at": "i sHzezzIIL",
    "tile_op_launch": "i shHzHzez", "tile_op_signature_of": "i sg", "tile_op_setting_at": "i szw",
    "tile_library_open": "i sH", "tile_library_release": "i h", "tile_library_kernel_count": "i hZ",
    "tile_library_kernel_at": "i hzH", "tile_library_kernel": "i hsH", "tile_kernel_release": "i h",
    "tile_kernel_info": "i hk", "tile_kernel_parameter": "i hzp", "tile_kernel_launch": "i hhnaz",
    "tile_predict": "i hfhrH", "tile_prediction_number": "i hsD", "tile_prediction_text": "i hsS",
    "tile_prediction_release": "i h",
    "tile_kernel_prepare": "i hhnaz", "tile_kernel_prepare_for": "i hhnaz",
}

library, library_name = _library.load()
has_compiler = hasattr(library, "tile_op_count")


def _bind(signatures):
    for name, signature in signatures.items():
        function = getattr(library, name)
        result, _, parameters = signature.partition(" ")
        function.restype = _TYPES[result]
        function.argtypes = [_TYPES[letter] for letter in parameters]


_bind(SIGNATURES)
if has_compiler:
    _bind(COMPILER_SIGNATURES)

// Names and texts of results.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

namespace fakecuda {
namespace {

const std::map<CUresult, std::pair<const char *, const char *>> kResults = {
    {0, {"CUDA_SUCCESS", "no error"}},
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {4, {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"}},
    {46, {"CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for the device"}},
    {214, {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {221, {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"}},
    {222, {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX has an unsupported version"}},
    {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {401, {"CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"}},
    {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {702, {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"}},
    {709, {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"}},
    {710, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
    {714, {"CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"}},
    {715, {"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"}},
    {716, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
    {717, {"CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on address space"}},
    {718, {"CUDA_ERROR_INVALID_PC", "invalid program counter"}},
    {719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {801, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
    {900,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}},
    {901,
     {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
      "operation failed due to a previous error during capture"}},
    {903,
     {"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
      "capture was not ended in the same stream as it began"}},
    {904, {"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"}},
    {905,
     {"CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
      "dependency created on uncaptured work in another stream"}},
    {907,
     {"CUDA_ERROR_CAPTURED_EVENT",
      "operation not permitted on an event last recorded in a capturing stream"}},
    {908,
     {"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
      "attempt to terminate a thread-local capture sequence from another thread"}},
    {910, {"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed"}},
    {912, {"CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"}},
    {999, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};

} // namespace

// Looked up after errors: neither counted nor made to fail.
FAKE_API cuGetErrorName(CUresult result, const char **name) {
  auto found = kResults.find(result);
  *name = found == kResults.end() ? nullptr : found->second.first;
  return *name ? kSuccess : kInvalidValue;
}
FAKE_API cuGetErrorString(CUresult result, const char **text) {
  auto found = kResults.find(result);
  *text = found == kResults.end() ? nullptr : found->second.second;
  return *text ? kSuccess : kInvalidValue;
}

} // namespace fakecuda

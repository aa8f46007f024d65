// The arguments of `tilec run`, in the order of a kernel's parameters:
//
//   f32:0.5  i32:-7  u64:0          a number of a dtype; a null pointer is u64:0
//   in:FILE.npy[:DTYPE]             an array; DTYPE for bf16, fp8, tf32{.ftz} and f32.ftz, which files hold as u16, u8, f32
//   inout:FILE.npy[:DTYPE][:OUT.npy]   the same, written afterwards to OUT.npy, else to FILE.npy
//   out:FILE.npy:DTYPE[AxB]         memory without values (poisoned), written afterwards
//   zeros:DTYPE[AxB]                memory with zeros, not kept
//
// DTYPE[AxB] may be written DTYPE:AxB, which needs no quotes in a shell.
#pragma once

#include "tools/tilec/run/Session.h"

#include <tile/Registry.h>

#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

struct RunArgument {
  detail::HostArg host;    ///< a scalar, or a tensor over `tensor`
  Tensor tensor;           ///< no tensor for scalars
  std::string word;        ///< as typed
  std::string element;     ///< the elements' dtype by name: that of `tensor`, or "tf32", "f32.ftz"
  std::string saveTo;      ///< empty: not kept
  bool isPoisoned = false; ///< the tensor was made without values
};

/// Reads what a word says, and claims the file it will be written to. Errors: InvalidArgument naming the word and the forms
/// there are; those of .npy files and of Session::claimFile.
RunArgument makeArgument(Session &session, const std::string &word);

/// Reports of the virtual GPU call an array by its word.
void nameMemory(const Device &device, const RunArgument &argument);

/// Notes, for each `out:`, how many elements the kernel never wrote. Without the init check those that still hold the poison.
void noteUnwritten(Session &session, const std::vector<RunArgument> &arguments);

/// Writes those that are kept. bf16 and fp8 are written as u16 and u8.
void saveArguments(const std::vector<RunArgument> &arguments);

/// Tensors to and from files, as `run op:NAME` takes them too.
Tensor loadTensor(const Device &device, const std::string &path, std::optional<DType> dtype = {});
void saveTensor(const Tensor &tensor, const std::string &path);

} // namespace tile::tilec

// The arguments of a PTX kernel: values of its parameters, buffers that no parameter names, tensor maps over both.
//
// Besides the words of RunArguments.h:
//
//   buf:NAME=FILE.npy[:DTYPE], buf:NAME=out:FILE.npy:DTYPE[AxB]   memory for tensor maps, no parameter
//   tmap:@K:..., tmap:@NAME:...      a tensor map by value; tmapptr: its address in global memory
#pragma once

#include "runtime/device/TensorMap.h"
#include "runtime/vgpu/ptx/Ptx.h"
#include "tools/tilec/run/RunArguments.h"
#include "tools/tilec/run/Session.h"

#include <deque>
#include <map>

namespace tile::tilec {

class PtxArguments {
public:
  /// Reads what the words say and encodes the maps. Errors: InvalidArgument naming the word; those of .npy files.
  PtxArguments(Session &session, const std::vector<std::string> &words);
  /// As the launch takes them. Error: InvalidArgument if number or sizes are not those of the entry's parameters.
  std::vector<device::Arg> pack(const vgpu::Function &entry) const;
  /// All that have memory, in the order of the words.
  const std::vector<RunArgument> &arrays() const { return arrays_; }

private:
  struct Value {
    std::string word;
    size_t bytes = 0;
    std::optional<size_t> array; // index into arrays_, of a pointer
    alignas(64) std::byte content[device::kTensorMapBytes] = {};
  };

  void addBuffer(const std::string &word);
  void addParameter(const std::string &word);
  void encodeMap(Value &value);
  const RunArgument &arrayNamed(const std::string &word, const std::string &name) const;

  Session &session_;
  std::vector<RunArgument> arrays_;
  std::map<std::string, size_t> buffers_;
  std::deque<Value> values_; // of the parameters; launches hold pointers into it
};

} // namespace tile::tilec

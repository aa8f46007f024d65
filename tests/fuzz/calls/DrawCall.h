// Random calls of ops by name, right and wrong ones, drawn from what the registry says of each op.
#pragma once

#include <tile/Registry.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tile::fuzz {

struct DrawnCall {
  std::string op;
  std::vector<TensorSpec> inputs;
  std::vector<std::pair<std::string, std::string>> settings;

  /// The call as one line: "top_k(f32 2x3, k=-1)"
  std::string str() const;
};

class CallSource {
public:
  explicit CallSource(uint64_t seed) : random_(seed), names_(opNames()) {}
  DrawnCall draw() { return drawOf(oneOf(names_)); }
  DrawnCall drawOf(const std::string &name);
  /// True once in so many.
  bool oneIn(uint64_t many) { return below(many) == 0; }
  /// Another dtype, extent or rank.
  void mutate(TensorSpec &spec);

private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  template <class T> const T &oneOf(const std::vector<T> &list) { return list[below(list.size())]; }

  int64_t extent();
  DType dtype();
  std::vector<TensorSpec> inputsOf(const OpEntry &op);
  std::vector<TensorSpec> examplesOf(const OpEntry &op);
  std::vector<TensorSpec> argumentsOf(const OpEntry &op);
  std::string valueOf(const OpSetting &setting);
  std::string listFor(const OpSetting &setting);

  std::mt19937_64 random_;
  std::vector<std::string> names_;
};

} // namespace tile::fuzz

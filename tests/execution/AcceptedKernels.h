// Which kernels the assembler has accepted before, in this build folder: to ask it again would take more time than all else that
// the tests do. Programs of tests have many kernels in common, and most changes leave most kernels as they are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace tile::test {

class AcceptedKernels {
public:
  using Key = uint64_t;

  /// Reads what is kept for this assembler. Another version accepts other kernels: `version` is all that it says of itself.
  explicit AcceptedKernels(const std::string &version);

  /// Names a kernel's code, whatever its entry is called, and what was asked of it: the machine, the rules.
  static Key keyOf(const std::string &code, const std::string &question);

  bool contains(Key key) const { return known_.contains(key); }
  /// Several programs may add at once.
  void add(const std::vector<Key> &keys);

private:
  std::string file_;
  std::unordered_set<Key> known_;
};

} // namespace tile::test

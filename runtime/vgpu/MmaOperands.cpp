// Sequences of mma.sync.
#include "runtime/vgpu/MmaOperands.h"

#include <algorithm>
#include <unordered_set>

namespace tile::vgpu {

void MmaOperands::begin(const Warp &warp, const Op &op) {
  if (op.imm != kContinuesMma || warp_ != &warp || next_ != &op) {
    a.clear();
    b.clear();
    warp_ = &warp;
  }
  next_ = &op + 1;
}

void linkMmaSequences(Program &program) {
  std::unordered_set<uint32_t> written;
  for (uint32_t i = 0; i < program.code.size(); ++i) {
    Op &op = program.code[i];
    MmaRows rows = mmaRows(op);
    if (rows.results.empty())
      continue;
    auto canFollow = [&](const Op &before) {
      return before.real == op.real && before.a == op.a && before.b == op.b &&
             !((before.flags | op.flags) & kHasGuard) &&
             std::ranges::none_of(rows.inputs, [&](uint32_t row) { return written.contains(row); });
    };
    bool follows = i > 0 && !mmaRows(program.code[i - 1]).results.empty();
    if (follows && canFollow(program.code[i - 1]))
      op.imm = kContinuesMma;
    else
      written.clear();
    written.insert(rows.results.begin(), rows.results.end());
  }
}

} // namespace tile::vgpu

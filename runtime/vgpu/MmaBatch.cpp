// Which mma.sync make a batch.
#include "runtime/vgpu/MmaBatch.h"

#include "runtime/vgpu/Program.h"
#include "runtime/vgpu/TensorCore.h"

#include <algorithm>
#include <unordered_set>

namespace tile::vgpu {
namespace {

// The fragments of one operand, each once.
class Fragments {
public:
  uint32_t indexOf(std::span<const uint32_t> rows) {
    for (size_t at = 0; at < rows_.size(); at += rows.size())
      if (std::equal(rows.begin(), rows.end(), rows_.begin() + static_cast<ptrdiff_t>(at)))
        return static_cast<uint32_t>(at / rows.size());
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    return static_cast<uint32_t>(rows_.size() / rows.size() - 1);
  }
  const std::vector<uint32_t> &rows() const { return rows_; }

private:
  std::vector<uint32_t> rows_;
};

class Builder {
public:
  explicit Builder(const Op &first) : first_(first) {}

  /// False if `op` cannot be in one batch with those added before.
  bool add(const Op &op) {
    MmaRows rows = mmaRows(op);
    bool isAlike = !rows.results.empty() && op.run == op.real && op.real == first_.real &&
                   op.a == first_.a && op.b == first_.b && !(op.flags & kHasGuard);
    if (!isAlike || !isIndependent(rows) || terms_.size() == kMostOperations)
      return false;
    Term term{a_.indexOf(rows.a), b_.indexOf(rows.b), rows};
    terms_.push_back(term);
    written_.insert(rows.results.begin(), rows.results.end());
    for (std::span<const uint32_t> some : {rows.a, rows.b, rows.sums})
      read_.insert(some.begin(), some.end());
    return true;
  }

  MmaBatch finish() {
    std::ranges::stable_sort(terms_, {},
                             [](const Term &term) { return std::pair(term.a, term.b); });
    MmaBatch batch;
    batch.operations = static_cast<uint32_t>(terms_.size());
    batch.a = a_.rows();
    batch.b = b_.rows();
    for (const Term &term : terms_) {
      MmaBatch::Strip *strip = batch.strips.empty() ? nullptr : &batch.strips.back();
      if (strip && strip->a == term.a && strip->firstB + strip->blocks == term.b)
        ++strip->blocks;
      else
        batch.strips.push_back({term.a, term.b, 1, static_cast<uint32_t>(batch.sums.size())});
      batch.sums.insert(batch.sums.end(), term.rows.sums.begin(), term.rows.sums.end());
      batch.results.insert(batch.results.end(), term.rows.results.begin(), term.rows.results.end());
    }
    return batch;
  }

private:
  static constexpr size_t kMostOperations = kMaxBlocks; // all may have a B of their own
  struct Term {
    uint32_t a, b;
    MmaRows rows;
  };

  // Nothing it reads has been written, nothing it writes has been read or written; its sums may be its results, each in
  // its place.
  bool isIndependent(const MmaRows &rows) const {
    auto isWritten = [&](uint32_t row) { return written_.contains(row); };
    auto isUsed = [&](uint32_t row) { return read_.contains(row) || isWritten(row); };
    auto readsOf = [&](std::span<const uint32_t> some) {
      return std::ranges::any_of(some, isWritten);
    };
    auto isOwn = [&](std::span<const uint32_t> some) {
      return std::ranges::any_of(rows.results,
                                 [&](uint32_t row) { return std::ranges::count(some, row) > 0; });
    };
    return !readsOf(rows.a) && !readsOf(rows.b) && !readsOf(rows.sums) &&
           std::ranges::none_of(rows.results, isUsed) && !isOwn(rows.a) && !isOwn(rows.b) &&
           (std::ranges::equal(rows.sums, rows.results) || !isOwn(rows.sums));
  }

  const Op &first_;
  Fragments a_, b_;
  std::vector<Term> terms_;
  std::unordered_set<uint32_t> read_, written_;
};

} // namespace

void batchMmas(Program &program) {
  std::vector<Op> &code = program.code;
  for (size_t begin = 0; begin < code.size();) {
    if (mmaRows(code[begin]).results.empty()) {
      ++begin;
      continue;
    }
    Builder builder(code[begin]);
    size_t end = begin;
    while (end < code.size() && builder.add(code[end]))
      ++end;
    if (end - begin > 1) {
      code[begin].imm = static_cast<int64_t>(program.mmaBatches.size());
      code[begin].run = runMmaBatch;
      program.mmaBatches.push_back(builder.finish());
    }
    begin = std::max(end, begin + 1);
  }
}

} // namespace tile::vgpu

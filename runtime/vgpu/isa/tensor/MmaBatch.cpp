// Which mma.sync make a batch.
#include "runtime/vgpu/machine/MmaBatch.h"

#include "runtime/vgpu/isa/tensor/TensorCore.h"
#include "runtime/vgpu/machine/Program.h"

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

// Integers, moves and fragments loaded from shared memory: what programs do between products. These read and write nothing
// that a product could touch but registers.
bool mayGoFirst(const Program &program, const Op &op) {
  const Program::Line &line = program.lines[op.instruction];
  return !(op.flags & (kHasGuard | kOwnGuard | kControl)) &&
         (line.kind == InstructionClass::Integer || line.kind == InstructionClass::Move ||
          line.traits & kFeedsProducts);
}

// Operations of which each adds to the result of the one before, in place: as one of their summed depth.
struct Chain {
  MmaRows first;
  std::vector<uint32_t> a, b; // rows of all fragments, in order
  size_t length = 0;
};

class Builder {
public:
  Builder(const Program &program, const Op &first) : program_(program), first_(first) {}

  /// False if `op`, the next of the program, cannot be in one batch with those added before.
  bool add(const Op &op) {
    bool isAdded = mmaRows(op).results.empty() ? addBetween(op) : addProduct(op);
    count_ += isAdded;
    return isAdded;
  }

  /// The operations, from the first on, that are chains of one length.
  uint32_t operations() const { return operations_; }
  uint32_t products() const { return whole_; }

  MmaBatch finish() {
    shorten();
    Fragments a, b;
    struct Term {
      uint32_t a, b;
      const Chain *chain;
    };
    std::vector<Term> terms;
    for (const Chain &chain : chains_)
      terms.push_back({a.indexOf(chain.a), b.indexOf(chain.b), &chain});
    std::ranges::stable_sort(terms, {}, [](const Term &term) { return std::pair(term.a, term.b); });
    MmaBatch batch;
    batch.operations = operations_;
    for (const Op &op : std::span(&first_, operations_).subspan(1))
      batch.issues += op.issues;
    std::erase_if(between_, [&](uint32_t at) { return at >= operations_; });
    batch.between = std::move(between_);
    batch.length = static_cast<uint32_t>(chains_.front().length);
    batch.a = a.rows();
    batch.b = b.rows();
    for (const Term &term : terms) {
      MmaBatch::Strip *strip = batch.strips.empty() ? nullptr : &batch.strips.back();
      if (strip && strip->a == term.a && strip->firstB + strip->blocks == term.b)
        ++strip->blocks;
      else
        batch.strips.push_back({term.a, term.b, 1, static_cast<uint32_t>(batch.sums.size())});
      const MmaRows &rows = term.chain->first;
      batch.sums.insert(batch.sums.end(), rows.sums.begin(), rows.sums.end());
      batch.results.insert(batch.results.end(), rows.results.begin(), rows.results.end());
    }
    return batch;
  }

private:
  bool addProduct(const Op &op) {
    MmaRows rows = mmaRows(op);
    bool isAlike = op.run == op.real && op.real == first_.real && op.a == first_.a &&
                   op.b == first_.b && !(op.flags & kHasGuard);
    if (!isAlike || isAnyIn(written_, rows.a) || isAnyIn(written_, rows.b))
      return false;
    size_t chain = chainEndingIn(rows);
    if (chain == chains_.size() && !begin(rows))
      return false;
    if (chains_[chain].length * rows.b.size() == kMaxChunks)
      return false;
    extend(chain, rows);
    return true;
  }

  /// It will run before the products: none of those so far may read or write what it writes, or write what it reads.
  bool addBetween(const Op &op) {
    std::span<const uint32_t> rows(op.rows, size_t{op.targets} + op.sources),
        targets = rows.first(op.targets);
    if (!mayGoFirst(program_, op) || isAnyIn(written_, rows) || isAnyIn(read_, targets))
      return false;
    between_.push_back(count_);
    return true;
  }

  /// The chain whose result `rows` adds to in place, or their number.
  size_t chainEndingIn(const MmaRows &rows) const {
    // Hardware rounds its sums after each operation.
    bool continues =
        program_.sumArch == 0 && rows.canContinue && std::ranges::equal(rows.sums, rows.results);
    auto chain = std::ranges::find_if(chains_, [&](const Chain &each) {
      return continues && std::ranges::equal(each.first.results, rows.results);
    });
    return static_cast<size_t>(chain - chains_.begin());
  }

  bool begin(const MmaRows &rows) {
    if (!isIndependent(rows) || chains_.size() == kMaxBlocks) // all may have a B of their own
      return false;
    chains_.push_back({rows, {}, {}, 0});
    written_.insert(rows.results.begin(), rows.results.end());
    read_.insert(rows.sums.begin(), rows.sums.end());
    return true;
  }

  void extend(size_t index, const MmaRows &rows) {
    Chain &chain = chains_[index];
    chain.a.insert(chain.a.end(), rows.a.begin(), rows.a.end());
    chain.b.insert(chain.b.end(), rows.b.begin(), rows.b.end());
    read_.insert(rows.a.begin(), rows.a.end());
    read_.insert(rows.b.begin(), rows.b.end());
    longest_ = std::max(longest_, ++chain.length);
    order_.push_back(index);
    if (order_.size() == longest_ * chains_.size()) {
      whole_ = static_cast<uint32_t>(order_.size());
      operations_ = count_ + 1;
    }
  }

  /// Takes back what came after the last time that all chains were of one length.
  void shorten() {
    for (; order_.size() > whole_; order_.pop_back()) {
      Chain &chain = chains_[order_.back()];
      chain.a.resize(chain.a.size() - chain.a.size() / chain.length);
      chain.b.resize(chain.b.size() - chain.b.size() / chain.length);
      --chain.length;
    }
    std::erase_if(chains_, [](const Chain &chain) { return chain.length == 0; });
  }

  static bool isAnyIn(const std::unordered_set<uint32_t> &set, std::span<const uint32_t> rows) {
    return std::ranges::any_of(rows, [&](uint32_t row) { return set.contains(row); });
  }

  // Nothing it reads has been written, nothing it writes has been read or written; its sums may be its results, each in
  // its place.
  bool isIndependent(const MmaRows &rows) const {
    auto isOwn = [&](std::span<const uint32_t> some) {
      return std::ranges::any_of(rows.results,
                                 [&](uint32_t row) { return std::ranges::count(some, row) > 0; });
    };
    return !isAnyIn(written_, rows.sums) && !isAnyIn(read_, rows.results) &&
           !isAnyIn(written_, rows.results) && !isOwn(rows.a) && !isOwn(rows.b) &&
           (std::ranges::equal(rows.sums, rows.results) || !isOwn(rows.sums));
  }

  const Program &program_;
  const Op &first_;
  std::vector<Chain> chains_; // that are apart
  std::vector<size_t> order_; // the chain of each operation
  std::vector<uint32_t> between_;
  size_t longest_ = 0;
  uint32_t count_ = 0, whole_ = 0, operations_ = 0;
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
    Builder builder(program, code[begin]);
    for (size_t end = begin; end < code.size() && builder.add(code[end]);)
      ++end;
    if (builder.products() > 1) {
      code[begin].imm = static_cast<int64_t>(program.mmaBatches.size());
      code[begin].run = runMmaBatch;
      program.mmaBatches.push_back(builder.finish());
    }
    begin += std::max(builder.operations(), 1u);
  }
}

} // namespace tile::vgpu

// Liveness of registers, and rows given by linear scan.
//
// A thread's registers are its own slots of the rows, so what matters is what one thread can still read: the usual backward
// data flow over the operations. Each register takes its row from the first to the last operation at which it is needed, as
// they are laid out. Registers of one operation never share a row, nor do those of a batch, whose operations change places.
#include "runtime/vgpu/decode/SharedRows.h"

#include <algorithm>
#include <bit>
#include <queue>

namespace tile::vgpu {
namespace {

// Beyond this the sets take more memory and time than the rows would.
constexpr size_t kMaxSetWords = 1 << 20;

class Set {
public:
  explicit Set(size_t size = 0) : words_((size + 63) / 64) {}
  void insert(size_t i) { words_[i / 64] |= uint64_t{1} << i % 64; }
  void erase(size_t i) { words_[i / 64] &= ~(uint64_t{1} << i % 64); }
  bool contains(size_t i) const { return words_[i / 64] >> i % 64 & 1; }
  void unite(const Set &other) {
    for (size_t i = 0; i < words_.size(); ++i)
      words_[i] |= other.words_[i];
  }
  /// Becomes `gained` and what of `other` is not in `lost`; tells whether that is new.
  bool become(const Set &gained, const Set &other, const Set &lost) {
    bool changes = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t word = gained.words_[i] | (other.words_[i] & ~lost.words_[i]);
      changes |= word != words_[i];
      words_[i] = word;
    }
    return changes;
  }
  template <class Visit> void forEach(Visit visit) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t word = words_[i]; word; word &= word - 1)
        visit(i * 64 + static_cast<size_t>(std::countr_zero(word)));
  }

private:
  std::vector<uint64_t> words_;
};

// Operations that follow each other; only the last may jump, only to the first of a block.
struct Block {
  uint32_t begin = 0, end = 0;
  Set read, written; // before being written; whatever was read before
  Set before, after; // live
};

// From its first to its last operation a register keeps its row.
struct Stretch {
  uint32_t first = ~0u, last = 0;
  void include(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class RowSharing {
public:
  RowSharing(Program &program, const std::vector<RowKind> &kinds)
      : program_(program), kinds_(kinds), count_(program.staticRowsBegin / kRowBytes) {}

  void run() {
    findBlocks();
    if (blocks_.size() * (count_ / 64 + 1) > kMaxSetWords)
      return;
    findLiveness();
    findStretches();
    assignRows();
    renumber();
  }

private:
  bool isRegister(uint32_t row) const { return row < program_.staticRowsBegin; }

  template <class Visit> void forTargets(const Op &op, Visit visit) const {
    for (uint32_t i = 0; i < op.targets; ++i)
      if (isRegister(op.rows[i]))
        visit(op.rows[i] / kRowBytes);
  }
  template <class Visit> void forSources(const Op &op, Visit visit) const {
    uint32_t end = uint32_t{op.targets} + op.sources;
    for (uint32_t i = op.flags & kAccumulates ? 0 : op.targets; i < end; ++i)
      if (isRegister(op.rows[i]))
        visit(op.rows[i] / kRowBytes);
    if (op.flags & kHasGuard && isRegister(op.guardRow))
      visit(op.guardRow / kRowBytes);
  }

  // Every operation may go on at the next one: what unconditional jumps do not costs a few rows, no more.
  void findBlocks() {
    const std::vector<Op> &code = program_.code;
    std::vector<bool> begins(code.size() + 1);
    for (size_t i = 0; i < code.size(); ++i)
      if (code[i].flags & kJumps)
        begins[i + 1] = begins[static_cast<size_t>(code[i].imm)] = true;
    begins[0] = true;
    blockAt_.resize(code.size());
    for (uint32_t i = 0; i < code.size(); ++i) {
      if (begins[i])
        blocks_.emplace_back().begin = i;
      blocks_.back().end = i + 1;
      blockAt_[i] = static_cast<uint32_t>(blocks_.size() - 1);
    }
  }

  void summarise(Block &block) const {
    block.read = block.written = block.before = block.after = Set(count_);
    for (uint32_t at = block.end; at-- > block.begin;) {
      const Op &op = program_.code[at];
      // Lanes whose guard is false keep what they have.
      if (!(op.flags & kHasGuard))
        forTargets(op, [&](uint32_t target) {
          block.written.insert(target);
          block.read.erase(target);
        });
      forSources(op, [&](uint32_t source) { block.read.insert(source); });
    }
  }

  void findLiveness() {
    for (Block &block : blocks_)
      summarise(block);
    for (bool changes = true; changes;) {
      changes = false;
      for (size_t i = blocks_.size(); i-- > 0;) {
        Block &block = blocks_[i];
        if (i + 1 < blocks_.size())
          block.after.unite(blocks_[i + 1].before);
        if (const Op &last = program_.code[block.end - 1]; last.flags & kJumps)
          if (auto target = static_cast<size_t>(last.imm); target < blockAt_.size())
            block.after.unite(blocks_[blockAt_[target]].before);
        changes |= block.before.become(block.read, block.after, block.written);
      }
    }
  }

  void findStretches() {
    stretches_.resize(count_);
    for (const Block &block : blocks_) {
      block.before.forEach([&](size_t i) { stretches_[i].include(block.begin); });
      block.after.forEach([&](size_t i) { stretches_[i].include(block.end - 1); });
    }
    for (uint32_t at = 0; at < program_.code.size(); ++at) {
      include(at, at, at);
      if (const MmaBatch *batch = batchOf(program_, program_.code[at]))
        for (uint32_t i = at; i < at + batch->operations; ++i)
          include(i, at, at + batch->operations - 1);
    }
  }

  // Marks the rows that operation `at` names as in use from `first` to `last`.
  void include(uint32_t at, uint32_t first, uint32_t last) {
    auto extend = [&](uint32_t index) {
      stretches_[index].include(first);
      stretches_[index].include(last);
    };
    forTargets(program_.code[at], extend);
    forSources(program_.code[at], extend);
  }

  void assignRows() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < count_; ++i)
      if (stretches_[i].first != ~0u)
        order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return stretches_[i].first; });
    auto endsLater = [&](uint32_t a, uint32_t b) {
      return stretches_[a].last > stretches_[b].last;
    };
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(endsLater)> inUse(endsLater);
    std::vector<uint32_t> free[3]; // by kind; the one used last is the one in the host's cache
    auto freeRowsFor = [&](uint32_t i) -> auto & { return free[static_cast<size_t>(kinds_[i])]; };
    rows_.assign(count_, 0);
    for (uint32_t i : order) {
      for (; !inUse.empty() && stretches_[inUse.top()].last < stretches_[i].first; inUse.pop())
        freeRowsFor(inUse.top()).push_back(rows_[inUse.top()]);
      if (std::vector<uint32_t> &rows = freeRowsFor(i); !rows.empty()) {
        rows_[i] = rows.back();
        rows.pop_back();
      } else {
        rows_[i] = end_;
        end_ += kinds_[i] == RowKind::Wide ? 2 * kRowBytes : kRowBytes;
      }
      inUse.push(i);
    }
  }

  void renumber() {
    uint32_t staticRows = program_.staticRowsBegin;
    auto move = [&](uint32_t &row) {
      row = isRegister(row) ? rows_[row / kRowBytes] : row - staticRows + end_;
    };
    std::ranges::for_each(program_.rows, move);
    for (Op &op : program_.code)
      if (op.flags & kHasGuard)
        move(op.guardRow);
    for (MmaBatch &batch : program_.mmaBatches)
      for (std::vector<uint32_t> *rows : {&batch.a, &batch.b, &batch.sums, &batch.results})
        std::ranges::for_each(*rows, move);
    for (Program::Constant &constant : program_.constants)
      move(constant.row);
    for (Program::SpecialRow &special : program_.specials)
      move(special.row);
    program_.fileBytes -= staticRows - end_;
    program_.staticRowsBegin = end_;
  }

  Program &program_;
  const std::vector<RowKind> &kinds_; // by the old row / kRowBytes
  uint32_t count_;                    // of rows of registers, by row / kRowBytes
  std::vector<Block> blocks_;
  std::vector<uint32_t> blockAt_; // by operation
  std::vector<Stretch> stretches_;
  std::vector<uint32_t> rows_; // the new ones
  uint32_t end_ = 0;
};

} // namespace

void shareRows(Program &program, const std::vector<RowKind> &kinds) {
  RowSharing(program, kinds).run();
}

} // namespace tile::vgpu

#include "runtime/toolchain/MachineCode.h"

#include "llvm/BinaryFormat/ELF.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace tile::jit {
namespace {

using Kind = MachineInstruction::Kind;

constexpr size_t kInstructionBytes = 16;
constexpr uint64_t kAlways = 7; ///< the predicate that is always true

/// Operations, in the lowest 12 bits.
enum Operation : uint64_t {
  kBranch = 0x947,
  kIndirectBranch = 0x949,
  kBeginRegion = 0x945, ///< BSSY: names where lanes that part meet again
  kEndRegion = 0x941,   ///< BSYNC: goes there
  kReturn = 0x950,
  kExit = 0x94d,
  kNothing = 0x918,
  kCheckPhase = 0x5a7, ///< SYNCS.PHASECHK
};

struct Word {
  uint64_t low, high;
  uint64_t bits(int first, int count) const { return low >> first & ((uint64_t(1) << count) - 1); }
  uint64_t operation() const { return bits(0, 12); }
  /// The register that BSSY and BSYNC name.
  uint64_t region() const { return bits(16, 4); }
  /// By its guard, or by the second condition that branches have.
  bool isConditional() const { return bits(12, 4) != kAlways || (high >> 23 & 0xf) != kAlways; }
};

/// How many instructions the target lies behind the next one.
int64_t distanceOf(const Word &word, int smVersion) {
  // In units of 4 bytes; branches of sm_90 have the lowest 8 bits of it elsewhere.
  int64_t distance = static_cast<int64_t>(word.low) >> 34;
  if (smVersion >= 90 && word.operation() == kBranch)
    distance = distance * 256 + static_cast<int64_t>(word.bits(16, 8));
  return distance * 4 / static_cast<int64_t>(kInstructionBytes);
}

/// What the last region before it that names the same register says.
int64_t endOfRegion(const std::vector<Word> &words, size_t at, int smVersion) {
  for (size_t begin = at; begin-- > 0;)
    if (words[begin].operation() == kBeginRegion && words[begin].region() == words[at].region())
      return static_cast<int64_t>(begin) + 1 + distanceOf(words[begin], smVersion);
  return static_cast<int64_t>(at) + 1;
}

MachineInstruction decode(const std::vector<Word> &words, size_t at, int smVersion) {
  const Word &word = words[at];
  switch (word.operation()) {
  case kBranch:
    return {Kind::Branch, static_cast<int64_t>(at) + 1 + distanceOf(word, smVersion),
            word.isConditional()};
  case kEndRegion:
    return {Kind::Branch, endOfRegion(words, at, smVersion), word.isConditional()};
  case kIndirectBranch:
  case kReturn:
  case kExit:
    return {Kind::End, -1, word.isConditional()};
  case kNothing:
    return {Kind::Padding};
  case kCheckPhase:
    return {Kind::Wait};
  default:
    return {};
  }
}

/// The graph of control, seen from the instructions that are not taken out of it.
class ControlGraph {
public:
  explicit ControlGraph(const std::vector<MachineInstruction> &code)
      : code_(code), next_(code.size()), previous_(code.size()) {
    for (size_t at = 0; at < code.size(); ++at) {
      if (code[at].mayFallThrough)
        connect(at, static_cast<int64_t>(at) + 1);
      if (code[at].kind == Kind::Branch)
        connect(at, code[at].target);
    }
  }

  using Nodes = std::vector<size_t>; ///< ascending

  /// The sets of these nodes of which each reaches each other one through nodes of the set, alone ones with an edge to themselves
  /// included.
  std::vector<Nodes> cycles(const Nodes &nodes) const {
    std::vector<bool> isOpen(code_.size());
    for (size_t node : nodes)
      isOpen[node] = true;
    Nodes order;
    for (size_t node : nodes)
      visit(node, next_, isOpen, order);
    for (size_t node : nodes)
      isOpen[node] = true;
    std::vector<Nodes> found;
    for (size_t at = order.size(); at-- > 0;) {
      Nodes together;
      visit(order[at], previous_, isOpen, together);
      bool isCycle = together.size() > 1 || (together.size() == 1 && leadsTo(order[at], order[at]));
      if (isCycle) {
        std::sort(together.begin(), together.end());
        found.push_back(std::move(together));
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Without the nodes at which control enters the cycle; of one that it never enters, without the first.
  Nodes body(const Nodes &cycle) const {
    Nodes inside;
    for (size_t node : cycle)
      if (node != 0 &&
          std::includes(cycle.begin(), cycle.end(), previous_[node].begin(), previous_[node].end()))
        inside.push_back(node);
    if (inside.size() == cycle.size())
      inside.erase(inside.begin());
    return inside;
  }

  /// A few instructions around a wait, which is tried again.
  bool isWait(const Nodes &cycle) const {
    constexpr size_t kMost = 8;
    return cycle.size() <= kMost && std::any_of(cycle.begin(), cycle.end(), [&](size_t node) {
             return code_[node].kind == Kind::Wait;
           });
  }

private:
  using Edges = std::vector<Nodes>;

  void connect(size_t from, int64_t to) {
    if (to < 0 || to >= static_cast<int64_t>(code_.size()) || leadsTo(from, to))
      return;
    next_[from].push_back(to);
    previous_[to].push_back(from); // ascending, since they are connected in order
  }

  bool leadsTo(size_t from, size_t to) const {
    return std::find(next_[from].begin(), next_[from].end(), to) != next_[from].end();
  }

  /// Adds the open nodes that `first` reaches, each after all that it leads to, and closes them.
  static void visit(size_t first, const Edges &edges, std::vector<bool> &isOpen, Nodes &order) {
    std::vector<std::pair<size_t, size_t>> path; // a node, and how many of its edges were taken
    auto enter = [&](size_t node) {
      if (isOpen[node])
        path.emplace_back(node, 0);
      isOpen[node] = false;
    };
    enter(first);
    while (!path.empty()) {
      auto &[node, taken] = path.back();
      if (taken < edges[node].size()) {
        enter(edges[node][taken++]);
        continue;
      }
      order.push_back(node);
      path.pop_back();
    }
  }

  const std::vector<MachineInstruction> &code_;
  Edges next_, previous_;
};

/// Adds the innermost of these loops and of those in them.
void addInnermost(const ControlGraph &graph, const ControlGraph::Nodes &nodes,
                  std::vector<int64_t> &loops) {
  for (const ControlGraph::Nodes &cycle : graph.cycles(nodes)) {
    size_t before = loops.size();
    addInnermost(graph, graph.body(cycle), loops);
    // A single instruction that leads to itself stands behind the code's end, or is a trap.
    if (loops.size() == before && !graph.isWait(cycle) && cycle.size() > 1)
      loops.push_back(static_cast<int64_t>(cycle.size()));
  }
}

/// The bytes of the section that the first kernel's code is in.
std::span<const std::byte> codeOf(std::span<const std::byte> cubin) {
  using namespace llvm::ELF;
  auto read = [&](uint64_t offset, auto &into) {
    if (offset > cubin.size() || cubin.size() - offset < sizeof(into))
      return false;
    std::memcpy(&into, cubin.data() + offset, sizeof(into));
    return true;
  };
  Elf64_Ehdr header;
  Elf64_Shdr names;
  auto section = [&](unsigned index, Elf64_Shdr &into) {
    return read(header.e_shoff + uint64_t(index) * sizeof(into), into);
  };
  if (!read(0, header) || !section(header.e_shstrndx, names))
    return {};
  constexpr std::string_view kPrefix = ".text.";
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr each;
    if (!section(index, each) || each.sh_offset > cubin.size() ||
        each.sh_size > cubin.size() - each.sh_offset)
      return {};
    uint64_t name = names.sh_offset + each.sh_name;
    if (name < cubin.size() &&
        std::string_view(reinterpret_cast<const char *>(cubin.data() + name), cubin.size() - name)
            .starts_with(kPrefix))
      return cubin.subspan(each.sh_offset, each.sh_size);
  }
  return {};
}

} // namespace

std::vector<MachineInstruction> decodeControl(std::span<const std::byte> code, int smVersion) {
  std::vector<Word> words(code.size() / kInstructionBytes);
  if (!words.empty())
    std::memcpy(words.data(), code.data(), words.size() * kInstructionBytes);
  std::vector<MachineInstruction> instructions;
  for (size_t at = 0; at < words.size(); ++at)
    instructions.push_back(decode(words, at, smVersion));
  return instructions;
}

std::vector<int64_t> innermostLoops(const std::vector<MachineInstruction> &code) {
  ControlGraph::Nodes all(code.size());
  for (size_t at = 0; at < all.size(); ++at)
    all[at] = at;
  std::vector<int64_t> loops;
  addInnermost(ControlGraph(code), all, loops);
  return loops;
}

MachineCode machineCodeOf(std::span<const std::byte> cubin, int smVersion) {
  std::vector<MachineInstruction> code = decodeControl(codeOf(cubin), smVersion);
  MachineCode result;
  result.instructions = std::ranges::count_if(
      code, [](const MachineInstruction &i) { return i.kind != Kind::Padding; });
  result.innermostLoops = innermostLoops(code);
  return result;
}

} // namespace tile::jit

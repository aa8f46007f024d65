#include "tests/pipeline/CompiledMutants.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>

namespace tile::test {
namespace {

using Words = std::smatch;

/// A change of lines that a pattern matches whole.
struct Change {
  const char *what;
  std::regex pattern;
  std::function<std::string(const Words &)> changed;
  std::function<std::string(const Words &)> excuse = [](const Words &) { return ""; };
};

std::string shifted(const std::string &number, int64_t by) {
  return std::to_string(std::stoll(number) + by);
}

/// @%p cp.async.KIND.shared.global [ADDRESS+OFFSET], SOURCE, BYTES[, IGNORED];
const char *const kCopy =
    R"((\s*)(@%p\d+ )?cp\.async\.(c[ag])\.shared\.global \[(%r\d+)\+(\d+)\], (\[[^\]]*\]), (\d+)(, [^,;]*)?;)";

std::string copyOf(const Words &copy, const std::string &guard, const std::string &offset,
                   const std::string &bytes, const std::string &size) {
  return copy.str(1) + guard + "cp.async." + (bytes == "16" ? copy.str(3) : "ca") +
         ".shared.global [" + copy.str(4) + "+" + offset + "], " + copy.str(6) + ", " + bytes +
         size + ";";
}

std::string deleted(const Words &) { return ""; }

/// A copy that fills up with zeros reads inside its tensor whatever its guard is, and the slot of a fill that is never
/// got is read by nobody: without its guard it is done in vain.
std::string inVain(const Words &copy) {
  return copy.str(8).empty() ? "" : "the copy is done in vain";
}

/// The kernels' inputs have NaNs behind each row: one that was read for a zero would show in a result that depends on it.
std::string noZeroMatters(const Words &) {
  return "no source is ignored, or what is there instead, NaN, reaches no result";
}

/// Changes of stores by the copy engine.
std::vector<Change> changesOfStores() {
  static const std::regex store(
      R"((\s*cp\.async\.bulk\.tensor\.2d\.global\S+ \[%rd\d+, \{)(%r\d+), (%r\d+)(\}\], \[%r\d+\];))"),
      wait(R"((\s*cp\.async\.bulk\.wait_group(?:\.read)? )(\d+);)");
  return {
      {"engine's store deleted", store, deleted},
      {"engine's store to another place", store,
       [](const Words &m) { return m.str(1) + m.str(3) + ", " + m.str(2) + m.str(4); }},
      {"stores' commit deleted", std::regex(R"(\s*cp\.async\.bulk\.commit_group;)"), deleted},
      {"wait for stores deleted", wait, deleted},
      {"wait for one store less", wait,
       [](const Words &m) { return m.str(1) + shifted(m[2], 1) + ";"; }},
      {"proxies' fence deleted", std::regex(R"(\s*fence\.proxy\.async\S*;)"), deleted},
  };
}

/// Changes of copies by the copy engine, of the barriers that count their bytes, and of products by wgmma.
std::vector<Change> changesOfEngines() {
  static const std::regex expect(
      R"((\s*mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[%r\d+\], )(\d+);)"),
      wait(R"((\s*)(mbarrier\.try_wait\.parity\.shared::cta\.b64 done, \[%r\d+\], )(%r\d+);)"),
      copy(
          R"((\s*cp\.async\.bulk\.tensor\.2d\.\S+ \[%r\d+\], \[%rd\d+, \{)(%r\d+), (%r\d+)(\}\], \[%r\d+\](?:, all)?;))"),
      waitOfProducts(R"((\s*wgmma\.wait_group\.sync\.aligned )(\d+);)"),
      init(R"((\s*mbarrier\.init\.shared::cta\.b64 \[%r\d+\], )(\d+);)");
  auto expectMore = [](int64_t more) {
    return [=](const Words &m) { return m.str(1) + shifted(m[2], more) + ";"; };
  };
  return {
      {"expected bytes deleted", expect, deleted},
      {"fewer bytes expected", expect, expectMore(-16)},
      {"more bytes expected", expect, expectMore(16)},
      {"no wait for bytes", wait,
       [](const Words &m) { return m.str(1) + "setp.eq.u32 done, 0, 0;"; }},
      {"wait for the other parity", wait,
       [](const Words &m) {
         return m.str(1) + "{ .reg .b32 other; xor.b32 other, " + m.str(3) + ", 1; " + m.str(2) +
                "other; }";
       }},
      {"release deleted", std::regex(R"(\s*@one mbarrier\.arrive\.shared::cta\.b64 _, \[%r\d+\];)"),
       deleted},
      {"release by a pass's first iteration", std::regex(R"(\s*setp\.ne\.and\.b32 one, .*)"),
       deleted},
      {"one arrival less", init, [](const Words &m) { return m.str(1) + shifted(m[2], -1) + ";"; }},
      {"one arrival more", init, [](const Words &m) { return m.str(1) + shifted(m[2], 1) + ";"; }},
      {"turn not passed", std::regex(R"(\s*(@own )?bar\.arrive %r\d+, \d+;)"), deleted},
      {"turn not taken", std::regex(R"(\s*(@own )?bar\.sync %r\d+, 256;)"), deleted,
       [](const Words &) -> std::string { return "turns are for speed alone"; }},
      {"team's barrier deleted", std::regex(R"(\s*bar\.sync %r\d+, 128;)"), deleted},
      {"engine's copy deleted", copy, deleted},
      {"engine's copy from another place", copy,
       [](const Words &m) { return m.str(1) + m.str(3) + ", " + m.str(2) + m.str(4); }},
      {"barrier not made", std::regex(R"(\s*mbarrier\.init\.shared::cta\.b64 .*)"), deleted},
      {"barrier not given up", std::regex(R"(\s*mbarrier\.inval\.shared::cta\.b64 .*)"), deleted},
      {"wait for products deleted", waitOfProducts, deleted},
      {"wait for one product less", waitOfProducts,
       [](const Words &m) { return m.str(1) + shifted(m[2], 1) + ";"; }},
      {"products' fence deleted", std::regex(R"(\s*wgmma\.fence\.sync\.aligned;)"), deleted},
      {"products' commit deleted", std::regex(R"(\s*wgmma\.commit_group\.sync\.aligned;)"),
       deleted},
  };
}

/// Changes of what the blocks of a cluster do to each other's memory.
std::vector<Change> changesOfClusters() {
  return {
      {"release in other blocks deleted",
       std::regex(R"(\s*@one mbarrier\.arrive\.shared::cluster\.b64 _, \[there\];)"), deleted},
      {"release in no block", std::regex(R"(\s*@one mapa\.shared::cluster\.u32 .*)"), deleted},
      {"copy to one block alone", std::regex(R"(\s*mov\.b16 all, 3;)"),
       [](const Words &) { return "mov.b16 all, 1;"; }},
      {"tile of another block",
       std::regex(R"((\s*mapa\.shared::cluster\.u32\s+%r\d+, %r\d+, )(\d);)"),
       [](const Words &m) { return m.str(1) + (m.str(2) == "0" ? "1;" : "0;"); }},
      {"cluster's barrier not reached", std::regex(R"(\s*barrier\.cluster\.arrive\..*)"), deleted},
      {"cluster's barrier not waited for", std::regex(R"(\s*barrier\.cluster\.wait\..*)"), deleted},
  };
}

/// Changes of how programs know who comes last.
std::vector<Change> changesOfCounts() {
  static const std::regex count(
      R"((\s*(?:@%p\d+ )?)atom\.acq_rel\.gpu(\.global\.add\.u32 %r\d+, \[%rd\d+\], )(%r\d+|\d+);)");
  auto by = [](const char *order) {
    return [=](const Words &m) { return m.str(1) + "atom." + order + m.str(2) + m.str(3) + ";"; };
  };
  return {{"program not counted", count, deleted},
          {"count without order", count, by("relaxed.gpu")},
          {"count that shows nothing", count, by("acquire.gpu")},
          {"count that sees nothing", count, by("release.gpu"),
           [](const Words &) -> std::string {
             return "on the virtual GPU the barrier behind sees for it, as usual kernels rely on";
           }},
          {"count of a block alone", count, by("acq_rel.cta")}};
}

std::vector<Change> changesOfThreads() {
  static const std::regex wait(R"((\s*cp\.async\.wait_group )(\d+);)"), copy(kCopy);
  auto waitFor = [](int more) {
    return [=](const Words &m) { return m.str(1) + shifted(m[2], more) + ";"; };
  };
  return {
      {"wait deleted", wait, deleted},
      {"wait for one group less", wait, waitFor(1)},
      {"wait for two groups less", wait, waitFor(2)},
      {"commit deleted", std::regex(R"(\s*cp\.async\.commit_group;)"), deleted},
      {"barrier deleted", std::regex(R"(\s*bar\.sync\s+\d+(, \d+)?;)"), deleted},
      {"copy deleted", copy, deleted},
      {"copy's guard deleted", copy,
       [](const Words &m) { return m[2].matched ? copyOf(m, "", m[5], m[7], m[8]) : m.str(); },
       inVain},
      {"copy's guard inverted", copy,
       [](const Words &m) {
         return m[2].matched ? copyOf(m, "@!" + m.str(2).substr(1), m[5], m[7], m[8]) : m.str();
       }},
      {"copy moved on", copy,
       [](const Words &m) { return copyOf(m, m[2], shifted(m[5], std::stoll(m[7])), m[7], m[8]); }},
      {"half of the bytes", copy,
       [](const Words &m) {
         return m.str(7) == "4" ? m.str()
                                : copyOf(m, m[2], m[5], shifted(m[7], -std::stoll(m[7]) / 2), "");
       }},
      {"zeros for all bytes", copy,
       [](const Words &m) { return copyOf(m, m[2], m[5], m[7], ", 0"); }},
      {"no zeros", copy, [](const Words &m) { return copyOf(m, m[2], m[5], m[7], ""); },
       noZeroMatters},
  };
}

const std::vector<Change> &changes() {
  static const std::vector<Change> all = [] {
    std::vector<Change> all = changesOfThreads();
    for (const auto &more :
         {changesOfEngines(), changesOfStores(), changesOfClusters(), changesOfCounts()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return all;
}

/// A loop carries how far a slot is from the first, in bytes: `distance == last ? 0 : distance + stride`.
const std::regex &wrapOfSlots() {
  static const std::regex wrap(R"((\s*selp\.b32\s+%r\d+, )0, %r\d+, (%p\d+);)");
  return wrap;
}
const std::regex &lastOfSlots() {
  static const std::regex last(R"((\s*setp\.eq\.[bsu]32\s+(%p\d+), %r\d+, )([1-9]\d*);)");
  return last;
}

class MutantMaker {
public:
  explicit MutantMaker(const std::string &ptx) {
    // LLVM prints a tab after a mnemonic, inline assembly a blank.
    static const std::regex blanks("[ \t]+");
    std::stringstream text(ptx);
    for (std::string line; std::getline(text, line);)
      lines_.push_back(std::regex_replace(line, blanks, " "));
  }

  std::vector<CompiledMutant> make() {
    for (size_t at = 0; at < lines_.size(); ++at) {
      if (isOfInterest(at))
        changeByPattern(at);
      else if (Words wrap; std::regex_match(lines_[at], wrap, wrapOfSlots()))
        changeWrap(at, wrap);
    }
    return std::move(mutants_);
  }

private:
  bool isOfInterest(size_t at) const {
    constexpr std::array words = {"async",   "bar.sync",    "mbarrier",    "wgmma",
                                  "cluster", "mov.b16 all", "setp.ne.and", "atom.acq_rel"};
    return std::any_of(words.begin(), words.end(), [&](const char *word) { return has(at, word); });
  }

  void changeByPattern(size_t at) {
    for (const Change &change : changes())
      if (Words words; std::regex_match(lines_[at], words, change.pattern))
        if (std::string line = change.changed(words); line != lines_[at])
          add(change.what, at, line,
              isBarrierOfOwnCopies(at) ? "threads read what they have copied themselves"
              : isBarrierAfterBarrier(at)
                  ? "the loop ends with a barrier behind its reads of the ring"
              : isBarrierBehindProducts(at)
                  ? "the products of a group's four warps end together, on the virtual GPU"
              : isFenceOfBarriers(at)   ? "the barrier behind it shows the slots' barriers as well"
              : isFenceBeforeFence(at)  ? "another fence comes before the threads meet"
              : isWaitBehindWait(at)    ? "the last iteration has waited"
              : isFenceBehindFence(at)  ? "nothing was done since the fence before"
              : isCommittedWithNext(at) ? "both products are waited for together"
                                        : change.excuse(words));
  }

  // A get's barrier, behind which nothing is read by ldmatrix, which reads other threads' copies, before the next barrier:
  // the tile goes to registers in the layout of its copies, as where its elements are split for tf32x3.
  bool isBarrierOfOwnCopies(size_t at) const {
    if (!isGetBarrier(at))
      return false;
    bool isRead = false;
    for (size_t line = at + 1; line < lines_.size() && !has(line, "bar.sync"); ++line) {
      if (has(line, "ldmatrix"))
        return false;
      isRead |= has(line, "ld.shared");
    }
    return isRead;
  }

  // The barrier between a loop and what is stored to the memory of its slots, where the body has a barrier after that of
  // its get. It would only wait for copies of fills beyond the last, whose guards do not hold.
  bool isBarrierAfterBarrier(size_t at) const {
    if (!has(at, "bar.sync") || isGetBarrier(at))
      return false;
    bool leftLoop = false;
    for (size_t line = at; line-- > 0;) {
      leftLoop |= has(line, "bra");
      if (has(line, "bar.sync"))
        return leftLoop && !isGetBarrier(line);
    }
    return false;
  }

  // Between the wait for all products of one group of warps, which have read the ring, and what its threads store there. The
  // instruction set does not promise as much.
  bool isBarrierBehindProducts(size_t at) const {
    if (!has(at, "bar.sync 0, 128;"))
      return false;
    size_t before = at;
    while (before-- > 0 && !has(before, "wgmma.wait_group"))
      if (has(before, "bar.sync") || has(before, ".shared."))
        return false;
    return has(before, "wgmma.wait_group.sync.aligned 0");
  }

  // The proxies' fence between the making of the slots' barriers and the barrier of all threads.
  bool isFenceOfBarriers(size_t at) const {
    if (!has(at, "fence.proxy"))
      return false;
    for (size_t line = at; line-- > 0 && !has(line, "bar.sync");)
      if (has(line, "mbarrier.init"))
        return true;
    return false;
  }

  bool isFenceBeforeFence(size_t at) const {
    if (!has(at, "fence.proxy"))
      return false;
    for (size_t line = at + 1; line < lines_.size() && !has(line, "bar.sync"); ++line)
      if (has(line, "fence.proxy"))
        return true;
    return false;
  }

  // The wait behind a loop whose last iteration has waited for all products, to store their sums.
  bool isWaitBehindWait(size_t at) const {
    if (!has(at, "wgmma.wait_group"))
      return false;
    for (size_t line = at; line-- > 0 && !has(line, "wgmma.mma_async");)
      if (has(line, "wgmma.wait_group.sync.aligned 0"))
        return true;
    return false;
  }

  // The fence of a product right behind another, or the wait for what it reads, whose registers nothing has written since.
  bool isFenceBehindFence(size_t at) const {
    if (!has(at, "wgmma.fence"))
      return false;
    size_t before = at;
    while (before-- > 0 && !has(before, "wgmma.commit"))
      if (has(before, "wgmma.") || has(before, "$L_") ||
          (has(before, "bra") && !has(before, "@!done bra again;")))
        return false;
    for (size_t line = before + 1; line < at; ++line)
      if (Words written; std::regex_search(lines_[line], written, std::regex(R"(%r\d+)")))
        for (size_t next = at + 1; next < lines_.size() && !has(next, "wgmma.commit"); ++next)
          if (std::regex_search(lines_[next], std::regex(written.str() + "\\b")))
            return false;
    return before > 0;
  }

  // The commit of a product that another follows, both of which end before the first result is taken.
  bool isCommittedWithNext(size_t at) const {
    if (!has(at, "wgmma.commit"))
      return false;
    bool isNext = false;
    for (size_t line = at + 1; line < lines_.size(); ++line) {
      if (has(line, "wgmma.wait_group"))
        return isNext && has(line, "wgmma.wait_group.sync.aligned 0");
      isNext |= has(line, "wgmma.commit");
    }
    return false;
  }

  // The instruction before a get's barrier is its wait.
  bool isGetBarrier(size_t at) const {
    size_t before = at;
    while (before > 0 && (has(--before, "//") || lines_[before].empty()))
      ;
    return has(at, "bar.sync") && has(before, "cp.async.wait_group");
  }

  bool has(size_t line, const char *word) const {
    return lines_[line].find(word) != std::string::npos;
  }

  // Where the distance goes back, and to what.
  void changeWrap(size_t at, const Words &wrap) {
    Words last;
    if (at == 0 || !std::regex_match(lines_[at - 1], last, lastOfSlots()) ||
        last.str(2) != wrap.str(2))
      return;
    int64_t bytes = std::stoll(last[3]);
    std::string rest = lines_[at].substr(lines_[at].find(", 0,") + 4);
    add("slots wrap to the last", at, wrap.str(1) + last.str(3) + "," + rest);
    for (int64_t other : {bytes / 2, 2 * bytes})
      add("slots wrap at another", at - 1, last.str(1) + std::to_string(other) + ";");
  }

  void add(const std::string &what, size_t at, const std::string &line,
           const std::string &excuse = "") {
    std::string all;
    for (size_t i = 0; i < lines_.size(); ++i)
      all += (i == at ? line : lines_[i]) + "\n";
    mutants_.push_back({what, std::to_string(at + 1) + ": " + lines_[at], all, excuse});
  }

  std::vector<std::string> lines_;
  std::vector<CompiledMutant> mutants_;
};

} // namespace

std::vector<CompiledMutant> compiledMutantsOf(const std::string &ptx) {
  return MutantMaker(ptx).make();
}

} // namespace tile::test

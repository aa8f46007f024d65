// What the operations of mbarriers return, one after the other, in one thread. States are opaque: the counts in
// them are kept.
#include "tests/hardware/Copies.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kTileBytes = 1024;

// Writes code; each question stores a word.
class Steps {
public:
  std::string code = "  ld.param.u64 %x, [p0];\n";
  size_t words = 0;

  Steps &init(size_t count) { return add("  mbarrier.init.shared::cta.b64 [%full], $0;\n", count); }
  Steps &arrive() { return add("  mbarrier.arrive.shared::cta.b64 %y, [%full];\n").pending(); }
  Steps &arrive(size_t count) {
    return add("  mbarrier.arrive.shared::cta.b64 %y, [%full], $0;\n", count).pending();
  }
  Steps &arriveNoComplete() {
    return add("  mbarrier.arrive.noComplete.shared::cta.b64 %y, [%full], 1;\n").pending();
  }
  Steps &arriveDrop() {
    return add("  mbarrier.arrive_drop.shared::cta.b64 %y, [%full];\n").pending();
  }
  Steps &arriveExpecting(size_t bytes) {
    return add("  mbarrier.arrive.expect_tx.shared::cta.b64 %y, [%full], $0;\n", bytes).pending();
  }
  Steps &expect(size_t bytes) {
    return add("  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%full], $0;\n", bytes);
  }
  Steps &complete(size_t bytes) {
    return add("  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%full], $0;\n", bytes);
  }
  /// Tests if the phase of the last arrival has ended.
  Steps &ended() {
    return add("  mbarrier.test_wait.shared::cta.b64 %p, [%full], %y;\n").keepPredicate();
  }
  /// Tests for either parity if its phase has ended.
  Steps &parities() {
    for (int parity : {0, 1})
      add("  mbarrier.test_wait.parity.shared::cta.b64 %p, [%full], $0;\n", parity).keepPredicate();
    return *this;
  }

private:
  template <class... Args> Steps &add(const char *pattern, const Args &...args) {
    code += fill(pattern, args...);
    return *this;
  }
  Steps &pending() { return add("  mbarrier.pending_count.b64 %u0, %y;\n").keep(); }
  Steps &keepPredicate() { return add("  selp.b32 %u0, 1, 0, %p;\n").keep(); }
  Steps &keep() { return add("  st.global.b32 [%x+$0], %u0;\n", 4 * words++); }
};

Probe oneThread(const std::string &name, const std::string &code, size_t words) {
  std::string body = beginCopies(kTileBytes) + "  @!%one bra DONE;\n" + code + "DONE:\n";
  return {name, Entry{1}.around(body), {}, {{4, words}}, {{1}, {128}, {}}};
}

Probe stepsProbe() {
  Steps s;
  s.init(3).parities();
  for (int arrival = 0; arrival < 3; ++arrival)
    s.arrive().ended().parities();
  s.arrive(2).parities();
  s.arriveDrop().ended().parities(); // from here on two arrivals end a phase
  s.arriveNoComplete().parities();
  s.arriveExpecting(100).ended().parities();
  s.complete(60).parities();
  s.complete(40).parities().ended();
  s.expect(8).arrive().arrive().parities();
  s.complete(8).parities();
  // Bytes before they are expected.
  s.complete(64).parities().arrive().parities();
  s.arriveExpecting(64).parities();
  s.arriveDrop().parities().arrive().parities();
  return oneThread("mbarrier.steps", s.code, s.words);
}

// Records if a try_wait ends true, which it must not, and how many ns it takes, without and with hints.
Probe timeProbe() {
  std::string code =
      "  .reg .b64 %end;\n  ld.param.u64 %x, [p0];\n  mbarrier.init.shared::cta.b64 [%full], 3;\n";
  size_t word = 0;
  for (const char *hint : {"", ", 1000", ", 100000", ", 3000000", ""}) {
    code += fill(R"(
  mov.u64 %y, %globaltimer;
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], 0$0;
  mov.u64 %end, %globaltimer;
  sub.u64 %end, %end, %y;
  selp.b32 %u0, 1, 0, %p;
  cvt.u32.u64 %u1, %end;
  st.global.b32 [%x+$1], %u0;
  st.global.b32 [%x+$2], %u1;
)",
                 hint, 4 * word, 4 * (word + 1));
    word += 2;
  }
  Probe probe = oneThread("try_wait.time", code, word);
  probe.unrepeatable = {{2, 1, 1}};
  return probe;
}

} // namespace

std::vector<Probe> barrierProbes() { return {stepsProbe(), timeProbe()}; }

} // namespace tile::hardware

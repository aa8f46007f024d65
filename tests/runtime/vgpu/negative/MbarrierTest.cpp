// Memory barriers: initialisation, arrivals, bytes, phases, stages, order.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const std::string kWaitLoop = "  @!%q1 bra WAIT;\n";

TEST(NegativeMbarrier, BytesOfACopy) {
  expectFaults(
      hopper(kBulkLoad), addedOne,
      {
          {"no wait", {{kWaitLoop}}, {AsyncRace}, "ld.shared.u32"},
          {"nothing orders the initialisation", {{"  bar.sync 0;\n"}}, {Async}},
          {"no initialisation",
           {{"  @%q15 mbarrier.init.shared.b64 [full], 1;\n"}},
           {Async},
           "",
           "there is no mbarrier"},
          {"expects an arrival too many",
           {{"[full], 1;", "[full], 2;"}},
           {Deadlock},
           "",
           "1 of 2 arrivals pending, 0 bytes outstanding"},
          {"expects none", {{"[full], 1;", "[full], 0;"}}, {Async}, "mbarrier.init"},
          {"too many bytes",
           {{"[full], 4096;", "[full], 4112;"}},
           {Deadlock},
           "",
           "16 bytes outstanding"},
          {"too few bytes",
           {{"[full], 4096;", "[full], 4080;"}},
           {Deadlock},
           "",
           "-16 bytes outstanding"},
          {"no bytes",
           {{"mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 4096",
             "mbarrier.arrive.shared.b64 %rd1, [full]"}},
           {AsyncRace, Async}},
          {"expects after the arrival, which may be too late",
           {{"mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 4096",
             "mbarrier.arrive.shared.b64 %rd1, [full];\n  "
             "mbarrier.expect_tx.relaxed.cta.shared.b64 [full], 4096"}},
           {AsyncRace, Deadlock, Async}},
          {"the other parity", {{"[full], 0;", "[full], 1;"}}, {AsyncRace, Race}},
          {"no order",
           {{"try_wait.parity.shared", "try_wait.parity.relaxed.cta.shared"}},
           {AsyncRace},
           "ld.shared.u32"},
          {"arrives twice",
           {{"[full], 4096;\n", "[full], 4096;\n  mbarrier.arrive.shared.b64 %rd2, [full];\n"}},
           {Async}},
          {"waits at another barrier",
           {{"%q1, [full], 0", "%q1, [full+8], 0"}},
           {Async},
           "",
           "there is no mbarrier"},
          {"tells another barrier",
           {{"4096, [full];\nWAIT", "4096, [full+8];\nWAIT"}},
           {Async},
           "",
           "there is no mbarrier"},
          {"copies twice",
           {{"WAIT:", "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                      "[tile+4096], [%p], 16, [full];\nWAIT:"}},
           {Deadlock, Async}},
      });
}

TEST(NegativeMbarrier, TheObject) {
  std::string good = hopper(kBulkLoad);
  const std::string init = "  @%q15 mbarrier.init.shared.b64 [full], 1;\n",
                    use = "  mov.u32 %r1, tile;\n";
  for (const Fault &fault : std::vector<Fault>{
           {"read as data",
            {{use, use + "  ld.shared.u32 %r9, [full+4];\n"}},
            {Async},
            "ld.shared.u32 %r9",
            "reads the bytes of mbarrier"},
           {"written as data",
            {{use, "  @%q15 st.shared.u32 [full], 0;\n" + use}},
            {Async},
            "st.shared",
            "writes to the bytes of mbarrier"},
           {"initialised again", {{init, init + init}}, {Async}, "", "mbarrier.inval it first"},
           {"used after inval",
            {{init, init + "  @%q15 mbarrier.inval.shared.b64 [full];\n"}},
            {Async},
            "",
            "there is no mbarrier"},
           {"not aligned",
            {{init, "  @%q15 mbarrier.init.shared.b64 [full+4], 1;\n"}},
            {Misaligned},
            "mbarrier.init"},
           {"outside shared memory",
            {{init, "  @%q15 mbarrier.init.shared.b64 [full+65536], 1;\n"}},
            {OutOfBounds},
            "mbarrier.init"},
           {"an arrival too many at once",
            {{"WAIT:", "  mbarrier.arrive.shared.b64 %rd2, [full], 5;\nWAIT:"}},
            {Async}},
           {"bytes out of range", {{"[full], 4096;", "[full], 1048576;"}}, {Async}, "", "20 bits"},
           {"noComplete that completes",
            {{use, use + "  @%q15 mbarrier.arrive.noComplete.shared.b64 %rd2, [full], 1;\n"}},
            {Async},
            "",
            "noComplete"},
       })
    expectFault(good, fault);
}

const std::string kProducerWait = "  @!%q3 bra PWAIT;\n", kConsumerWait = "  @!%q3 bra CWAIT;\n";

TEST(NegativeMbarrier, RingOfStages) {
  const std::string consume =
      "CONSUME:\n  and.b32 %r2, %r1, 1;\n  shr.u32 %r3, %r1, 1;\n  and.b32 %r3, %r3, 1;\n";
  auto inConsumer = [&](const std::string &from, const std::string &to) {
    return std::vector<Edit>{{consume, replaced(consume, from, to)}};
  };
  expectFaults(
      hopper(kRing), ringSums,
      {
          {"the producer does not wait", {{kProducerWait}}, {AsyncRace, Async}},
          {"the consumer does not wait", {{kConsumerWait}}, {AsyncRace}, "ld.shared.u32 %r8"},
          {"the consumer gives nothing back",
           {{"  mbarrier.arrive.shared.b64 %rd3, [%r5];\n"}},
           {Deadlock},
           "",
           "32 of 32 arrivals pending"},
          {"gives back before reading",
           {{"  mad.lo.u32 %r7, %l, 4, %r6;\n",
             "  mbarrier.arrive.shared.b64 %rd3, [%r5];\n  mad.lo.u32 %r7, %l, 4, %r6;\n"},
            {"  add.u32 %r10, %r10, %r8;\n  mbarrier.arrive.shared.b64 %rd3, [%r5];\n",
             "  add.u32 %r10, %r10, %r8;\n"}},
           {AsyncRace, Race}},
          {"one consumer too many",
           {{"[empty], 32", "[empty], 33"}},
           {Deadlock},
           "",
           "1 of 33 arrivals pending"},
          {"half of them", {{"[empty], 32", "[empty], 16"}}, {Async}, "", "arrives in the next"},
          {"the second stage is not initialised",
           {{"  mbarrier.init.shared.b64 [full+8], 1;\n"}},
           {Async}},
          {"the producer's first wait is for the wrong phase",
           {{"  xor.b32 %r3, %r3, 1;\n"}},
           {Deadlock},
           "",
           "phase 0"},
          {"the consumer's phase is the other",
           inConsumer("and.b32 %r3, %r3, 1;\n", "and.b32 %r3, %r3, 1;\n  xor.b32 %r3, %r3, 1;\n"),
           {AsyncRace, Deadlock, Uninitialised}},
          {"the consumer's phase changes each time",
           inConsumer("shr.u32 %r3, %r1, 1", "shr.u32 %r3, %r1, 0"),
           {AsyncRace, Deadlock}},
          {"the consumer reads the other stage",
           {{"CWAIT:\n", "  xor.b32 %r6, %r6, 128;\nCWAIT:\n"}},
           {AsyncRace, Uninitialised}},
          {"the producer fills the other stage",
           {{"PWAIT:\n", "  xor.b32 %r6, %r6, 128;\nPWAIT:\n"}},
           {AsyncRace}},
          {"the consumers' arrivals order nothing",
           {{"mbarrier.arrive.shared.b64 %rd3", "mbarrier.arrive.relaxed.cta.shared.b64 %rd3"}},
           {AsyncRace}},
          {"expects fewer bytes",
           {{"[%r4], 128;\n  mad", "[%r4], 112;\n  mad"}},
           {Deadlock, Async}, // at the first phase or, as copies come in pieces, at a later one
           "",
           " bytes outstanding"},
          {"one tile fewer is produced",
           {{"%r1, 6;\n  @%q4 bra PRODUCE", "%r1, 5;\n  @%q4 bra PRODUCE"}},
           {Deadlock},
           "",
           "1 of 1 arrivals pending"},
      });
}

// Thread 0 arrives, and sees each phase end before it arrives in the next.
const std::string kPhases = R"(  @!%q15 bra DONE;
  mbarrier.init.shared.b64 [full], 1;
  mov.u32 %r1, 0;
NEXT:
  mbarrier.arrive.shared.b64 %rd1, [full];
WAIT:
  mbarrier.try_wait.shared.b64 %q1, [full], %rd1;
  @!%q1 bra WAIT;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q2, %r1, 4;
  @%q2 bra NEXT;
DONE:
)";

TEST(NegativeMbarrier, PhasesAreSeen) {
  const std::string wait = "  mbarrier.try_wait.shared.b64 %q1, [full], %rd1;\n";
  expectFaults(hopper(kPhases), unchanged,
               {
                   {"nobody sees that a phase has ended",
                    {{wait + kWaitLoop}},
                    {Async},
                    "mbarrier.arrive",
                    "nobody has seen"},
                   {"asks for a phase before the last",
                    {{"  mbarrier.arrive.shared.b64 %rd1", "  mbarrier.arrive.shared.b64 %rd2"},
                     {"  mov.u32 %r1, 0;\n", "  mov.u32 %r1, 0;\n  mov.u64 %rd1, 1;\n"},
                     {"  add.u32 %r1, %r1, 1;\n",
                      "WAIT2:\n  mbarrier.try_wait.shared.b64 %q1, [full], %rd2;\n"
                      "  @!%q1 bra WAIT2;\n  add.u32 %r1, %r1, 1;\n"}},
                    {Async},
                    "mbarrier.try_wait.shared.b64 %q1, [full], %rd1",
                    "2 phases old"},
               });
  // A parity is as good, and so is another thread's look.
  expectNoFault(hopper(edited(kPhases, {{"try_wait.shared.b64 %q1, [full], %rd1",
                                         "try_wait.parity.shared.b64 %q1, [full], %r2"},
                                        {"NEXT:\n", "NEXT:\n  and.b32 %r2, %r1, 1;\n"}})),
                unchanged);
}

// Data of threads handed from warp 1 to warp 0.
const std::string kHandOver = R"(  @%q15 mbarrier.init.shared.b64 [full], 32;
  bar.sync 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q2, %w, 0;
  @%q2 bra WAIT;
  st.shared.u32 [%r2], %t;
  mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [full];
  bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
DONE:
)";

TEST(NegativeMbarrier, DataOfThreads) {
  const std::string arrive = "  mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [full];\n",
                    store = "  st.shared.u32 [%r2], %t;\n";
  expectFaults(
      hopper(kHandOver), [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 32 : i); },
      {
          {"the wait is not repeated", {{kWaitLoop}}, {Race}, "ld.shared", "", true},
          {"no wait",
           {{"WAIT:\n  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q1, [full], 0;\n" +
                 kWaitLoop,
             "WAIT:\n"}},
           {Race}},
          {"the arrival orders nothing",
           {{"arrive.release", "arrive.relaxed"}},
           {Race},
           "ld.shared"},
          {"the wait orders nothing", {{"parity.acquire", "parity.relaxed"}}, {Race}, "ld.shared"},
          {"arrives before writing", {{store + arrive, arrive + store}}, {Race}},
          {"no arrival", {{arrive}}, {Deadlock}, "", "32 of 32 arrivals pending"},
          {"half the arrivals",
           {{arrive,
             "  setp.lt.u32 %q3, %l, 16;\n  @%q3 mbarrier.arrive.shared.b64 %rd1, [full];\n"}},
           {Deadlock},
           "",
           "16 of 32"},
          {"drops out of the next phase, in which it then arrives",
           {{arrive, "  mbarrier.arrive_drop.shared.b64 %rd1, [full];\n  "
                     "mbarrier.arrive.shared.b64 %rd1, [full];\n"}},
           {Async}},
      });
}

// Fences do for relaxed arrivals and waits what release and acquire do.
TEST(NegativeMbarrier, FencesWithRelaxedArrivals) {
  std::string good = edited(
      kHandOver, {{"  mbarrier.arrive.release", "  fence.acq_rel.cta;\n  mbarrier.arrive.relaxed"},
                  {"parity.acquire", "parity.relaxed"},
                  {"bra WAIT;\n  ld", "bra WAIT;\n  fence.acq_rel.cta;\n  ld"}});
  expectFaults(hopper(good), [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 32 : i); },
               {
                   {"no fence of the writer", {{"  fence.acq_rel.cta;\n"}}, {Race}, "ld.shared"},
                   {"no fence of the reader",
                    {{"bra WAIT;\n  fence.acq_rel.cta;", "bra WAIT;"}},
                    {Race},
                    "ld.shared"},
               });
}

} // namespace
} // namespace tile::vgpu

// Bulk copies out of shared memory and between proxies: fences, groups, sizes.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const std::string kFence = "  fence.proxy.async.shared::cta;\n",
                  kStored = "  st.shared.u32 [%r2], %r3;\n",
                  kReadWait = "  cp.async.bulk.wait_group.read 0;\n",
                  kCommit = "  cp.async.bulk.commit_group;\n";

TEST(NegativeBulk, Store) {
  expectFaults(
      hopper(kBulkStore), storedFrom100,
      {
          {"no proxy fence", {{kFence}}, {Proxy}, "cp.async.bulk.global"},
          {"the fence stands before the writes",
           {{kStored + kFence, kFence + kStored}},
           {Proxy},
           "cp.async.bulk.global"},
          {"a fence of the generic proxy alone",
           {{"fence.proxy.async.shared::cta", "fence.acq_rel.cta"}},
           {Proxy},
           "cp.async.bulk.global"},
          {"no barrier before the copy", {{"  bar.sync 0;\n"}}, {Race, AsyncRace, Proxy}},
          {"no wait before the source is overwritten",
           {{kReadWait}},
           {AsyncRace},
           "st.shared.u32 [%r2], %t"},
          {"waits for a group too few",
           {{"wait_group.read 0", "wait_group.read 1"}},
           {AsyncRace},
           "st.shared.u32 [%r2], %t"},
          {"not committed", {{kCommit}}, {AsyncRace}, "st.shared.u32 [%r2], %t"},
          {"a wait for the other kind of copies",
           {{"cp.async.bulk.wait_group.read 0", "cp.async.wait_group 0"}},
           {AsyncRace}},
          {"no barrier after the wait", {{"  bar.sync 1;\n"}}, {AsyncRace, Race}},
          {"exits while its memory is read",
           {{kReadWait}, {"  st.shared.u32 [%r2], %t;\n"}},
           {Async},
           "cp.async.bulk.global"},
          {"some of the source was never written",
           {{"[tile], 256", "[tile], 272"}},
           {Uninitialised},
           "cp.async.bulk.global"},
          {"no multiple of 16 bytes",
           {{"[tile], 256", "[tile], 248"}},
           {Misaligned},
           "cp.async.bulk.global"},
          {"a source that is not aligned",
           {{"[tile], 256", "[tile+8], 240"}},
           {Misaligned},
           "cp.async.bulk.global"},
          {"a target that is not aligned",
           {{"%p, 16384", "%p, 16392"}},
           {Misaligned},
           "cp.async.bulk.global"},
          {"a source outside",
           {{"[tile], 256", "[tile+8192], 256"}},
           {OutOfBounds},
           "cp.async.bulk.global"},
          {"a target outside", {{"%p, 16384", "%p, 32640"}}, {OutOfBounds}, "cp.async.bulk.global"},
      });
}

// The copying thread reads back what it has copied out.
TEST(NegativeBulk, ReadingBack) {
  std::string good =
      edited(kBulkStore, {{kReadWait, "  cp.async.bulk.wait_group 0;\n  ld.global.u32 %r4, "
                                      "[%rd1];\n  st.global.u32 [%p], %r4;\n"}});
  expectFaults(hopper(good), [](size_t i) { return i ? storedFrom100(i) : 100u; },
               {
                   {"the wait is for reading alone",
                    {{"wait_group 0", "wait_group.read 0"}},
                    {AsyncRace},
                    "ld.global"},
               });
}

const std::string kLoadAfterStore = R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  st.global.u32 [%a+256], %t;
  fence.proxy.async;
  bar.sync 0;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p+256], 256, [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
)";

TEST(NegativeBulk, LoadAfterWrites) {
  expectFaults(
      hopper(kLoadAfterStore),
      [](size_t i) {
        return static_cast<uint32_t>(i < 64 ? i : i < 128 ? i - 64 : i);
      },
      {
          {"no proxy fence", {{"  fence.proxy.async;\n"}}, {Proxy}, "cp.async.bulk.shared"},
          {"no barrier", {{"  bar.sync 0;\n"}}, {Race, AsyncRace, Async, Proxy}},
      });
}

// A buffer is read, then filled again: needs the barrier, but no proxy fence.
TEST(NegativeBulk, ReadBeforeTheNextLoad) {
  std::string good = edited(kBulkLoad, {{"  st.global.u32 [%a+16384], %r2;\n", R"(  bar.sync 1;
  @!%q15 bra AGAIN;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p+256], 256, [full];
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 1;
  @!%q1 bra AGAIN;
  ld.shared.u32 %r3, [%r1];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%a+16384], %r2;
)"}});
  expectFaults(
      hopper(good),
      [](size_t i) {
        return static_cast<uint32_t>(i >= 4096 && i < 4160 ? 2 * (i - 4096) + 65 : i);
      },
      {
          {"no barrier before the second load", {{"  bar.sync 1;\n"}}, {AsyncRace, Race, Deadlock}},
          {"the second wait is for the first phase",
           {{"[full], 1;\n  @!%q1 bra AGAIN", "[full], 0;\n  @!%q1 bra AGAIN"}},
           {AsyncRace, Race}},
      });
}

// Both blocks add into the same words: reductions are atomic.
const Shape kBlocks{{2}, {64}, {}, {}};

TEST(NegativeBulk, ReductionsOfTwoBlocks) {
  std::string good =
      edited(kBulkStore, {{"cp.async.bulk.global.shared::cta.bulk_group [",
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 ["}});
  expectFaults(
      hopper(good),
      [](size_t i) {
        return static_cast<uint32_t>(i >= 4096 && i < 4160 ? i + 2 * (i - 4096 + 100) : i);
      },
      {
          {"copies instead",
           {{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [",
             "cp.async.bulk.global.shared::cta.bulk_group ["},
            {"add.u32 %r3, %t, 100", "mov.u32 %r9, %ctaid.x;\n  add.u32 %r3, %t, %r9"}},
           {AsyncRace}},
          {"one block stores",
           {{"  @!%q15 bra DONE;\n", "  mov.u32 %r9, %ctaid.x;\n  setp.eq.u32 %q8, %r9, 1;\n"
                                     "  @%q8 st.global.u32 [%a+16384], %t;\n  @!%q15 bra DONE;\n"}},
           {Race, AsyncRace, Proxy}},
      },
      kBlocks);
}

} // namespace
} // namespace tile::vgpu

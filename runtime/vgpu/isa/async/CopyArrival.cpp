// cp.async.mbarrier.arrive.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/async/CopyForms.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"

namespace tile::vgpu {
namespace {

// cp.async.mbarrier.arrive: one arrival when the thread's copies so far are done.
class CopyArrival final : public AsyncOperation {
public:
  CopyArrival(Warp &warp, const Op &op, unsigned lane, SharedAddress barrier)
      : AsyncOperation(warp, op, lane), barrier_(barrier) {}

  void complete() override {
    completeAllCopies(*issuer, 1u << lane);
    Mbarrier &barrier = requireMbarrier(*issuer, *op, lane, *barrier_.cta, barrier_.address);
    // Whoever waits for the barrier sees what has been copied.
    barrier.arriving.own.ordered.raise(issuer->clock.actor, issuer->clock.time());
    issuer->clock.advance();
    arriveSilently(*issuer, *op, lane, *barrier_.cta, barrier_.address);
  }

private:
  SharedAddress barrier_;
};

struct ArrivalForm {
  bool isWide = false, isGeneric = false; // the address
  bool isExpected = false;                // one of those the barrier counts on
};

// Row: the address.
void arriveAfterCopies(Warp &warp, const Op &op) {
  auto form = formOf<ArrivalForm>(op);
  uint64_t address[kLanes];
  readAddresses(warp, op.rows[0], form.isWide, op.imm, address);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) {
    SharedAddress where =
        sharedAddressOf(warp, address[lane] - (form.isGeneric ? kSharedWindow : 0));
    if (where.cta != warp.cta)
      warp.stop(op, FindingKind::OutOfBounds, lane, "the mbarrier is not the block's own");
    Mbarrier &barrier = requireMbarrier(warp, op, lane, *where.cta, where.address);
    if (!form.isExpected)
      ++barrier.pending;
    Cluster &cluster = *warp.cta->cluster;
    cluster.async.issue(cluster, std::make_unique<CopyArrival>(warp, op, lane, where));
  });
}

} // namespace

void decodeCopyArrival(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (!suffixes.take("arrive"))
    decoder.unsupported("expected cp.async.mbarrier.arrive");
  bool expected = suffixes.take("noinc");
  bool shared = suffixes.take("shared") || suffixes.take("shared::cta");
  if (suffixes.takeType() != ScalarType::B64)
    decoder.unsupported("an mbarrier is .b64");
  decoder.wantOperands(instruction, 1);
  Decoder::Address address = decoder.address(instruction.operands[0]);
  ArrivalForm form = {address.bytes == 8, !shared && !address.known, expected};
  decoder.emit(arriveAfterCopies, {}, {address.row}, address.offset, form, kOwnValidity);
}

} // namespace tile::vgpu

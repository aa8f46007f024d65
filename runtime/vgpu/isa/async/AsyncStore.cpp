// st.async and red.async: a store, or a reduction, into the shared memory of a block of the cluster, whose memory barrier
// counts the bytes.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/async/BulkReduction.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/async/AsyncQueue.h"

#include <cstring>

namespace tile::vgpu {
namespace {

class AsyncStore final : public AsyncOperation {
public:
  using AsyncOperation::AsyncOperation;

  SharedAddress target, barrier;
  std::array<uint8_t, 32> value{};
  uint32_t bytes = 0;
  bool isInitialised = true;
  Reduction reduction = nullptr;

  void check() {
    uint64_t offset = uint64_t{target.address} - kSharedBase;
    const Launch &launch = *issuer->cta->launch;
    if (!target.cta || !barrier.cta || offset > launch.sharedBytes() ||
        bytes > launch.sharedBytes() - offset)
      issuer->stop(*op, FindingKind::OutOfBounds, lane,
                   "the target of " + std::to_string(bytes) +
                       " bytes is not in the cluster's shared memory");
    if (target.address % bytes)
      issuer->stop(*op, FindingKind::Misaligned, lane,
                   "the target is not aligned to " + std::to_string(bytes) + " bytes");
    if (target.cta->hasExited)
      issuer->stop(*op, FindingKind::UseAfterFree, lane,
                   "block " + launch.blockText(target.cta->index) + " has exited");
    const Mbarrier &completes = requireMbarrier(*issuer, *op, lane, *barrier.cta, barrier.address);
    if (!target.cta->races)
      return;
    // PTX: through the generic proxy, a weak store or a relaxed reduction; reductions do not race with each other.
    Accessor accessor =
        accessorOf(*issuer, *op, lane, reduction ? AccessKind::Atomic : AccessKind::Write);
    accessor.record.actor = completes.actor;
    accessor.record.clock = completes.time();
    target.cta->races->access(accessor, target.address - kSharedBase, bytes, false);
  }

  bool writes(const Cta &cta) const override { return target.cta == &cta; }

  void complete() override {
    uint8_t *host = target.cta->sharedHost(target.address, bytes);
    if (reduction)
      reduction(host, value.data(), bytes);
    else
      std::memcpy(host, value.data(), bytes);
    if (issuer->shadow && !reduction)
      target.cta->sharedValid.setRange(target.address - kSharedBase, bytes, isInitialised);
    completeBytes(*issuer, *op, lane, *barrier.cta, barrier.address, bytes);
  }
};

struct StoreForm {
  uint8_t reduction = 0; // 1 + its index, or 0
  ScalarType type = ScalarType::B32;
};

// Rows: the target's address and the barrier's, both 64 bits wide, then the elements.
template <class T> void issueStores(Warp &warp, const Op &op) {
  if (warp.shadow) {
    checkAddress(warp, op, op.rows[0]);
    checkAddress(warp, op, op.rows[1]);
  }
  auto form = formOf<StoreForm>(op);
  Cluster &cluster = *warp.cta->cluster;
  forLanes(warp.mask, [&](unsigned lane) {
    auto store = std::make_unique<AsyncStore>(warp, op, lane);
    store->target = sharedAddressOf(warp, warp.row<uint64_t>(op.rows[0])[lane]);
    store->barrier = sharedAddressOf(warp, warp.row<uint64_t>(op.rows[1])[lane]);
    for (unsigned i = 2; i < op.sources; ++i) {
      T value = static_cast<T>(warp.row<LaneOf<T>>(op.rows[i])[lane]);
      std::memcpy(store->value.data() + store->bytes, &value, sizeof(T));
      store->bytes += sizeof(T);
      if (warp.shadow)
        store->isInitialised &= warp.shadow.whole(op.rows[i]) >> lane & 1;
    }
    if (form.reduction)
      store->reduction = bulkReduction(kReductions[form.reduction - 1], form.type);
    store->check();
    cluster.async.issue(cluster, std::move(store));
  });
}

// PTX has no reductions of 64 bits but unsigned sums.
bool canReduce(std::string_view operation, ScalarType type) {
  bool isWide = bytesOf(type) == 8;
  return !isFloat(type) && bulkReduction(operation, type) &&
         (!isWide || (operation == "add" && type == ScalarType::U64));
}

template <bool reduces>
void decodeStores(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.takeOneOf({"weak", "relaxed"});
  suffixes.take("cluster");
  if (!suffixes.take("shared::cluster") || !suffixes.take("mbarrier::complete_tx::bytes"))
    decoder.unsupported("expected .shared::cluster.mbarrier::complete_tx::bytes");
  uint8_t operation = reduces ? takeReduction(decoder, suffixes) : 0;
  std::string_view vector = reduces ? std::string_view() : suffixes.takeOneOf({"v2", "v4"});
  size_t elements = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  ScalarType type = suffixes.takeType();
  bool hasWidth = bytesOf(type) == 4 || bytesOf(type) == 8;
  if (!hasWidth || (reduces && !canReduce(kReductions[operation - 1], type)))
    decoder.unsupported("this type");
  decoder.wantOperands(instruction, 3);
  const auto &operands = instruction.operands;
  std::vector<Operand> parts = operands[1].kind == Operand::Kind::Vector
                                   ? operands[1].parts
                                   : std::vector<Operand>{operands[1]};
  if (parts.size() != elements)
    decoder.malformed("expected " + std::to_string(elements) + " elements");
  std::vector<uint32_t> rows = {decoder.wideAddress(operands[0]), decoder.wideAddress(operands[2])};
  for (const Operand &part : parts)
    rows.push_back(decoder.source(part, type));
  decoder.emitWide(bytesOf(type) == 8 ? issueStores<uint64_t> : issueStores<uint32_t>, {}, rows, 0,
                   StoreForm{operation, type}, kOwnValidity);
}

const OpcodeVariant kVariants[] = {{"st", "async", decodeStores<false>},
                                   {"red", "async", decodeStores<true>}};

} // namespace

OpcodeVariants asyncStoreVariants() { return kVariants; }

} // namespace tile::vgpu

// cp.async.bulk, cp.reduce.async.bulk, with and without tensor maps, and their groups.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/async/BulkReduction.h"
#include "runtime/vgpu/isa/async/CopyForms.h"
#include "runtime/vgpu/isa/async/TensorMapMemory.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/CountAccess.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/async/BulkTransfer.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

enum class Way : uint8_t { GlobalToShared, SharedToShared, SharedToGlobal };

struct Form {
  Way way = Way::GlobalToShared;
  uint8_t rank = 0; // of a tensor copy; 0: a range
  bool multicast = false;
  uint8_t operation = 0;              // 1 + the index of a reduction
  ScalarType type = ScalarType::None; // of a reduction of ranges
};

uint64_t address(Warp &warp, const Op &op, BulkRow row, unsigned lane) {
  return warp.row<uint64_t>(op.rows[row])[lane];
}
uint32_t number(Warp &warp, const Op &op, unsigned row, unsigned lane) {
  return warp.row<uint32_t>(op.rows[row])[lane];
}

// Each block that a multicast names gets the tile, at the same offset, and the bytes count at its own barrier.
void addTargets(Warp &warp, const Op &op, const Form &form, unsigned lane, BulkTransfer &copy) {
  SharedAddress tile = sharedAddressOf(warp, address(warp, op, kBulkTarget, lane));
  SharedAddress barrier = sharedAddressOf(warp, address(warp, op, kBulkBarrier, lane));
  if (!tile.cta || !barrier.cta)
    warp.stop(op, FindingKind::OutOfBounds, lane, "the cluster has no such block");
  if (!form.multicast) {
    copy.targets.push_back({tile, barrier});
    return;
  }
  Cluster &cluster = *warp.cta->cluster;
  uint32_t mask = number(warp, op, kBulkMask, lane) & 0xffff;
  if (mask >> cluster.ctas.size())
    warp.stop(op, FindingKind::OutOfBounds, lane,
              "the multicast names blocks that the cluster of " +
                  std::to_string(cluster.ctas.size()) + " has not");
  if (!mask)
    warp.stop(op, FindingKind::Async, lane, "the multicast's mask names no block");
  forLanes(mask, [&](unsigned rank) {
    Cta *cta = cluster.ctas[rank].get();
    copy.targets.push_back({{cta, tile.address}, {cta, barrier.address}});
  });
}

// The map's description fits the instruction and its operands.
void checkUse(Warp &warp, const Op &op, const Form &form, unsigned lane, const BulkTransfer &copy) {
  auto stop = [&](FindingKind kind, const std::string &fault) { warp.stop(op, kind, lane, fault); };
  const TensorMapParams &map = *copy.map;
  if (map.rank != form.rank)
    stop(FindingKind::Async, "the tensor map has rank " + std::to_string(map.rank) +
                                 ", the instruction " + std::to_string(form.rank));
  bool writes = form.way == Way::SharedToGlobal;
  if (writes && map.type > device::TensorMapType::BF16)
    stop(FindingKind::Async, "only loads are modelled through a tensor map of " +
                                 device::nameOf(map.type) + "; use f32");
  if (form.operation && !copy.reduction)
    stop(FindingKind::Async, "there is no reduction ." +
                                 std::string(kReductions[form.operation - 1]) + " of " +
                                 device::nameOf(map.type));
  std::string fault = coordinatesFault(map, copy.coordinates, writes);
  if (!fault.empty())
    stop(FindingKind::Async, fault);
}

void readMap(Warp &warp, const Op &op, const Form &form, unsigned lane, BulkRow row,
             BulkTransfer &copy) {
  copy.map = tensorMapAt(warp, op, lane, address(warp, op, row, lane));
  for (unsigned d = 0; d < form.rank; ++d)
    copy.coordinates[d] = static_cast<int32_t>(number(warp, op, kBulkCoordinates + d, lane));
  copy.bytes = boxBytes(*copy.map);
  if (form.operation)
    copy.reduction = tensorReduction(kReductions[form.operation - 1], copy.map->type);
  checkUse(warp, op, form, lane, copy);
}

void readRange(Warp &warp, const Op &op, const Form &form, unsigned lane, BulkTransfer &copy) {
  copy.bytes = number(warp, op, kBulkBytes, lane);
  if (copy.bytes % 16 || copy.bytes == 0)
    warp.stop(op, FindingKind::Misaligned, lane,
              "a bulk copy moves a positive multiple of 16 bytes, not " +
                  std::to_string(copy.bytes));
  if (form.way != Way::SharedToShared)
    copy.global =
        address(warp, op, form.way == Way::GlobalToShared ? kBulkSource : kBulkTarget, lane);
  if (form.operation)
    copy.reduction = bulkReduction(kReductions[form.operation - 1], form.type);
}

void issue(Warp &warp, const Op &op, const Form &form, unsigned lane) {
  Cluster &cluster = *warp.cta->cluster;
  auto copy = std::make_unique<BulkTransfer>(warp, op, lane);
  if (form.rank)
    readMap(warp, op, form, lane, form.way == Way::SharedToGlobal ? kBulkTarget : kBulkSource,
            *copy);
  else
    readRange(warp, op, form, lane, *copy);
  if (form.way != Way::GlobalToShared) {
    copy->from = sharedAddressOf(warp, address(warp, op, kBulkSource, lane));
    if (copy->from->cta != warp.cta)
      warp.stop(op, FindingKind::OutOfBounds, lane, "the source is not the block's own memory");
  }
  if (form.way != Way::SharedToGlobal) {
    addTargets(warp, op, form, lane, *copy);
  } else {
    BulkGroups &bulk = warp.bulk;
    if (bulk.readActor == 0) {
      bulk.readActor = cluster.addActor(warp, op);
      bulk.writeActor = cluster.addActor(warp, op);
    }
    copy->groupTime = ++bulk.issued;
    bulk.copies.push_back({bulk.issued, bulk.commits[lane], static_cast<uint8_t>(lane), &op});
  }
  copy->check();
  ++*cluster.events, ++*cluster.effects;
  countAsyncBytes(warp, op, copy->bytes);
  for (const BulkTile &target : copy->targets)
    countSharedTouched(*target.where.cta, target.where.address, copy->reachOf(target.where));
  cluster.async.issue(cluster, std::move(copy));
}

void issueAll(Warp &warp, const Op &op) {
  auto form = formOf<Form>(op);
  if (warp.shadow)
    for (BulkRow row : {kBulkTarget, kBulkSource, kBulkBarrier})
      checkAddress(warp, op, op.rows[row]);
  forLanes(warp.mask, [&](unsigned lane) { issue(warp, op, form, lane); });
}

void commitGroup(Warp &warp, const Op &) {
  forLanes(warp.mask, [&](unsigned lane) { ++warp.bulk.commits[lane]; });
}

// The warp learns of all copies before the first that may still run.
uint32_t doneBefore(const BulkGroups &bulk, bool BulkGroups::Copy::*done) {
  for (const BulkGroups::Copy &copy : bulk.copies)
    if (!(copy.*done))
      return copy.time - 1;
  return bulk.issued;
}

// Op::imm: groups that may go on. Op::a: only the reads must be done.
void waitGroup(Warp &warp, const Op &op) {
  BulkGroups &bulk = warp.bulk;
  Cluster &cluster = *warp.cta->cluster;
  auto isCovered = [&](unsigned lane, uint32_t group) {
    return (warp.mask >> lane & 1) && group + op.imm < bulk.commits[lane];
  };
  std::vector<uint32_t> times;
  for (BulkGroups::Copy &copy : bulk.copies)
    if (isCovered(copy.lane, copy.group)) {
      copy.hasRead = true;
      copy.hasWritten |= op.a == 0;
      times.push_back(copy.time);
    }
  cluster.async.completeWhere(cluster, [&](const AsyncOperation &operation) {
    return operation.issuer == &warp && operation.groupTime &&
           std::ranges::count(times, operation.groupTime) > 0;
  });
  if (bulk.readActor) {
    warp.clock.current.own.ordered.raise(bulk.readActor,
                                         doneBefore(bulk, &BulkGroups::Copy::hasRead));
    warp.clock.current.own.ordered.raise(bulk.writeActor,
                                         doneBefore(bulk, &BulkGroups::Copy::hasWritten));
  }
  std::erase_if(bulk.copies, [](const BulkGroups::Copy &copy) { return copy.hasWritten; });
}

std::vector<uint32_t> coordinateRows(Decoder &decoder, const Operand &map, unsigned rank) {
  std::vector<Operand> parts(map.parts.begin() + 1, map.parts.end());
  if (parts.size() == 1 && parts[0].kind == Operand::Kind::Vector)
    parts = std::vector(parts[0].parts);
  if (parts.size() != rank)
    decoder.malformed("expected " + std::to_string(rank) + " coordinates, found " +
                      std::to_string(parts.size()));
  std::vector<uint32_t> rows;
  for (const Operand &part : parts)
    rows.push_back(decoder.source(part, ScalarType::U32));
  return rows;
}

// The map's own address, without the coordinates.
Operand mapAddress(Operand operand) {
  operand.parts.resize(1);
  return operand;
}

void decodePrefetch(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool isTensor = suffixes.take("tensor");
  if (isTensor == suffixes.takeOneOf({"1d", "2d", "3d", "4d", "5d"}).empty())
    decoder.unsupported("expected .tensor with .1d to .5d");
  suffixes.take("tile");
  if (!suffixes.take("L2") || !suffixes.take("global"))
    decoder.unsupported("expected .L2.global");
  decoder.wantOperandsAndPolicy(instruction, isTensor ? 1 : 2, suffixes.take("L2::cache_hint"));
}

Way takeWay(Decoder &decoder, Suffixes &suffixes) {
  // The first space named is the target.
  bool targetIsGlobal = suffixes.first() == "global";
  if (targetIsGlobal) {
    suffixes.take("global");
    if (!suffixes.take("shared::cta"))
      decoder.unsupported("bulk copies to global memory come from .shared::cta");
    return Way::SharedToGlobal;
  }
  bool toCluster = suffixes.first() == "shared::cluster";
  if (!suffixes.take(toCluster ? "shared::cluster" : "shared::cta"))
    decoder.unsupported("expected a target .global, .shared::cluster or .shared::cta");
  if (suffixes.take("global"))
    return Way::GlobalToShared;
  if (!toCluster || !suffixes.take("shared::cta"))
    decoder.unsupported("expected a source .global or .shared::cta");
  return Way::SharedToShared;
}

uint8_t takeRank(Decoder &decoder, Suffixes &suffixes) {
  if (!suffixes.take("tensor"))
    return 0;
  std::string_view rank = suffixes.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank.empty())
    decoder.unsupported("expected .1d to .5d");
  return static_cast<uint8_t>(rank[0] - '0');
}

void decodeCopy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                bool reduces) {
  Form form;
  if (std::string_view mode = suffixes.takePrefix("im2col"); !mode.empty())
    decoder.unsupported("." + std::string(mode) + " is not modelled");
  if (std::string_view mode = suffixes.takePrefix("tile::"); !mode.empty())
    decoder.unsupported("." + std::string(mode) + " is not modelled");
  form.rank = takeRank(decoder, suffixes);
  form.way = takeWay(decoder, suffixes);
  bool toGlobal = form.way == Way::SharedToGlobal;
  suffixes.take("tile");
  if (!suffixes.take(toGlobal ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    decoder.unsupported(toGlobal ? "expected .bulk_group"
                                 : "expected .mbarrier::complete_tx::bytes");
  form.multicast = form.way == Way::GlobalToShared && suffixes.take("multicast::cluster");
  bool hasPolicy = suffixes.take("L2::cache_hint");
  if (reduces) {
    form.operation = takeReduction(decoder, suffixes);
    suffixes.take("noftz");
    form.type = form.rank ? ScalarType::None : suffixes.takeType();
    if (form.way == Way::GlobalToShared ||
        (!form.rank && !bulkReduction(kReductions[form.operation - 1], form.type)))
      decoder.unsupported("this reduction");
  }
  if (form.way == Way::SharedToShared && (form.rank || hasPolicy))
    decoder.unsupported("copies between shared memories have neither tensors nor cache policies");
  const auto &operands = instruction.operands;
  size_t count = 2u + (form.rank == 0) + !toGlobal + form.multicast;
  decoder.wantOperandsAndPolicy(instruction, count, hasPolicy);
  const Operand &map = operands[toGlobal ? 0 : 1];
  std::vector<uint32_t> coordinates;
  if (form.rank)
    coordinates = coordinateRows(decoder, map, form.rank);
  bool mapIsTarget = form.rank && toGlobal, mapIsSource = form.rank && !toGlobal;
  std::vector<uint32_t> rows(kBulkCoordinates);
  rows[kBulkTarget] = decoder.wideAddress(mapIsTarget ? mapAddress(operands[0]) : operands[0]);
  rows[kBulkSource] = decoder.wideAddress(mapIsSource ? mapAddress(operands[1]) : operands[1]);
  size_t at = 2;
  rows[kBulkBytes] =
      form.rank ? decoder.constant(0, 4) : decoder.source(operands[at++], ScalarType::U32);
  rows[kBulkBarrier] = toGlobal ? rows[kBulkSource] : decoder.wideAddress(operands[at++]);
  rows[kBulkMask] =
      form.multicast ? decoder.source(operands[at++], ScalarType::U16) : decoder.constant(0, 4);
  if (hasPolicy)
    decoder.source(operands[at], ScalarType::B64); // must be one, and is not read
  rows.insert(rows.end(), coordinates.begin(), coordinates.end());
  decoder.emitWide(issueAll, {}, rows, 0, form, kOwnValidity);
  // Sums may depend on the order of blocks, and host threads must not mix their parts.
  decoder.program().usesGlobalAtomics |= reduces && toGlobal;
}

} // namespace

void decodeBulkCopy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                    bool reduces) {
  if (suffixes.take("commit_group")) {
    decoder.wantOperands(instruction, 0);
    decoder.emit(commitGroup, {}, {});
  } else if (suffixes.take("wait_group")) {
    bool reads = suffixes.take("read");
    decoder.wantOperands(instruction, 1);
    if (instruction.operands[0].kind != Operand::Kind::Immediate)
      decoder.malformed("the number of groups must be a constant");
    decoder.emit(waitGroup, {}, {}, static_cast<int64_t>(instruction.operands[0].value), reads);
  } else if (suffixes.take("prefetch")) {
    decodePrefetch(decoder, instruction, suffixes);
  } else {
    decodeCopy(decoder, instruction, suffixes, reduces);
  }
}

} // namespace tile::vgpu

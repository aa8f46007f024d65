// The address pass: warps one after the other, to their end, without waiting for anything.
#include "runtime/vgpu/time/Footprint.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/time/UntimedWalk.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr size_t kMostLoads = 400; // of a place: the pattern has repeated by then
constexpr size_t kMostSectors = 400'000;

class AddressPass {
public:
  explicit AddressPass(TimedLaunch &launch) : launch_(launch), room_(launch.makeRoom()) {}

  Footprint run() {
    if (launch_.program().usesTensorLoads)
      findBoxes();
    else if (launch_.blocks() > 1)
      findSharedSectors();
    return std::move(found_);
  }

private:
  void findBoxes() {
    unsigned places = launch_.places();
    found_.boxes.resize(places);
    std::vector<uint32_t>
        loaders; // warps of the first block that load: those of the others are the same
    for (uint32_t warp = launch_.warpsOfBlock(); warp-- > 0;)
      loaders.push_back(warp);
    for (unsigned place = 0; place < places; ++place)
      for (uint64_t turn = place; turn < launch_.blocks(); turn += places) {
        boxes_ = &found_.boxes[place];
        if (boxes_->size() >= kMostLoads)
          break;
        Cta &block = launch_.begin(*room_, turn);
        fetches_ = 0;
        std::vector<uint32_t> loading;
        for (uint32_t warp : loaders) {
          size_t before = boxes_->size();
          walk(block.warps[warp]);
          if (boxes_->size() > before)
            loading.push_back(warp);
        }
        if (turn == 0)
          loaders = loading;
        if (loaders.empty())
          return;
      }
  }

  void findSharedSectors() {
    std::unordered_set<uint64_t> sectors[2];
    for (unsigned i = 0; i < 2; ++i) {
      sectors_ = &sectors[i];
      Cta &block = launch_.begin(*room_, i * (launch_.blocks() / 2));
      fetches_ = 0;
      for (Warp &warp : block.warps)
        walk(warp);
    }
    for (uint64_t sector : sectors[0])
      if (sectors[1].contains(sector))
        found_.sharedSectors.insert(sector);
  }

  void walk(Warp &warp) {
    walkUntimed(launch_, warp, fetches_, [this](TimedWarp &warp, uint32_t pc, uint32_t lanes) {
      return visit(warp, pc, lanes);
    });
  }

  // False if enough is known.
  bool visit(TimedWarp &warp, uint32_t pc, uint32_t lanes) {
    const TimedOp &op = launch_.program().ops[pc];
    TimeKind kind = op.form.kind;
    if (boxes_ && kind == TimeKind::BulkLoad && op.form.number)
      boxes_->push_back(boxOf(launch_, warp, pc, firstLane(lanes)));
    if (sectors_ && (kind == TimeKind::LoadGlobal || kind == TimeKind::AsyncCopy))
      noteSectors(warp, pc, op, lanes);
    return !boxes_ || boxes_->size() < kMostLoads;
  }

  void noteSectors(TimedWarp &warp, uint32_t pc, const TimedOp &op, uint32_t lanes) {
    constexpr uint64_t kSectorBytes = 32;
    forLanes(lanes, [&](unsigned lane) {
      uint64_t first = globalAddressOf(warp, pc, op.form.kind, lane);
      for (uint64_t at = first / kSectorBytes; at <= (first + op.form.bytes - 1) / kSectorBytes;
           ++at)
        if (sectors_->size() < kMostSectors)
          sectors_->insert(at);
    });
  }

  TimedLaunch &launch_;
  std::unique_ptr<Cluster> room_;
  Footprint found_;
  std::vector<Box> *boxes_ = nullptr;
  std::unordered_set<uint64_t> *sectors_ = nullptr;
  uint64_t fetches_ = 0; // of the block
};

} // namespace

Footprint findFootprint(TimedLaunch &launch) { return AddressPass(launch).run(); }

} // namespace tile::vgpu

// The work of a launch: each program is followed through its loops and branches, without tiles (ScalarCode.h). Counted is what it
// meets there; what an access leaves out because it is outside its tensor is left out. Where the course follows from numbers
// that are not known nothing is claimed.
#include "codegen/report/AccessWork.h"
#include "codegen/report/Footprint.h"
#include "codegen/report/MakeReport.h"
#include "codegen/report/ScalarRun.h"
#include "codegen/report/WorkOfOp.h"
#include "codegen/report/WorkScopes.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Steps that all programs together may take before some of them stand for the others.
constexpr int64_t kSteps = 40'000'000;

/// Follows programs one after the other and adds up what they do.
class LaunchFollower final : ScalarRun::Listener {
public:
  LaunchFollower(func::FuncOp kernel, const LaunchFacts &facts)
      : kernel_(kernel), scopes_(workScopesOf(kernel)), facts_(facts),
        code_(scalarCodeOf(kernel, [](Operation *op) { return !workOf(op).flops.empty(); })),
        teams_(ir::teamsOf(kernel)), blocks_(ir::clusterOf(kernel)), warps_(ir::warpsOf(kernel)),
        hasProducer_(gpu::rolesOf(kernel)), entries_(scopes_.scopes.size()) {
    for (const ScalarAccess &access : code_.accesses)
      accessWork_.emplace_back(access, blocks_);
    for (auto [id, number] : code_.parameters)
      code_.initial[id] = parameter(number);
    if (!code_.unfollowed.empty())
      unfollowed_ = code_.unfollowed[0].second + " at " + shortPlace(code_.unfollowed[0].first) +
                    " is not known";
  }

  /// All programs of a grid, or some that stand for them.
  void follow(std::array<int64_t, 3> grid) {
    gpu::WorkspaceAttr workspace = gpu::workspaceOf(kernel_);
    int64_t together =
        workspace ? workspace.getPrograms() : 1; // which one comes last decides what each does
    int64_t programs = grid[0] * grid[1] * grid[2], groups = programs / together;
    if (groups == 0 || whyUnknown())
      return;
    for (size_t axis = 0; axis < 3; ++axis)
      runner_.programs[axis] = {grid[axis], true};
    int64_t first = stepsOfGroup(0, together, grid);
    int64_t most = std::max<int64_t>(3, kSteps / std::max<int64_t>(1, first));
    int64_t followed = std::min(groups, most);
    for (int64_t i = 1; i < followed && !whyUnknown(); ++i)
      stepsOfGroup(i * (groups - 1) / (followed - 1), together, grid);
    scale_ = static_cast<double>(groups) / static_cast<double>(followed);
  }

  /// One program, of which it is not known which.
  void followOne() { followRunners(); }

  void write(LaunchWork &work, std::vector<WorkScope> &scopes) const {
    work.unknown = *whyUnknown();
    if (!work.unknown.empty())
      return;
    work.isEstimate = scale_ > 1;
    for (size_t i = 0; i < entries_.size(); ++i) {
      scopes[i].executions = entries_[i] * scale_ / static_cast<double>(scopes_.runners[i]);
      for (auto &[unit, count] : scopes_.flops[i])
        if (entries_[i] > 0)
          work.flops[unit] += count * entries_[i] * scale_;
    }
    work.bytesRead = read_ * scale_, work.bytesWritten = written_ * scale_;
    work.distinctRead = readOnce_.bytes(facts_, scale_);
    work.distinctWritten = writtenOnce_.bytes(facts_, scale_);
    work.atMost = atMost_;
  }

private:
  const Refusal &whyUnknown() const { return unfollowed_ ? unfollowed_ : run_.failure(); }

  Scalar parameter(unsigned number) const {
    ir::ParamAttr param = ir::paramOf(kernel_, number);
    if (!param)
      return {};
    if (param.getKind() == ir::ParamKind::Counters)
      return {0, true};
    auto argument = static_cast<size_t>(param.getArg());
    if (param.getArg() < 0 || argument >= facts_.arguments.size())
      return {};
    const LaunchFacts::Argument &fact = facts_.arguments[argument];
    auto dim = static_cast<size_t>(std::max(param.getDim(), 0));
    if (param.getKind() == ir::ParamKind::Extent && dim < fact.extents.size())
      return {fact.extents[dim], true};
    if (param.getKind() == ir::ParamKind::Stride && dim < fact.strides.size())
      return {fact.strides[dim], true};
    if (param.getKind() == ir::ParamKind::Scalar && fact.value)
      return {*fact.value, true};
    return {};
  }

  int64_t stepsOfGroup(int64_t group, int64_t together, std::array<int64_t, 3> grid) {
    int64_t before = run_.steps();
    for (int64_t i = group * together; i < (group + 1) * together && !whyUnknown(); ++i) {
      runner_.program = {Scalar{i % grid[0], true}, Scalar{i / grid[0] % grid[1], true},
                         Scalar{i / grid[0] / grid[1], true}};
      followRunners();
    }
    return run_.steps() - before;
  }

  // Of each block each team, and the warp that fills rings for all.
  void followRunners() {
    for (int64_t rank = 0; rank < blocks_; ++rank)
      for (int64_t team = 0; team < teams_ + hasProducer_ && !whyUnknown(); ++team) {
        runner_.rank = rank;
        runner_.isProducer = team == teams_;
        runner_.team = runner_.isProducer ? 0 : team;
        onEnter(&kernel_.getBody(), /*isInRole=*/false);
        run_.run(runner_, code_.initial);
      }
  }

  void onEnter(Region *region, bool isInRole) override {
    auto scope = scopes_.ofRegion.find(region);
    if (scope != scopes_.ofRegion.end() && (!runner_.isProducer || isInRole))
      entries_[scope->second] += 1;
  }

  void onAccess(int index) override {
    const ScalarAccess &access = code_.accesses[index];
    AccessWork &work = accessWork_[index];
    bool isHere = work.isByTma() ? (hasProducer_ ? runner_.isProducer : runner_.team == 0)
                                 : !runner_.isProducer;
    Scalar happens = access.predicate == kNoScalar ? Scalar{1, true} : run_.at(access.predicate);
    if (!isHere || (happens.isKnown && !happens.value))
      return;
    if (!happens.isKnown || access.isMasked)
      note(access, "which elements it leaves out");
    Touched touched = touchedBy(access);
    double all = touched.elements * work.elementBytes() * work.share(),
           once = touched.distinct * work.elementBytes() * work.share();
    std::optional<uint64_t> tile = work.share() == 1 ? keyOf(access) : keyOf(access, runner_.rank);
    if (work.reads())
      read_ += all * work.requests(touched.sameDims), readOnce_.add(access.argument, tile, once);
    if (work.writes())
      written_ += all, writtenOnce_.add(access.argument, tile, once);
  }

  /// Elements of a tile that are inside the tensor, as far as that is known.
  struct Touched {
    double elements = 1, distinct = 1;
    uint32_t sameDims = 0; ///< bits of those along which all are one
  };

  Touched touchedBy(const ScalarAccess &access) {
    Touched touched;
    bool hasPlace = !access.extents.empty();
    for (auto [dim, length] : llvm::enumerate(access.shape)) {
      Scalar first = hasPlace ? run_.at(access.offsets[dim]) : Scalar(),
             extent = hasPlace ? run_.at(access.extents[dim]) : Scalar(),
             stride = hasPlace ? run_.at(access.strides[dim]) : Scalar();
      int64_t inside = length;
      if (!access.isUnchecked && first.isKnown && extent.isKnown)
        inside = std::clamp<int64_t>(std::min(first.value + length, extent.value) -
                                         std::max<int64_t>(first.value, 0),
                                     0, length);
      else if (hasPlace && !access.isUnchecked)
        note(access, "where it lies");
      bool isSame = stride.isKnown && stride.value == 0 && length > 1;
      touched.sameDims |= uint32_t{isSame} << dim;
      touched.elements *= static_cast<double>(inside);
      touched.distinct *= static_cast<double>(isSame ? std::min<int64_t>(inside, 1) : inside);
    }
    return touched;
  }

  /// The same for accesses of the same elements.
  std::optional<uint64_t> keyOf(const ScalarAccess &access, int64_t part = -1) const {
    if (!access.hasKnownBase || (access.extents.empty() && access.shape.size()))
      return std::nullopt;
    llvm::hash_code key = llvm::hash_combine(part, llvm::hash_combine_range(access.shape));
    auto add = [&](ScalarId id) {
      Scalar number = run_.at(id);
      key = llvm::hash_combine(key, number.value);
      return number.isKnown;
    };
    bool isKnown = true;
    for (ScalarId id : access.offsets)
      isKnown &= add(id);
    for (ScalarId id : access.extents)
      isKnown &= add(id);
    for (ScalarId id : access.base)
      isKnown &= add(id);
    return isKnown ? std::optional<uint64_t>(static_cast<size_t>(key)) : std::nullopt;
  }

  void note(const ScalarAccess &access, const char *what) {
    if (!noted_.insert(access.op).second)
      return;
    std::string text = std::string(what) + " at " + shortPlace(access.op);
    if (!llvm::is_contained(atMost_, text))
      atMost_.push_back(std::move(text));
  }

  func::FuncOp kernel_;
  WorkScopes scopes_;
  const LaunchFacts &facts_;
  ScalarCode code_;
  std::vector<AccessWork> accessWork_;
  int64_t teams_, blocks_, warps_;
  bool hasProducer_;

  ScalarRun run_{code_, *this};
  Runner runner_;
  Refusal unfollowed_; ///< why nothing is known from the start

  std::vector<double> entries_; ///< of each scope, by all who carry it out
  double read_ = 0, written_ = 0, scale_ = 1;
  Footprint readOnce_, writtenOnce_;
  llvm::DenseSet<Operation *> noted_;
  std::vector<std::string> atMost_;
};

} // namespace

void reportLaunch(func::FuncOp kernel, const LaunchFacts *facts,
                  std::optional<std::array<int64_t, 3>> grid, KernelReport &report) {
  static const LaunchFacts nothing;
  LaunchFollower follower(kernel, facts ? *facts : nothing);
  report.launch.isOfLaunch = facts && grid;
  if (report.launch.isOfLaunch) {
    report.launch.programs = static_cast<double>((*grid)[0] * (*grid)[1] * (*grid)[2]);
    follower.follow(*grid);
  } else {
    report.launch.programs = 1;
    follower.followOne();
  }
  follower.write(report.launch, report.work);
}

} // namespace tile::codegen

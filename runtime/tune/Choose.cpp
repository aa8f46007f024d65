#include "runtime/tune/Choose.h"

#include "base/Environment.h"
#include "runtime/launch/RecentForms.h"
#include "runtime/tune/Attempts.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Shape.h"
#include "runtime/tune/Tuner.h"

#include <algorithm>
#include <fstream>
#include <iostream>

namespace tile::tune {

Chooser::Chooser(Mode mode, std::unique_ptr<KnownResults> known, std::string recordFile)
    : mode_(mode), recordFile_(std::move(recordFile)), known_(std::move(known)) {}

Chooser &Chooser::ofProcess() {
  // Threads may launch until the very end of the process.
  static auto *chooser = new Chooser(modeOfProcess(), KnownResults::ofEnvironment(),
                                     base::environmentText("TILE_TUNE_RECORD"));
  return *chooser;
}

TunedChoice Chooser::choose(const TunedCall &call) {
  const TuningSpace &space = spaceOf(call.record);
  if (mode_ != Mode::Off) {
    std::string key = problemKey(call.record, call.args, call.constants);
    std::lock_guard lock(mutex_);
    if (std::optional<TunedChoice> known = fromKnown(call, key))
      return *known;
    if (mode_ == Mode::Pinned)
      throw Error(Fault::User, ErrorCode::NotTuned,
                  "kernel '" + call.record.name + "' is not tuned for " + key + " on " +
                      deviceKey(call.device) +
                      ": TILE_TUNE=pinned takes settings from tables alone, those of "
                      "TILE_TUNE_TABLE and those that come with the library",
                  call.record.where);
    if (mode_ == Mode::Record)
      record(call, key);
    if (mode_ == Mode::Quick || mode_ == Mode::Full)
      if (std::optional<TunedChoice> found = tryNow(call, key))
        return *found;
  }
  return {defaultOf(call.record, space, call.problem()), "the kernel"};
}

/// By what a problem is remembered in this process.
static std::string placeOf(const TunedCall &call, const std::string &key) {
  return std::to_string(spaceOf(call.record).id) + " " + deviceKey(call.device) + " " + key;
}

// Results for other extents of the bucket may break a rule for these.
std::optional<TunedChoice> Chooser::fromKnown(const TunedCall &call, const std::string &key) {
  TrialKey trial{call.record.name, "", key, deviceKey(call.device)};
  std::string place = placeOf(call, key);
  auto found = byProblem_.find(place);
  if (found == byProblem_.end()) {
    bool onlyTables = mode_ == Mode::Pinned;
    std::vector<Known> known = known_->find(trial, onlyTables);
    if (known.size() > 1) { // whose version is to be known
      trial.version = versionOf(call.record, call.args, call.constants);
      known = known_->find(trial, onlyTables);
    }
    found = byProblem_.emplace(place, std::move(known)).first;
  }
  const Problem problem = call.problem();
  const TuningSpace &space = spaceOf(call.record);
  for (const Known &known : found->second)
    if (Config config = numbered(space, known.config); refusalOf(space, config, problem).empty())
      return TunedChoice{std::move(config), known.source};
  return std::nullopt;
}

void Chooser::record(const TunedCall &call, const std::string &key) {
  if (isRecordLost_ || !recorded_.insert(call.record.name + " " + key).second)
    return;
  std::ofstream out(recordFile_, std::ios::app);
  out << shapeLine(call.record, call.args, call.constants) + "\n" << std::flush;
  if (out)
    return;
  isRecordLost_ = true;
  std::cerr << "tile: warning: "
            << (recordFile_.empty() ? std::string("TILE_TUNE=record needs a file, TILE_TUNE_RECORD")
                                    : "TILE_TUNE_RECORD: cannot write to '" + recordFile_ + "'")
            << "; problems are not recorded\n";
}

// Other threads wait meanwhile: they would try the same. What was found is kept if it can be.
std::optional<TunedChoice> Chooser::tryNow(const TunedCall &call, const std::string &key) {
  constexpr int64_t kQuickTrials = 8, kFullTrials = 64, kMostSeconds = 86400;
  TuneOptions options;
  options.search.trials = mode_ == Mode::Quick ? kQuickTrials : kFullTrials;
  options.search.first = options.search.trials / 2;
  options.seconds =
      static_cast<double>(base::environmentInteger("TILE_TUNE_SECONDS", 10, 1, kMostSeconds));
  std::unique_ptr<Store> store;
  try {
    if (std::string file = Store::defaultFile(); !file.empty())
      store = std::make_unique<Store>(file, Store::Access::Write);
  } catch (const Error &error) {
    std::cerr << "tile: warning: " << error.message() << "; what is tuned is not kept\n";
  }
  std::optional<Trial> best;
  try {
    Attempts attempts(call);
    best = tune(call, attempts, store.get(), options).best;
  } catch (
      const Error
          &error) { // no memory for copies, say, or a capture in which nothing may be waited for
    std::cerr << "tile: warning: kernel '" << call.record.name
              << "' cannot be tuned now: " << error.message() << "\n";
  }
  if (!best)
    return std::nullopt;
  byProblem_[placeOf(call, key)] = {{best->config, "trials of this process"}};
  return TunedChoice{best->config, "trials of this process"};
}

namespace {

/// What was chosen for a call.
struct RecentChoice {
  std::vector<int64_t> constants;
  detail::CompileSettings settings;
};

/// Each thread has its own, so that nobody waits.
launch::RecentForms<RecentChoice> &recentChoices() {
  static thread_local launch::RecentForms<RecentChoice> choices;
  return choices;
}

void checkGiven(const TunedCall &call, uint64_t given, Loc where) {
  const TuningSpace &space = spaceOf(call.record, where);
  for (const TuningSpace::Setting &setting : space.settings)
    if (setting.constant >= 0)
      given |= uint64_t{1} << setting.constant;
  size_t place = 0;
  for (size_t i = 0; i < call.record.params.size(); ++i) {
    if (call.record.params[i].kind != detail::ParamSpec::Const)
      continue;
    if (!(given >> place++ & 1))
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "the constant '" +
                      (i < call.record.paramNames.size() ? call.record.paramNames[i]
                                                         : std::to_string(place)) +
                      "' of kernel '" + call.record.name +
                      "' is neither tuned nor given: give it as in .tuned().with(\"NAME\", value)",
                  where);
  }
}

} // namespace

} // namespace tile::tune

namespace tile::detail {

void chooseTuned(const KernelRecord &record, const Device &device, std::span<const HostArg> args,
                 TunedConstants constants, CompileSettings &settings, Loc where) {
  const tune::TunedCall call{record, device, args, constants.values};
  const uint64_t space = record.tuning ? record.tuning->id : 0;
  const launch::CallForm form{
      launch::Origin::Tuned, record.id, {device.handle(), constants.given, space},
      constants.values,      args,
      /*hasNumbers=*/true}; // by which the kernel's own choice may go
  const tune::RecentChoice *known =
      tune::recentChoices().find(form, [](const tune::RecentChoice &) { return true; });
  if (!known) {
    checkArguments(record, args);
    tune::checkGiven(call, constants.given, where);
    TunedChoice choice = tune::Chooser::ofProcess().choose(call);
    tune::RecentChoice made;
    made.constants.assign(constants.values.begin(), constants.values.end());
    tune::apply(tune::spaceOf(record), choice.config, made.constants, made.settings);
    known = &tune::recentChoices().add(form, std::move(made));
  }
  std::ranges::copy(known->constants, constants.values.begin());
  settings = known->settings;
}

TunedChoice tunedChoice(const KernelRecord &record, const Device &device,
                        std::span<const HostArg> args, TunedConstants constants) {
  const tune::TunedCall call{record, device, args, constants.values};
  checkArguments(record, args);
  tune::checkGiven(call, constants.given, {});
  return tune::Chooser::ofProcess().choose(call);
}

} // namespace tile::detail

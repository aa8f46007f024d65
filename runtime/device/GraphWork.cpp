#include "runtime/device/GraphWork.h"

#include <algorithm>
#include <cstring>

namespace tile::device {
namespace {

template <class... Visits> struct Overloaded : Visits... { using Visits::operator()...; };
template <class... Visits> Overloaded(Visits...) -> Overloaded<Visits...>;

std::string placeOf(Loc where) {
  return where.line ? " at " + std::string(where.file) + ":" + std::to_string(where.line)
                    : std::string();
}

std::string describe(const GraphStep &step) {
  std::string what = std::visit(
      Overloaded{[](const GraphLaunch &launch) {
                   return (launch.config.programmaticDependent ? "the early launch of "
                                                               : "the launch of ") +
                          launch.kernel;
                 },
                 [](const GraphUpload &) { return std::string("a copy to the device"); },
                 [](const GraphDownload &) { return std::string("a copy to the host"); },
                 [](const GraphDiscard &) { return std::string("a tensor"); },
                 [](const GraphRecord &) { return std::string("a point that is waited for"); },
                 [](const GraphWait &) { return std::string("a wait"); }},
      step.what);
  return what + placeOf(step.where) +
         (step.lane ? " on other stream " + std::to_string(step.lane) : std::string());
}

bool isSamePiece(const GraphStep &now, const GraphStep &other) {
  if (now.lane != other.lane || now.what.index() != other.what.index())
    return false;
  if (auto *wait = std::get_if<GraphWait>(&now.what))
    return wait->event == std::get<GraphWait>(other.what).event;
  if (auto *launch = std::get_if<GraphLaunch>(&now.what))
    return launch->config.programmaticDependent ==
           std::get<GraphLaunch>(other.what).config.programmaticDependent;
  return true;
}

std::vector<const GraphStep *> piecesOf(const GraphWork &work) {
  std::vector<const GraphStep *> pieces;
  for (const GraphStep &step : work.steps)
    if (!std::holds_alternative<GraphDiscard>(step.what))
      pieces.push_back(&step);
  return pieces;
}

} // namespace

GraphArguments::GraphArguments(std::span<const Arg> args) {
  size_t chunks = 0;
  for (const Arg &arg : args)
    chunks += chunksOf(arg.size);
  chunks_.resize(chunks);
  Chunk *next = chunks_.data();
  for (const Arg &arg : args) {
    std::memcpy(next, arg.data, arg.size);
    sizes_.push_back(arg.size);
    next += chunksOf(arg.size);
  }
}

std::vector<Arg> GraphArguments::list() const {
  std::vector<Arg> args;
  const Chunk *next = chunks_.data();
  for (size_t size : sizes_) {
    args.push_back({next, size});
    next += chunksOf(size);
  }
  return args;
}

std::string GraphWork::describe() const {
  auto kernels = std::ranges::count_if(
      steps, [](const GraphStep &step) { return std::holds_alternative<GraphLaunch>(step.what); });
  return "the graph of " + std::to_string(kernels) + (kernels == 1 ? " kernel" : " kernels") +
         " captured" + placeOf(where);
}

std::string topologyDifference(const GraphWork &now, const GraphWork &other) {
  auto before = piecesOf(now), after = piecesOf(other);
  size_t common = std::min(before.size(), after.size());
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i)
    if (i >= common || !isSamePiece(*before[i], *after[i]))
      return "piece " + std::to_string(i + 1) + " of its work was " +
             (i < before.size() ? device::describe(*before[i]) : "nothing") + " and is now " +
             (i < after.size() ? device::describe(*after[i]) : "nothing");
  return "";
}

bool hasEarlyLaunches(const GraphWork &work) {
  return std::ranges::any_of(work.steps, [](const GraphStep &step) {
    auto *launch = std::get_if<GraphLaunch>(&step.what);
    return launch && launch->config.programmaticDependent;
  });
}

GraphWork withPlainLaunches(GraphWork work) {
  for (GraphStep &step : work.steps)
    if (auto *launch = std::get_if<GraphLaunch>(&step.what))
      launch->config.programmaticDependent = false;
  return work;
}

GraphLanes::GraphLanes(Device &device, const GraphWork &work) : device_(device) {
  for (uint32_t lane = 1; lane < work.lanes; ++lane) {
    others_.push_back(device.createStream(work.where));
    ends_.push_back(device.createEvent());
  }
  for (uint32_t event = 0; event < work.events; ++event)
    events_.push_back(device.createEvent());
}

GraphLanes::~GraphLanes() {
  try {
    for (const auto &events : {events_, ends_})
      for (Event event : events)
        device_.destroyEvent(event);
    for (Stream stream : others_)
      device_.destroyStream(stream);
  } catch (const Error &) { // of a device that is lost, which frees all with its context
  }
}

void GraphLanes::give(const GraphWork &work, Stream first) const {
  try {
    for (const GraphStep &step : work.steps)
      giveStep(step, step.lane ? others_[step.lane - 1] : first);
  } catch (...) {
    try {
      join(first);
    } catch (const Error &) { // the first is the one to tell
    }
    throw;
  }
  join(first);
}

void GraphLanes::giveStep(const GraphStep &step, Stream stream) const {
  std::visit(
      Overloaded{
          [&](const GraphLaunch &launch) {
            device_.launch(launch.function, launch.config, launch.arguments.list(), stream);
          },
          [&](const GraphUpload &copy) {
            device_.copyToDeviceAsync(copy.target, copy.source, copy.bytes, stream, step.where);
          },
          [&](const GraphDownload &copy) {
            device_.copyToHostAsync(copy.target, copy.source, copy.bytes, stream, step.where);
          },
          [&](const GraphDiscard &part) { device_.discard(part.pointer, part.bytes, stream); },
          [&](const GraphRecord &point) { device_.record(events_[point.event], stream); },
          [&](const GraphWait &wait) { device_.wait(stream, events_[wait.event]); }},
      step.what);
}

void GraphLanes::join(Stream first) const {
  for (size_t i = 0; i < others_.size(); ++i) {
    device_.record(ends_[i], others_[i]);
    device_.wait(first, ends_[i]);
  }
}

} // namespace tile::device

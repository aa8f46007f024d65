// Parses and prints schedules ("lazy").
#include "runtime/vgpu/machine/Schedule.h"

#include "base/Environment.h"

#include <tile/Error.h>

namespace tile::vgpu {

uint64_t seedOfEnvironment() {
  return static_cast<uint64_t>(
      base::environmentInteger("TILE_VGPU_SEED", 0, 0, std::numeric_limits<int64_t>::max()));
}

Schedule parseSchedule(std::string_view word) {
  for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random})
    if (word == nameOf(schedule))
      return schedule;
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "unknown schedule '" + std::string(word) + "': use eager, lazy or random");
}

const char *nameOf(Schedule schedule) {
  static constexpr const char *names[] = {"eager", "lazy", "random"};
  return names[static_cast<int>(schedule)];
}

} // namespace tile::vgpu

// Hints: settings that a kernel's own body decides.
#include <tile/Hints.h>

#include "frontend/trace/Settings.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

template <class T>
static void set(T detail::CompileSettings::*setting, T value, const char *name, Loc loc) {
  Trace &trace = Trace::current(loc);
  detail::CompileSettings next = trace.settings;
  next.*setting = value;
  std::string wrong = wrongSetting(next);
  if (!wrong.empty())
    trace.fail(loc, std::string("hint::") + name + ": " + wrong);
  trace.settings = next;
}

using Settings = detail::CompileSettings;

void hint::warps(int count, Loc loc) { set(&Settings::warps, count, "warps", loc); }
void hint::maxnreg(int count, Loc loc) {
  // 0 leaves it to the assembler in a binding; as a hint it would be a mistake.
  set(&Settings::maxRegisters, count == 0 ? -1 : count, "maxnreg", loc);
}
void hint::occupancy(int programs, Loc loc) {
  set(&Settings::occupancy, programs, "occupancy", loc);
}
void hint::fp_fusion(bool allowed, Loc loc) { set(&Settings::fpFusion, allowed, "fp_fusion", loc); }
void hint::ftz(bool flush, Loc loc) { set(&Settings::flushDenormals, flush, "ftz", loc); }

int hint::by_target(std::initializer_list<FromTarget> choices, Loc loc) {
  Trace &trace = Trace::current(loc);
  int sm = trace.binding().target.sm;
  const FromTarget *nearest = nullptr;
  std::string known;
  for (const FromTarget &choice : choices) {
    for (const FromTarget *other = choices.begin(); other != &choice; ++other)
      if (other->sm == choice.sm)
        trace.fail(loc, "by_target: sm " + std::to_string(choice.sm) + " has two numbers, " +
                            std::to_string(other->value) + " and " + std::to_string(choice.value));
    known += (known.empty() ? "" : ", ") + std::to_string(choice.sm);
    if (choice.sm <= sm && (!nearest || choice.sm > nearest->sm))
      nearest = &choice;
  }
  if (!nearest)
    trace.fail(loc, "by_target: there is no number for sm " + std::to_string(sm) + ", only for " +
                        (known.empty() ? "none" : known) + ": add {" + std::to_string(sm) +
                        ", ...} or one below");
  return nearest->value;
}

void hint::stages(int count, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (count < 1)
    trace.fail(loc, "hint::stages: must be at least 1, got " + std::to_string(count));
  trace.stages = count;
}

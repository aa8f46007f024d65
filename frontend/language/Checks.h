// Checked builds: what a kernel takes for granted becomes an assertion of its own.
#pragma once

#include "frontend/trace/Trace.h"

namespace tile::frontend {

/// Does this trace assert? Never inside combine functions and callables, which have no place for it, and not
/// where the library itself computes with wrapping integers.
bool isChecked(const Trace &trace);

/// Arithmetic of the library that wraps on purpose.
class WithoutChecks {
public:
  explicit WithoutChecks(Trace &trace) : trace_(trace), before_(trace.settings.checked) {
    trace.settings.checked = false;
  }
  ~WithoutChecks() { trace_.settings.checked = before_; }

private:
  Trace &trace_;
  bool before_;
};

/// Records an assertion that every element of an i1 value holds.
void recordAssert(Trace &trace, const Value &condition, std::string message, Loc loc);

/// In checked builds: asserts that `name` (an operation of arith) on two integers below 64 bits does
/// not overflow.
void checkOverflow(Trace &trace, const char *name, const Value &a, const Value &b, Loc loc);
/// In checked builds: asserts that a division is defined.
void checkDivision(Trace &trace, const Value &dividend, const Value &divisor, Loc loc);

} // namespace tile::frontend

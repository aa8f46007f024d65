// Kernels for tests of isolated compiling, and what the tests ask of it.
#pragma once

#include "runtime/jit/Compile.h"

#include <tile/Compiling.h>
#include <tile/tile.h>

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#ifdef NDEBUG
inline constexpr bool kHasFaults = false; // passes fail on demand in builds with asserts only
#else
inline constexpr bool kHasFaults = true;
#endif

namespace tile::test {

inline const auto shifted = kernel("shifted", [](In<f32, 1> a, Out<f32, 1> b, Const B) {
  Value i = grid1d(b, {B});
  b.tile({B})(i) = a.tile({B})(i) + 1.0f;
});

inline KernelRequest requestOf(int block) {
  return {shifted.consts(block), {exampleView(f32, {1024}), exampleView(f32, {1024})}};
}

/// PTX of a small kernel, compiled where the mode says.
inline std::string compiledPtx(int block = 128) {
  return jit::compileRequest(requestOf(block), {}).ptx;
}

/// A variable of the environment, as it was before when this ends.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name_(name) {
    if (const char *before = std::getenv(name))
      before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

private:
  const char *name_;
  std::optional<std::string> before_;
};

class Isolated : public testing::Test {
protected:
  void SetUp() override { setCompileMode(CompileMode::Isolated); }
};

/// The error that a call throws.
inline Error errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Fault::User, ErrorCode::InvalidArgument, ""};
}

inline bool hasPart(const Error &error, const std::string &part) {
  return std::string(error.what()).find(part) != std::string::npos;
}

} // namespace tile::test

// The one exception type of tilec, and the source location every message carries.
//
// Inside the compiler errors are MLIR diagnostics; where user C++ calls in, they become a
// `tile::Error`, which says whose fault it is, what happened, and where in the user's program.
// Self-contained.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace tile {

/// A line of the user's program. Functions of the language take one as their last, defaulted
/// argument.
struct Loc {
  const char *file = "";
  int line = 0;

  /// The caller's line, when used as a default argument.
  static constexpr Loc here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Whose fault an error is: the caller's (fix the program), the compiler's (report it), or the
/// device's.
enum class Fault { User, Compiler, Device };

/// What kind of error, for programs that react to it. The text is in `Error::what()`.
enum class ErrorCode {
  InvalidArgument,
  InvalidShape,
  InvalidHandle,
  WrongDevice,
  UseAfterFree,
  Aliasing,
  Unsupported,
  NotTuned, // tuned settings are asked for, and there are none (Tuning.h)
  ResourceExceeded,
  Timeout,
  OutOfMemory,
  IoError,
  LinkError,
  Parse,
  Verify,
  ToolMissing,
  ToolFailed,
  InternalCompilerError,
  NoDevice,
  DeviceFinding, // the virtual GPU's checkers reported a fault of the kernel
  DeviceAssert,
  DeviceLost,
  ContextLost,
  NotPreparedForCapture, // cannot be part of a capture: to be done before or after it
  ForkedContext,         // a CUDA device opened before fork() and used in the child
};

/// The code's name, as printed by tools: "InvalidArgument", ...
const char *nameOf(ErrorCode code);

/// What tilec throws. `what()` is one to three lines: "file:line: error: fault, values, remedy",
/// then the notes.
class Error : public std::exception {
public:
  Error(Fault fault, ErrorCode code, std::string message, Loc where = {},
        std::vector<std::string> notes = {});

  Fault fault() const { return fault_; }
  ErrorCode code() const { return code_; }
  /// The message without location and notes.
  const std::string &message() const { return message_; }
  /// The user's line, empty file if unknown.
  const std::string &file() const { return file_; }
  int line() const { return line_; }
  const std::vector<std::string> &notes() const { return notes_; }
  const char *what() const noexcept override { return text_.c_str(); }

private:
  Fault fault_;
  ErrorCode code_;
  std::string message_, file_, text_;
  int line_;
  std::vector<std::string> notes_;
};

} // namespace tile

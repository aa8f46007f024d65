// The text of errors: the one place that decides how a message looks.
#include <tile/Error.h>

namespace tile {

const char *nameOf(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  case ErrorCode::InvalidShape:
    return "InvalidShape";
  case ErrorCode::InvalidHandle:
    return "InvalidHandle";
  case ErrorCode::WrongDevice:
    return "WrongDevice";
  case ErrorCode::UseAfterFree:
    return "UseAfterFree";
  case ErrorCode::Aliasing:
    return "Aliasing";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::NotTuned:
    return "NotTuned";
  case ErrorCode::ResourceExceeded:
    return "ResourceExceeded";
  case ErrorCode::Timeout:
    return "Timeout";
  case ErrorCode::OutOfMemory:
    return "OutOfMemory";
  case ErrorCode::IoError:
    return "IoError";
  case ErrorCode::LinkError:
    return "LinkError";
  case ErrorCode::Parse:
    return "Parse";
  case ErrorCode::Verify:
    return "Verify";
  case ErrorCode::ToolMissing:
    return "ToolMissing";
  case ErrorCode::ToolFailed:
    return "ToolFailed";
  case ErrorCode::InternalCompilerError:
    return "InternalCompilerError";
  case ErrorCode::NoDevice:
    return "NoDevice";
  case ErrorCode::DeviceFinding:
    return "DeviceFinding";
  case ErrorCode::DeviceAssert:
    return "DeviceAssert";
  case ErrorCode::DeviceLost:
    return "DeviceLost";
  case ErrorCode::ContextLost:
    return "ContextLost";
  case ErrorCode::NotPreparedForCapture:
    return "NotPreparedForCapture";
  case ErrorCode::ForkedContext:
    return "ForkedContext";
  }
  return "Unknown";
}

Error::Error(Fault fault, ErrorCode code, std::string message, Loc where,
             std::vector<std::string> notes)
    : fault_(fault), code_(code), message_(std::move(message)), file_(where.file ? where.file : ""),
      line_(where.line), notes_(std::move(notes)) {
  if (!file_.empty())
    text_ = file_ + ":" + std::to_string(line_) + ": ";
  text_ += "error: " + message_;
  for (const std::string &note : notes_)
    text_ += "\n  note: " + note;
}

} // namespace tile

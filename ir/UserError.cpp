#include "ir/UserError.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tile::ir {

// Metadata are seen by handlers and printed by none. Another producer's are told apart by the key.
constexpr llvm::StringLiteral kKey = "tile.user_error";

InFlightDiagnostic userError(InFlightDiagnostic error, ErrorCode code) {
  if (Diagnostic *diagnostic = error.getUnderlyingDiagnostic()) {
    diagnostic->getMetadata().push_back(DiagnosticArgument(kKey));
    diagnostic->getMetadata().push_back(DiagnosticArgument(static_cast<int64_t>(code)));
  }
  return error;
}

std::optional<ErrorCode> userErrorCodeOf(Diagnostic &error) {
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  ArrayRef<DiagnosticArgument> metadata = error.getMetadata();
  for (size_t i = 0; i + 1 < metadata.size(); ++i)
    if (metadata[i].getKind() == Kind::String && metadata[i].getAsString() == kKey)
      return static_cast<ErrorCode>(metadata[i + 1].getAsInteger());
  return std::nullopt;
}

} // namespace tile::ir

// Errors of passes that the author of a kernel can mend: the kernel asks for what the target or the
// language does not have. An error without such a code is a fault of the compiler.
#pragma once

#include <tile/Error.h>

#include <optional>

namespace mlir {
class Diagnostic;
class InFlightDiagnostic;
} // namespace mlir

namespace tile::ir {

/// Marks an error as the user's to mend:
///
///   return userError(op->emitError(), ErrorCode::ResourceExceeded) << "registers: ...";
mlir::InFlightDiagnostic userError(mlir::InFlightDiagnostic error, ErrorCode code);

/// What an error was marked with; nothing for faults of the compiler.
std::optional<ErrorCode> userErrorCodeOf(mlir::Diagnostic &error);

} // namespace tile::ir

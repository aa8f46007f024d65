// The suffixes of an instruction, and the scalar types among them.
#pragma once

#include "runtime/vgpu/ptx/Ptx.h"

#include <initializer_list>

namespace tile::vgpu {

enum class ScalarType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  BF16,
  F16x2,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3x2,
  E5M2x2,
};
/// Bytes in a register; 0 for predicates.
unsigned bytesOf(ScalarType type);
bool isSigned(ScalarType type);
bool isFloat(ScalarType type);
/// Whether a type is a signed or unsigned integer, not bits.
bool isInteger(ScalarType type);
ScalarType scalarType(std::string_view suffix);

/// The suffixes of an instruction, taken one by one. What is left at the end makes the instruction unsupported.
class Suffixes {
public:
  explicit Suffixes(const Instruction &instruction) : rest_(instruction.suffix) {}
  /// Removes `word` wherever it stands; false if it is not there.
  bool take(std::string_view word);
  /// Removes the first that is one of `words`; empty if none is.
  std::string_view takeOneOf(std::initializer_list<std::string_view> words);
  /// Removes the first that starts with `prefix`.
  std::string_view takePrefix(std::string_view prefix);
  /// Removes the first scalar type; None if there is none.
  ScalarType takeType();
  bool empty() const { return rest_.empty(); }
  std::string_view first() const { return rest_.front(); }

private:
  std::vector<std::string_view> rest_;
};

} // namespace tile::vgpu

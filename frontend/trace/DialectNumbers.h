// Enumerations of the language reach the dialect as numbers; DialectNumbers.cpp asserts that both count alike. Here stand
// those that users do not see.
#pragma once

#include <cstdint>

namespace tile::frontend {

/// What an atomic operation computes; min and max of unsigned integers are operations of their own.
enum class AtomicKind : uint8_t { Add, Min, Max, UMin, UMax, And, Or, Xor, Xchg };

} // namespace tile::frontend

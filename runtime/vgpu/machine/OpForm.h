// The parameters of a handler as an operation keeps them: a struct of up to eight bytes in Op::a and Op::b. Decoding fills it
// (ProgramBuilder::emit), the handler reads it by names.
#pragma once

#include "runtime/vgpu/machine/Program.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace tile::vgpu {

/// Without gaps, so that equal forms have equal bits.
template <class Form>
concept OpForm = std::is_class_v<Form> && std::has_unique_object_representations_v<Form> &&
                 sizeof(Form) <= sizeof(uint64_t);

/// Op::a, and Op::b in the upper half.
template <OpForm Form> uint64_t bitsOf(const Form &form) {
  uint64_t bits = 0;
  std::memcpy(&bits, &form, sizeof form);
  return bits;
}

template <OpForm Form> Form formOf(const Op &op) {
  uint32_t words[2] = {op.a, op.b};
  struct {
    unsigned char bytes[sizeof(Form)];
  } part;
  std::memcpy(&part, words, sizeof part);
  return std::bit_cast<Form>(part);
}

} // namespace tile::vgpu

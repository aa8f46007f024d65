// Opcodes by name.
#include "runtime/vgpu/decode/OpcodeTable.h"

#include "runtime/vgpu/decode/Suffixes.h"

#include <cassert>

namespace tile::vgpu {

OpcodeTable::OpcodeTable(std::initializer_list<OpcodeRows> files,
                         std::initializer_list<OpcodeVariants> variants) {
  for (OpcodeRows rows : files)
    for (const OpcodeInfo &row : rows) {
      [[maybe_unused]] bool isNew = rows_.try_emplace(row.name, &row).second;
      assert(isNew && "two rows of one opcode");
    }
  for (OpcodeVariants rows : variants)
    for (const OpcodeVariant &row : rows) {
      assert(find(row.opcode) && "a variant of an opcode that there is not");
      variants_.push_back(row);
    }
}

const OpcodeInfo *OpcodeTable::find(std::string_view opcode) const {
  auto row = rows_.find(opcode);
  return row == rows_.end() ? nullptr : row->second;
}

DecodeFunction OpcodeTable::decodeOf(const OpcodeInfo &opcode, Suffixes &suffixes) const {
  for (const OpcodeVariant &variant : variants_)
    if (variant.opcode == opcode.name && suffixes.take(variant.modifier))
      return variant.decode;
  return opcode.decode;
}

} // namespace tile::vgpu

// Opcodes by name.
#include "runtime/vgpu/decode/OpcodeTable.h"

#include <cassert>

namespace tile::vgpu {

OpcodeTable::OpcodeTable(std::initializer_list<OpcodeRows> files) {
  for (OpcodeRows rows : files)
    for (const OpcodeInfo &row : rows) {
      [[maybe_unused]] bool isNew = rows_.try_emplace(row.name, &row).second;
      assert(isNew && "two rows of one opcode");
    }
}

const OpcodeInfo *OpcodeTable::find(std::string_view opcode) const {
  auto row = rows_.find(opcode);
  return row == rows_.end() ? nullptr : row->second;
}

} // namespace tile::vgpu

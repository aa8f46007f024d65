// Reading a file of IR before MLIR sees it: its parser is not made for hostile input.
#pragma once

#include <string>

namespace tile::tilec {

/// The text of a file that is worth parsing. Throws Error (Parse, IoError) with line and column
/// where it is empty, larger than 64 MiB, bytecode, not UTF-8, holds NULs, nests brackets deeper
/// than 256, or holds an affine map of more than 4096 bytes.
std::string readSource(const std::string &path);

} // namespace tile::tilec

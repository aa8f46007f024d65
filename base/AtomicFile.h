// Files written whole: under a name of their own first, then renamed, so that nobody ever reads half of one.
#pragma once

#include <string>
#include <string_view>

namespace tile::base {

/// Writes a file, replacing what was there; through links, and into devices and pipes. Throws Error, IoError, and leaves
/// the old file. (A process that is killed meanwhile may leave PATH.1a2b3c4d, with a part of the content.)
void writeFile(const std::string &path, std::string_view content);

/// Throws what writeFile would, as far as it can be told without writing.
void checkWritable(const std::string &path);

} // namespace tile::base

#include "codegen/EntryName.h"

#include "codegen/thread/SharedSpace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace tile::codegen {

/// Assemblers accept much more; tools that print tables do not.
static constexpr size_t kLongestName = 120;

static bool isReserved(llvm::StringRef name) { return name == "WARP_SZ" || name == kSharedSymbol; }

std::string entryNameOf(llvm::StringRef kernelName) {
  std::string name;
  if (kernelName.empty() || llvm::isDigit(kernelName.front()))
    name = "$";
  for (char c : kernelName) {
    if (llvm::isAlnum(c) || c == '_')
      name += c;
    else
      name += "$" + llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
  }
  if (isReserved(name))
    name += "$";
  if (name.size() > kLongestName)
    name = name.substr(0, kLongestName) + "$" +
           llvm::utohexstr(llvm::xxh3_64bits(kernelName), /*LowerCase=*/true, 16);
  return name;
}

} // namespace tile::codegen

#include "runtime/jit/Dump.h"

#include "base/AtomicFile.h"
#include "codegen/Compile.h"

#include <tile/Error.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

namespace tile::jit {
namespace {

/// A file name from a kernel's name, which in a file of IR may hold anything.
std::string fileNameOf(llvm::StringRef kernel) {
  std::string name = kernel.take_front(100).str();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !llvm::isAlnum(c) && c != '_'; }, '_');
  return name;
}

std::string directoryOf(const codegen::CompiledKernel &kernel, const std::string &directory) {
  llvm::SmallString<256> path(directory);
  uint64_t hash =
      llvm::xxh3_64bits(kernel.stages.empty() ? kernel.ptx : kernel.stages.front().second);
  llvm::sys::path::append(path, fileNameOf(kernel.name) + "-" + llvm::utohexstr(hash, true, 16));
  return path.str().str();
}

} // namespace

void dumpStages(const codegen::CompiledKernel &kernel, const std::string &directory) {
  std::string folder = directoryOf(kernel, directory);
  try {
    if (std::error_code fault = llvm::sys::fs::create_directories(folder))
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot write '" + folder + "': " + fault.message());
    for (auto &[stage, text] : kernel.stages) {
      llvm::SmallString<256> path(folder);
      llvm::sys::path::append(path, codegen::fileNameOf(stage));
      base::writeFile(path.str().str(), text);
    }
  } catch (const Error &error) {
    llvm::errs() << "tile: warning: TILE_DUMP: " << error.message() << "\n";
  }
}

} // namespace tile::jit

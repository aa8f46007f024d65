#include "runtime/jit/Dump.h"

#include "base/AtomicFile.h"
#include "base/Environment.h"
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
  uint64_t hash = llvm::xxh3_64bits(kernel.ptx); // the same IR gives other PTX for other targets
  llvm::sys::path::append(path, fileNameOf(kernel.name) + "-" + llvm::utohexstr(hash, true, 16));
  return path.str().str();
}

std::string pathOf(const std::string &folder, codegen::Stage stage) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, codegen::fileNameOf(stage));
  return path.str().str();
}

void dumpTo(const std::string &directory, const codegen::CompiledKernel &kernel) {
  std::string folder = directoryOf(kernel, directory);
  try {
    if (std::error_code fault = llvm::sys::fs::create_directories(folder))
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot write '" + folder + "': " + fault.message());
    for (auto &[stage, text] : kernel.stages)
      base::writeFile(pathOf(folder, stage), text);
    if (kernel.stages.empty())
      base::writeFile(pathOf(folder, codegen::Stage::Ptx), kernel.ptx);
  } catch (const Error &error) {
    llvm::errs() << "tile: warning: TILE_DUMP: " << error.message() << "\n";
  }
}

} // namespace

bool dumpsAllStages() {
  std::string stages = base::environmentText("TILE_DUMP_STAGES");
  if (!stages.empty() && stages != "all" && stages != "ptx")
    base::warnOfEnvironment("TILE_DUMP_STAGES", stages, "is neither all nor ptx");
  return stages != "ptx" && !base::environmentText("TILE_DUMP").empty();
}

void dumpIfAsked(const codegen::CompiledKernel &kernel) {
  if (std::string directory = base::environmentText("TILE_DUMP"); !directory.empty())
    dumpTo(directory, kernel);
}

} // namespace tile::jit

#include "runtime/jit/Dump.h"

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

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw Error(Fault::User, ErrorCode::IoError, "cannot write '" + path + "': " + why);
}

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

/// Writes to what is there: a device, a pipe.
static void writeInPlace(const std::string &path, llvm::StringRef content) {
  std::error_code fault;
  llvm::raw_fd_ostream out(path, fault, llvm::sys::fs::CD_OpenExisting);
  if (fault)
    refuse(path, fault.message());
  out << content;
  out.close();
  if (out.has_error()) {
    std::string why = out.error().message();
    out.clear_error();
    refuse(path, why);
  }
}

static void writeAndRename(const std::string &path, const std::string &target,
                           llvm::StringRef content) {
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(target + ".%%%%%%%%");
  if (!file)
    refuse(path, llvm::toString(file.takeError()));
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  out << content;
  out.flush();
  if (out.has_error()) {
    std::string why = out.error().message();
    out.clear_error();
    llvm::consumeError(file->discard());
    refuse(path, why);
  }
  if (llvm::Error fault = file->keep(target))
    refuse(path, llvm::toString(std::move(fault)));
}

void checkWritable(const std::string &path) {
  llvm::sys::fs::file_status status;
  llvm::StringRef target = path;
  if (llvm::sys::fs::status(path, status)) { // there is none: it is made in its folder
    target = llvm::sys::path::parent_path(path);
    if (target.empty())
      target = ".";
    if (!llvm::sys::fs::is_directory(target))
      refuse(path, "there is no such folder");
  } else if (status.type() == llvm::sys::fs::file_type::directory_file) {
    refuse(path, "it is a folder");
  }
  if (std::error_code fault = llvm::sys::fs::access(target, llvm::sys::fs::AccessMode::Write))
    refuse(path, fault.message());
}

void writeFile(const std::string &path, std::string_view content) {
  llvm::sys::fs::file_status status;
  llvm::StringRef text(content.data(), content.size());
  llvm::SmallString<256> target(path);
  if (!llvm::sys::fs::status(path, status)) {
    if (status.type() != llvm::sys::fs::file_type::regular_file)
      return writeInPlace(path, text);
    if (std::error_code fault = llvm::sys::fs::access(path, llvm::sys::fs::AccessMode::Write))
      refuse(path, fault.message()); // a rename would replace what must not be written to
    llvm::sys::fs::real_path(path, target);
  }
  writeAndRename(path, target.str().str(), text);
}

void dumpStages(const codegen::CompiledKernel &kernel, const std::string &directory) {
  std::string folder = directoryOf(kernel, directory);
  try {
    if (std::error_code fault = llvm::sys::fs::create_directories(folder))
      refuse(folder, fault.message());
    for (auto &[stage, text] : kernel.stages) {
      llvm::SmallString<256> path(folder);
      llvm::sys::path::append(path, codegen::fileNameOf(stage));
      writeFile(path.str().str(), text);
    }
  } catch (const Error &error) {
    llvm::errs() << "tile: warning: TILE_DUMP: " << error.message() << "\n";
  }
}

} // namespace tile::jit

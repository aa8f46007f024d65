#include "runtime/toolchain/Assemble.h"

#include "ir/target/Target.h"
#include "runtime/toolchain/NvJitLink.h"
#include "runtime/toolchain/NvPtxCompiler.h"

#include <tile/Error.h>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>

namespace tile::jit {
namespace {

constexpr unsigned kAssemblerSeconds = 300;

/// A folder of our own, gone with the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::SmallString<128> root;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, root);
    llvm::sys::path::append(root, "tile-XXXXXX");
    if (!mkdtemp(const_cast<char *>(root.c_str())))
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot make a temporary folder '" + root.str().str() +
                      "': " + std::strerror(errno));
    path_ = root.c_str();
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path_); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return path_; }
  std::string file(const char *name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

std::string readText(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

struct Outcome {
  int code; ///< exit code; below 0 if the program did not run, crashed or took too long
  std::string log;
};

/// Runs a program with a clean environment; output and errors go to the log.
Outcome runProgram(const std::string &program, std::vector<std::string> arguments,
                   const TemporaryFolder &folder) {
  std::vector<llvm::StringRef> argv = {program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string temporary = "TMPDIR=" + folder.path(), log = folder.file("log");
  llvm::StringRef environment[] = {temporary, "PATH=/usr/bin:/bin", "LC_ALL=C"};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(program, argv, llvm::ArrayRef(environment), redirects,
                                       kAssemblerSeconds, 0, &message);
  return {code, readText(log) + message};
}

std::vector<std::byte> readBytes(const std::string &path) {
  std::string text = readText(path);
  auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  return {bytes, bytes + text.size()};
}

void writeText(const std::string &path, std::string_view text) {
  std::error_code fault;
  llvm::raw_fd_ostream out(path, fault);
  out << llvm::StringRef(text.data(), text.size());
  out.close();
  if (fault || out.has_error()) {
    out.clear_error();
    throw Error(Fault::User, ErrorCode::IoError, "cannot write '" + path + "': is the disk full?");
  }
}

std::vector<std::byte> runPtxas(const std::string &program, std::string_view ptx,
                                const std::string &target,
                                const std::vector<std::string> &options = {},
                                std::string *log = nullptr) {
  TemporaryFolder folder;
  std::string source = folder.file("kernel.ptx"), cubin = folder.file("kernel.cubin");
  writeText(source, ptx);
  std::vector<std::string> arguments = {"-arch=" + target, "-o", cubin, source};
  arguments.insert(arguments.begin(), options.begin(), options.end());
  Outcome outcome = runProgram(program, arguments, folder);
  if (log)
    *log = outcome.log;
  if (outcome.code != 0)
    throw Error(Fault::Compiler, ErrorCode::ToolFailed,
                program + " refused the PTX (code " + std::to_string(outcome.code) + ")", {},
                {outcome.log});
  std::vector<std::byte> bytes = readBytes(cubin);
  if (!isWholeCubin(bytes))
    throw Error(
        Fault::User, ErrorCode::IoError,
        program + " left " + std::to_string(bytes.size()) +
            " bytes that are not a whole ELF file; is the disk of the temporary folder full?");
  return bytes;
}

std::optional<std::string> programAt(std::string path, std::vector<std::string> *looked) {
  if (looked)
    looked->push_back(path);
  bool isProgram = llvm::sys::fs::can_execute(path) && !llvm::sys::fs::is_directory(path);
  return isProgram ? std::optional(std::move(path)) : std::nullopt;
}

std::optional<std::string> findInPath(llvm::StringRef program, std::vector<std::string> *looked) {
  llvm::SmallVector<llvm::StringRef> folders;
  const char *path = std::getenv("PATH");
  llvm::StringRef(path ? path : "").split(folders, ':', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef folder : folders)
    if (auto found = programAt((folder + "/" + program).str(), looked))
      return found;
  return std::nullopt;
}

std::string disassemble(const std::vector<std::byte> &cubin, const std::string &ptxas) {
  auto program = programAt((llvm::sys::path::parent_path(ptxas) + "/nvdisasm").str(), nullptr);
  if (!program)
    program = findInPath("nvdisasm", nullptr);
  if (!program)
    return {};
  TemporaryFolder folder;
  std::string file = folder.file("kernel.cubin");
  writeText(file, {reinterpret_cast<const char *>(cubin.data()), cubin.size()});
  Outcome outcome = runProgram(*program, {"-c", "-g", file}, folder);
  return outcome.code == 0 ? outcome.log : std::string();
}

bool usesSetmaxnreg(std::string_view ptx) { return ptx.find("setmaxnreg") != ptx.npos; }

} // namespace

std::optional<std::string> findPtxas(std::vector<std::string> *looked) {
  if (const char *path = std::getenv("TILE_PTXAS"); path && *path)
    return programAt(path, looked);
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable); home && *home)
      if (auto found = programAt(std::string(home) + "/bin/ptxas", looked))
        return found;
  if (auto found = findInPath("ptxas", looked))
    return found;
  return programAt("/usr/local/cuda/bin/ptxas", looked);
}

std::string versionOf(const std::string &program) {
  TemporaryFolder folder;
  Outcome outcome = runProgram(program, {"--version"}, folder);
  if (outcome.code != 0)
    return {};
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(outcome.log).trim().split(lines, '\n');
  for (llvm::StringRef line : llvm::reverse(lines))
    if (line.contains("release"))
      return line.trim().str();
  return lines.back().trim().str();
}

bool isWholeCubin(const std::vector<std::byte> &bytes) {
  constexpr uint16_t kMachineCuda = 190;
  llvm::ELF::Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  uint64_t sections = uint64_t(header.e_shnum) * header.e_shentsize;
  uint64_t segments = uint64_t(header.e_phnum) * header.e_phentsize;
  return header.checkMagic() && header.getFileClass() == llvm::ELF::ELFCLASS64 &&
         header.e_machine == kMachineCuda && header.e_shoff <= bytes.size() &&
         sections <= bytes.size() - header.e_shoff && header.e_phoff <= bytes.size() &&
         segments <= bytes.size() - header.e_phoff;
}

std::vector<std::byte> assemble(std::string_view ptx, const std::string &target) {
  const char *named = std::getenv("TILE_PTXAS");
  NvPtxCompiler *compiler = named && *named ? nullptr : NvPtxCompiler::load();
  if (compiler)
    return compiler->assemble(ptx, target);
  std::vector<std::string> looked;
  if (std::optional<std::string> program = findPtxas(&looked))
    return runPtxas(*program, ptx, target);
  std::string why;
  if (NvJitLink *library = NvJitLink::load(&why); library && !usesSetmaxnreg(ptx))
    return library->assemble(ptx, target);
  std::vector<std::string> notes = {"looked for ptxas at " + llvm::join(looked, ", ")};
  notes.push_back(why.empty() ? "nvJitLink would drop the kernel's setmaxnreg"
                              : "nvJitLink: " + why);
  throw Error(Fault::User, ErrorCode::ToolMissing,
              "no program turns PTX into machine code here: install ptxas of the CUDA toolkit, or "
              "name it in "
              "TILE_PTXAS",
              {}, notes);
}

// A version would take a process to ask for; who replaces a file changes its time.
static std::string identityOfFile(const std::string &path) {
  llvm::sys::fs::file_status facts;
  if (llvm::sys::fs::status(path, facts))
    return path;
  return path + ", " + std::to_string(facts.getSize()) + " bytes, " +
         std::to_string(facts.getLastModificationTime().time_since_epoch().count());
}

const std::string &assemblerIdentity() {
  static const std::string identity = [] {
    const char *named = std::getenv("TILE_PTXAS");
    NvPtxCompiler *compiler = named && *named ? nullptr : NvPtxCompiler::load();
    if (compiler)
      return "nvPTXCompiler " + std::to_string(compiler->major) + "." +
             std::to_string(compiler->minor);
    if (std::optional<std::string> program = findPtxas())
      return identityOfFile(*program);
    std::string version = nvJitLinkVersion();
    return version.empty() ? std::string() : "nvJitLink " + version;
  }();
  return identity;
}

AssemblerReport inspectAssembly(std::string_view ptx, const std::string &target) {
  AssemblerReport report;
  std::string log;
  if (std::optional<std::string> program = findPtxas()) {
    report.assembler = *program;
    report.cubin = runPtxas(*program, ptx, target, {"-v", "-lineinfo"}, &log);
  } else if (NvPtxCompiler *compiler = NvPtxCompiler::load()) {
    report.assembler = "nvPTXCompiler";
    report.cubin = compiler->assemble(ptx, target, &log);
  } else {
    report.missing = "no assembler: install ptxas of the CUDA toolkit, or name it in TILE_PTXAS";
    return report;
  }
  static_cast<AssemblerLog &>(report) = readAssemblerLog(log, ptx);
  if (std::optional<ir::Target> known = ir::findTarget(target))
    report.code = machineCodeOf(report.cubin, known->smVersion);
  report.sass = disassemble(report.cubin, report.assembler);
  if (report.sass.empty())
    report.missing = "no nvdisasm beside ptxas or in PATH";
  return report;
}

std::vector<std::byte> assembleForDevice(std::string_view ptx, const std::string &target,
                                         int arch) {
  // Code for an architecture runs only there; PTX of an older one becomes code of the device's.
  bool isOwn = std::to_string(arch) == target.substr(3, std::to_string(arch).size());
  try {
    return assemble(ptx, isOwn ? target : "sm_" + std::to_string(arch));
  } catch (const Error &error) {
    bool driverMayKnow =
        error.code() == ErrorCode::ToolMissing || (error.code() == ErrorCode::ToolFailed && !isOwn);
    if (!driverMayKnow)
      throw;
    return {};
  }
}

} // namespace tile::jit

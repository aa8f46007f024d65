// PTX to machine code, in this order: nvPTXCompiler in process (a plugin, where it was built), the
// ptxas program in a child process, nvJitLink by dlopen. With none of them, a driver compiles the
// PTX itself.
//
// ptxas is looked for in TILE_PTXAS, which also puts it first, else in $CUDA_HOME/bin,
// $CUDA_PATH/bin, PATH and /usr/local/cuda/bin. nvJitLink compiles relocatable code and drops
// `setmaxnreg` without an error, so it never gets kernels that use it.
#pragma once

#include "runtime/toolchain/AssemblerMessages.h"
#include "runtime/toolchain/MachineCode.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::jit {

/// Machine code for a target such as "sm_90a". Throws ToolMissing, with the places looked in, if
/// there is no assembler; ToolFailed with its log if it refuses the text; IoError if its output is
/// not whole.
std::vector<std::byte> assemble(std::string_view ptx, const std::string &target);

/// Machine code for a device of architecture `arch` (90), from PTX for `target`. Empty where the
/// driver must compile: no assembler here, or one that does not know the device.
std::vector<std::byte> assembleForDevice(std::string_view ptx, const std::string &target, int arch);

/// What an assembler says about a kernel.
struct AssemblerReport : AssemblerLog {
  std::string assembler; ///< the program or library; empty if there is none, then the rest is empty
  std::vector<std::byte> cubin;
  MachineCode code;
  std::string sass;    ///< disassembly with lines, empty without nvdisasm
  std::string missing; ///< why a part of this is empty
};

/// Assembles for people to look at: with lines where ptxas does it, disassembled where nvdisasm is found (beside ptxas or
/// in PATH). Throws ToolFailed if the assembler refuses the text.
AssemblerReport inspectAssembly(std::string_view ptx, const std::string &target);

/// The ptxas program, if there is one; `looked` gets the places.
std::optional<std::string> findPtxas(std::vector<std::string> *looked = nullptr);

/// What `program --version` says, its last line with a number; empty if it does not run.
std::string versionOf(const std::string &program);

/// Which assembler `assemble` takes, as text that changes when another does its work: its file with size and time, or its
/// version. Empty if there is none. Found once a process.
const std::string &assemblerIdentity();

/// The version of nvJitLink, "13.0"; empty if it cannot be loaded, `why` gets the loader's words.
std::string nvJitLinkVersion(std::string *why = nullptr);

/// Whether the bytes are a whole ELF file for NVIDIA GPUs.
bool isWholeCubin(const std::vector<std::byte> &bytes);

} // namespace tile::jit

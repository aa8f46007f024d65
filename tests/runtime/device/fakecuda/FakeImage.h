// What the fake driver needs to know of a module: its kernels, with their parameters and static shared memory.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fakecuda {

struct KernelImage {
  std::vector<size_t> paramSizes;
  size_t sharedBytes = 0;
};
using Image = std::map<std::string, KernelImage>;

bool isElf(const void *data);

/// The kernels of PTX text. False with the assembler's complaint if it is no PTX.
bool parsePtx(const char *text, Image &image, std::string &complaint);

/// The kernels of a cubin, by its sections. An ELF header without sections may be followed by PTX text instead.
bool parseElf(const void *data, Image &image, std::string &complaint);

} // namespace fakecuda

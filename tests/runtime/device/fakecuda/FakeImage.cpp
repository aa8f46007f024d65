// Finds kernels in PTX by pattern, and in cubins by section names and their .nv.info attributes.
#include "tests/runtime/device/fakecuda/FakeImage.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <regex>

namespace fakecuda {
namespace {

// Attributes of .nv.info.<kernel>: a format byte, a kind, 16 bits of value or size, then that many bytes if the format
// says so.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kKindParameter = 0x17;

size_t bytesOf(const std::string &ptxType) {
  size_t digits = ptxType.find_first_of("0123456789");
  return digits == std::string::npos ? 1 : std::stoul(ptxType.substr(digits)) / 8;
}

std::vector<size_t> parameters(const std::string &list) {
  static const std::regex parameter(
      R"(\.param\s+(?:\.align\s+\d+\s+)?(\.[a-z]\w*)(?:\s+\.ptr(?:\s+\.\w+)*(?:\s+\.align\s+\d+)?)?\s+[\w$%]+(?:\[(\d+)\])?)");
  std::vector<size_t> sizes;
  for (std::sregex_iterator it(list.begin(), list.end(), parameter), end; it != end; ++it)
    sizes.push_back(bytesOf((*it)[1]) * ((*it)[2].matched ? std::stoul((*it)[2]) : 1));
  return sizes;
}

size_t staticShared(const std::string &body) {
  static const std::regex array(
      R"(\.shared\s+(?:\.align\s+\d+\s+)?(\.[a-z]\w*)\s+[\w$%]+\[(\d+)\])");
  size_t bytes = 0;
  for (std::sregex_iterator it(body.begin(), body.end(), array), end; it != end; ++it)
    bytes += bytesOf((*it)[1]) * std::stoul((*it)[2]);
  return bytes;
}

// Each parameter: index, ordinal, offset, and a word with the size in its upper 14 bits. Order in the file is free.
std::vector<size_t> parametersOfInfo(const uint8_t *bytes, size_t count) {
  std::map<uint16_t, size_t> byOrdinal;
  for (size_t at = 0; at + 4 <= count;) {
    uint8_t format = bytes[at], kind = bytes[at + 1];
    uint16_t size = 0;
    std::memcpy(&size, bytes + at + 2, sizeof size);
    const uint8_t *value = bytes + at + 4;
    at += 4 + (format == kFormatSized ? size : 0);
    if (format != kFormatSized || kind != kKindParameter || at > count)
      continue;
    uint16_t ordinal = 0;
    uint32_t packed = 0;
    std::memcpy(&ordinal, value + 4, sizeof ordinal);
    std::memcpy(&packed, value + 8, sizeof packed);
    byOrdinal[ordinal] = packed >> 18;
  }
  std::vector<size_t> sizes;
  for (auto [ordinal, size] : byOrdinal)
    sizes.push_back(size);
  return sizes;
}

bool startsWith(const std::string &text, const char *prefix, std::string &rest) {
  if (text.rfind(prefix, 0) != 0)
    return false;
  rest = text.substr(std::strlen(prefix));
  return true;
}

} // namespace

bool isElf(const void *data) { return std::memcmp(data, ELFMAG, SELFMAG) == 0; }

bool parsePtx(const char *text, Image &image, std::string &complaint) {
  std::string ptx(text);
  if (ptx.find(".version") == ptx.npos || ptx.find(".target") == ptx.npos) {
    complaint = "fake ptxas: no .version or no .target";
    return false;
  }
  static const std::regex entry(R"(\.entry\s+([\w$]+)\s*(\(([^)]*)\))?)");
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), entry), end; it != end; ++it) {
    size_t body = static_cast<size_t>(it->position() + it->length());
    size_t next = ptx.find(".entry", body);
    image[(*it)[1]] = {parameters((*it)[3]), staticShared(ptx.substr(body, next - body))};
  }
  return true;
}

bool parseElf(const void *data, Image &image, std::string &complaint) {
  auto *bytes = static_cast<const uint8_t *>(data);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_shnum == 0)
    return parsePtx(reinterpret_cast<const char *>(bytes + sizeof header), image, complaint);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const uint8_t *names = bytes + sections[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr &section : sections) {
    std::string name(reinterpret_cast<const char *>(names + section.sh_name)), kernel;
    if (startsWith(name, ".text.", kernel))
      image[kernel];
    if (startsWith(name, ".nv.info.", kernel))
      image[kernel].paramSizes = parametersOfInfo(bytes + section.sh_offset, section.sh_size);
    if (startsWith(name, ".nv.shared.", kernel))
      image[kernel].sharedBytes = section.sh_size;
  }
  return true;
}

} // namespace fakecuda

#include "runtime/cache/BuildId.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <link.h>

namespace tile::cache {
namespace {

struct Search {
  ElfW(Addr) address; ///< of code in the object that is looked for
  std::string found;
};

bool holds(const dl_phdr_info &object, ElfW(Addr) address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object.dlpi_phdr[i];
    ElfW(Addr) start = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= start && address < start + part.p_memsz)
      return true;
  }
  return false;
}

size_t padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

// The note among those of a segment; empty if it is none of them.
std::string idAmong(const char *notes, size_t bytes) {
  constexpr char kOwner[] = "GNU";
  ElfW(Nhdr) note;
  for (size_t at = 0; at + sizeof note <= bytes;) {
    std::memcpy(&note, notes + at, sizeof note);
    const char *owner = notes + at + sizeof note, *content = owner + padded(note.n_namesz);
    at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    bool isId = at <= bytes && note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof kOwner &&
                std::memcmp(owner, kOwner, sizeof kOwner) == 0;
    if (isId)
      return llvm::toHex(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(content), note.n_descsz),
                         /*LowerCase=*/true);
  }
  return {};
}

int visit(dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  if (!holds(*object, search.address))
    return 0;
  for (int i = 0; i < object->dlpi_phnum && search.found.empty(); ++i)
    if (const ElfW(Phdr) &part = object->dlpi_phdr[i]; part.p_type == PT_NOTE)
      search.found =
          idAmong(reinterpret_cast<const char *>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  return 1;
}

} // namespace

std::string buildId() {
  Search search = {reinterpret_cast<ElfW(Addr)>(&buildId), {}};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

} // namespace tile::cache

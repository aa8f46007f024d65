// A folder of files that other processes write and read at the same time, each of which can go at any time.
//
// A file is written under a name of its own and renamed when it is whole and on disk, so that nobody reads a part of one; of two
// who write the same the later stays. Nothing is locked. Whatever fails costs what the file was to save, and one warning a
// process; a folder that cannot be written to, or is full, is only read from then on.
//
// What lies in the folder runs with the rights of whoever reads it. So it must belong to the user, and nobody else may write to it;
// or to root, if only root may. Files have the rights 0600, folders 0700.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::cache {

struct FolderOptions {
  std::string path;
  int64_t mostBytes = int64_t(1) << 30; ///< beyond it the files go that were used longest ago
  bool trustsAll = false;               ///< a folder that others may write to is used as well
  bool isReadOnly = false;
};

/// A file of the folder.
struct FileFacts {
  std::string name;
  int64_t bytes = 0;
  int64_t usedAt = 0; ///< seconds since 1970; when it was written, or read some time later
};

class Folder {
public:
  explicit Folder(FolderOptions options);

  /// The bytes of a file; nothing if there is none, or if it cannot be read. `name` is 64 hexadecimal digits.
  std::optional<std::vector<std::byte>> read(std::string_view name);
  /// Writes a file; makes room if the folder has become too large. Nothing happens if that fails.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// A file was read and is not what was written: nobody shall read it again. `why` is for a warning.
  void setAside(std::string_view name, const std::string &why);

  /// The files there are, those used last first.
  std::vector<FileFacts> files() const;
  /// Removes the files used longest ago until those that stay have at most so many bytes, and what writers have left
  /// behind that were killed. Returns the bytes removed.
  int64_t prune(int64_t mostBytes);

  const std::string &path() const { return options_.path; }
  /// Why the folder is not used; empty if it is.
  const std::string &refusal() const { return refusal_; }

private:
  std::string pathOf(std::string_view name) const;
  void makeRoom(int64_t written);
  void warn(const std::string &what, int error);

  FolderOptions options_;
  std::string refusal_;
  std::atomic<bool> writes_, warned_ = false;
  std::atomic<int64_t> written_ = 0; ///< bytes since this process looked for what has to go
};

} // namespace tile::cache

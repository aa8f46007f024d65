// For a process that says so by its variables: the TILE_FAIL_CALL-th system call on files below TILE_TEST_FOLDER fails with errno
// TILE_FAIL_WITH.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::atomic<int> calls = 0;

bool fails() {
  const char *which = std::getenv("TILE_FAIL_CALL"), *with = std::getenv("TILE_FAIL_WITH");
  if (!which || !with || ++calls != std::atoi(which))
    return false;
  errno = std::atoi(with);
  return true;
}

bool isBelow(const char *path) {
  const char *folder = std::getenv("TILE_TEST_FOLDER");
  return folder && path && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool isFileBelow(int file) {
  if (!std::getenv("TILE_TEST_FOLDER"))
    return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0)
    return false;
  path[length] = 0;
  return isBelow(path);
}

template <class F> F *next(const char *name) {
  return reinterpret_cast<F *>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return isBelow(path) && fails() ? -1
                                  : next<int(const char *, int, ...)>("open")(path, flags, mode);
}
ssize_t write(int file, const void *bytes, size_t count) {
  return isFileBelow(file) && fails()
             ? -1
             : next<ssize_t(int, const void *, size_t)>("write")(file, bytes, count);
}
ssize_t read(int file, void *bytes, size_t count) {
  return isFileBelow(file) && fails()
             ? -1
             : next<ssize_t(int, void *, size_t)>("read")(file, bytes, count);
}
int fsync(int file) { return isFileBelow(file) && fails() ? -1 : next<int(int)>("fsync")(file); }
int rename(const char *from, const char *to) {
  return isBelow(to) && fails() ? -1 : next<int(const char *, const char *)>("rename")(from, to);
}
int mkdir(const char *path, mode_t mode) {
  return isBelow(path) && fails() ? -1 : next<int(const char *, mode_t)>("mkdir")(path, mode);
}
int stat(const char *path, struct stat *facts) {
  return isBelow(path) && fails() ? -1
                                  : next<int(const char *, struct stat *)>("stat")(path, facts);
}
int lstat(const char *path, struct stat *facts) {
  return isBelow(path) && fails() ? -1
                                  : next<int(const char *, struct stat *)>("lstat")(path, facts);
}
int fstat(int file, struct stat *facts) {
  return isFileBelow(file) && fails() ? -1 : next<int(int, struct stat *)>("fstat")(file, facts);
}
int futimens(int file, const timespec times[2]) {
  return isFileBelow(file) && fails() ? -1
                                      : next<int(int, const timespec[2])>("futimens")(file, times);
}
int unlink(const char *path) {
  return isBelow(path) && fails() ? -1 : next<int(const char *)>("unlink")(path);
}

} // extern "C"

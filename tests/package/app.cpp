// A user's program: reads a name out of the library and catches the library's exception type.
#include <tile/Error.h>

#include <cstdio>
#include <cstring>

int main() {
  try {
    throw tile::Error(tile::Fault::User, tile::ErrorCode::InvalidShape, "shapes differ");
  } catch (const std::exception &error) {
    bool named = std::strcmp(tile::nameOf(tile::ErrorCode::InvalidShape), "InvalidShape") == 0;
    bool explained = std::strstr(error.what(), "shapes differ") != nullptr;
    std::printf("%s\n", error.what());
    return named && explained ? 0 : 1;
  }
}

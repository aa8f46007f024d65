// Traces each mistake and prints the first line of its error, with the file's name alone.
#include "frontend/trace/Kernel.h"
#include "tests/frontend/mistakes/Mistakes.h"

#include <cstdio>
#include <string>

static std::string firstLine(const Mistake &mistake) {
  try {
    tile::frontend::trace(*mistake.record,
                          tile::frontend::bindingFor(*mistake.record, mistake.consts));
  } catch (const tile::Error &error) {
    std::string text = error.what();
    text.resize(std::min(text.find('\n'), text.size()));
    size_t file = text.find("Mistakes.cpp:");
    return file == text.npos ? text : text.substr(file);
  }
  return "accepted";
}

int main() {
  for (const Mistake &mistake : mistakes())
    std::printf("%s\n", firstLine(mistake).c_str());
}

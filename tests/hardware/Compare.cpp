#include "tests/hardware/Compare.h"

#include "tests/hardware/Closeness.h"
#include "tests/hardware/Text.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tile::hardware {
namespace {

std::string hex(uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return text.str();
}

bool isRepeatable(const Probe &probe, size_t output, size_t element) {
  return output > 0 || std::none_of(probe.unrepeatable.begin(), probe.unrepeatable.end(),
                                    [&](const Unrepeatable &part) {
                                      return element % part.period - part.first <
                                             part.count; // unsigned: less than first is far off
                                    });
}

std::string operandsOf(const Probe &probe, size_t at) {
  std::string text = " of";
  for (const Buffer &input : probe.inputs)
    text += " " + hex(input.at(at));
  return probe.elementwise ? text : "";
}

} // namespace

Comparison compare(const Probe &probe, const Outputs &found, const Outputs &recorded, bool exact) {
  Comparison result;
  const Closeness *closeness = exact ? nullptr : closenessOf(probe.name);
  if (found.size() != recorded.size())
    return {1, 1, fill("$0 arrays were recorded, not $1", recorded.size(), found.size())};
  for (size_t o = 0; o < found.size(); ++o) {
    const Buffer &here = found[o], &there = recorded[o];
    if (here.elementBytes != there.elementBytes || here.bytes.size() != there.bytes.size())
      return {1, 1,
              fill("array $0 was recorded as $1 elements of $2 bytes", o, there.size(),
                   there.elementBytes)};
    for (size_t i = 0; i < here.size(); ++i) {
      ++result.values;
      uint64_t a = here.at(i), b = there.at(i);
      if (a == b || !isRepeatable(probe, o, i))
        continue;
      if (closeness && areClose(*closeness, a, b, 8 * here.elementBytes)) {
        ++result.approximate;
        continue;
      }
      if (result.different++ == 0)
        result.first = fill("array $0, element $1$2: $3, on hardware $4", o, i,
                            operandsOf(probe, i), hex(a), hex(b));
    }
  }
  return result;
}

Differences Differences::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(path + " cannot be opened");
  Differences result;
  bool goesOn = false; // whether the line before was a comment as well
  for (std::string line; std::getline(file, line);) {
    bool isComment = line.starts_with('#');
    if (isComment && !goesOn)
      result.groups.push_back({});
    if (isComment)
      result.groups.back().comment += line + "\n";
    else if (!line.empty()) {
      if (result.groups.empty())
        throw std::runtime_error(path + " has no reason for " + line);
      if (result.reasonOf(line))
        throw std::runtime_error(path + " lists " + line + " twice");
      result.groups.back().probes.push_back(line);
    }
    goesOn = isComment;
  }
  return result;
}

void Differences::write(const std::string &path) const {
  std::ofstream file(path);
  for (size_t i = 0; i < groups.size(); ++i) {
    file << (i ? "\n" : "") << groups[i].comment;
    for (const std::string &probe : groups[i].probes)
      file << probe << "\n";
  }
  if (!file.flush())
    throw std::runtime_error(path + " cannot be written");
}

const std::string *Differences::reasonOf(const std::string &probe) const {
  for (const Group &group : groups)
    if (std::find(group.probes.begin(), group.probes.end(), probe) != group.probes.end())
      return &group.comment;
  return nullptr;
}

void Differences::remove(const std::set<std::string> &probes) {
  auto isGone = [&](const std::string &probe) { return probes.count(probe) > 0; };
  std::erase_if(groups, [&](Group &group) {
    return std::erase_if(group.probes, isGone) > 0 && group.probes.empty();
  });
}

} // namespace tile::hardware

#include "tests/hardware/Scalar.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kElements = 128; // one block
constexpr uint64_t kFirstSeed = 1000, kSeedsOfProbe = 8;

std::string replaceStar(std::string_view text, std::string_view word) {
  std::string result;
  for (char c : text)
    result += c == '*' ? std::string(word) : std::string(1, c);
  return result;
}

// One text for each way to choose a word from every {a,b,...}.
std::vector<std::string> expand(const std::string &text) {
  size_t open = text.find('{');
  if (open == std::string::npos)
    return {text};
  size_t close = text.find('}', open);
  std::vector<std::string> rests = expand(text.substr(close + 1)), result;
  for (size_t at = open; at < close;) {
    size_t end = std::min(text.find(',', at + 1), close);
    for (const std::string &rest : rests)
      result.push_back(text.substr(0, open) + text.substr(at + 1, end - at - 1) + rest);
    at = end;
  }
  return result;
}

std::string registerOf(unsigned bits) { return "b" + std::to_string(std::max(bits, 16u)); }

std::string codeOf(const std::string &name, const ScalarRow &row, size_t operands) {
  size_t at = name.find('@');
  std::string instruction = name.substr(0, at);
  if (!row.body.empty())
    return fill(row.body, instruction, at == std::string::npos ? "" : name.substr(at + 1),
                name.substr(0, name.find('.')));
  std::string code = instruction + " %d";
  for (size_t i = 0; i < operands; ++i)
    code += std::string(", %") + "abc"[i];
  return code + ";";
}

Probe scalarProbe(const std::string &name, const ScalarRow &row, const std::string &kindsText,
                  size_t number) {
  std::vector<std::string> kinds = wordsOf(kindsText);
  std::string body = fill(R"(
  .reg .pred %p;
  .reg .b32 %i;
  .reg .b64 %base, %at;
  .reg .$0 %d;
  mov.u32 %i, %tid.x;
)",
                          registerOf(row.bits));
  std::vector<Values> operands;
  for (size_t k = 0; k < kinds.size(); ++k) {
    unsigned bits = bitsOf(kinds[k]);
    operands.push_back(draw(kinds[k], (kFirstSeed + number) * kSeedsOfProbe + k, kElements));
    body += fill(R"(  .reg .$0 %$1;
  ld.param.u64 %base, [p$2];
  mad.wide.u32 %at, %i, $3, %base;
  ld.global.b$4 %$1, [%at];
)",
                 registerOf(bits), std::string(1, "abc"[k]), k, bits / 8, bits);
  }
  correlate(operands, kinds[0], kFirstSeed + number);
  body += "  " + codeOf(name, row, kinds.size()) +
          fill(R"(
  ld.param.u64 %base, [p$0];
  mad.wide.u32 %at, %i, $1, %base;
  st.global.b$2 [%at], %d;
)",
               kinds.size(), row.bits / 8, row.bits);
  Probe probe{name,
              Entry{kinds.size() + 1}.around(body),
              {},
              {{row.bits / 8, kElements}},
              {{1}, {kElements}, {}}};
  for (size_t k = 0; k < kinds.size(); ++k)
    probe.inputs.push_back(pack(operands[k], bitsOf(kinds[k])));
  probe.elementwise = true;
  return probe;
}

template <class Visit> void forEachName(const std::vector<ScalarGroup> &table, Visit visit) {
  for (const ScalarGroup &group : table)
    for (const std::string &word : group.words)
      for (const ScalarRow &row : group.rows)
        for (const std::string &names : wordsOf(replaceStar(row.names, word)))
          for (const std::string &name : expand(names))
            visit(name, row, replaceStar(row.kinds, word));
}

} // namespace

size_t countScalar(const std::vector<ScalarGroup> &table) {
  size_t count = 0;
  forEachName(table, [&](const std::string &, const ScalarRow &, const std::string &) { ++count; });
  return count;
}

std::vector<Probe> scalarProbes(const std::vector<ScalarGroup> &table, size_t first) {
  std::vector<Probe> result;
  forEachName(table, [&](const std::string &name, const ScalarRow &row, const std::string &kinds) {
    result.push_back(scalarProbe(name, row, kinds, first + result.size()));
  });
  return result;
}

std::vector<Probe> floatProbes() { return scalarProbes(floatTable(), 0); }

std::vector<Probe> halfProbes() { return scalarProbes(halfTable(), countScalar(floatTable())); }

std::vector<Probe> conversionProbes() {
  size_t first = countScalar(floatTable()) + countScalar(halfTable());
  std::vector<Probe> result = scalarProbes(floatConversionTable(), first);
  for (Probe &probe : scalarProbes(integerConversionTable(), first + result.size()))
    result.push_back(std::move(probe));
  return result;
}

std::vector<Probe> integerProbes() {
  size_t first = countScalar(floatTable()) + countScalar(halfTable()) +
                 countScalar(floatConversionTable()) + countScalar(integerConversionTable());
  return scalarProbes(integerTable(), first);
}

std::vector<Probe> videoProbes() {
  size_t first = countScalar(floatTable()) + countScalar(halfTable()) +
                 countScalar(floatConversionTable()) + countScalar(integerConversionTable()) +
                 countScalar(integerTable());
  return scalarProbes(videoTable(), first);
}

} // namespace tile::hardware

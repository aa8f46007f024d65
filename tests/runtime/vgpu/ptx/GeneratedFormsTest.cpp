// Forms nobody wrote down: known instructions with one modifier left out, exchanged, added or moved. What the virtual GPU takes of
// them, ptxas takes as well.
#include "tests/runtime/vgpu/ptx/Assembler.h"

#include <iostream>
#include <map>

namespace tile::vgpu {
namespace {

// An instruction in parts: "ld", {"global", "u32"}, " %r1, [%d0];".
struct Form {
  std::string opcode;
  std::vector<std::string> modifiers;
  std::string operands;

  std::string text() const {
    std::string result = opcode;
    for (const std::string &modifier : modifiers)
      result += "." + modifier;
    return result + operands;
  }
};

Form partsOf(const std::string &instruction) {
  size_t end = std::min(instruction.find_first_of(" ;"), instruction.size());
  Form form{instruction.substr(0, instruction.find('.')), {}, instruction.substr(end)};
  std::istringstream words(instruction.substr(0, end));
  std::string word;
  for (bool isFirst = true; std::getline(words, word, '.'); isFirst = false)
    if (!isFirst)
      form.modifiers.push_back(word);
  return form;
}

std::set<std::string> variantsOf(const Form &form, const std::set<std::string> &vocabulary) {
  std::set<std::string> variants;
  auto add = [&](auto change) {
    Form changed = form;
    change(changed.modifiers);
    variants.insert(changed.text());
  };
  auto count = static_cast<ptrdiff_t>(form.modifiers.size());
  for (ptrdiff_t at = 0; at < count; ++at) {
    add([&](auto &modifiers) { modifiers.erase(modifiers.begin() + at); });
    if (at + 1 < count)
      add([&](auto &modifiers) {
        std::swap(modifiers[static_cast<size_t>(at)], modifiers[static_cast<size_t>(at + 1)]);
      });
  }
  for (const std::string &word : vocabulary)
    for (ptrdiff_t at = 0; at <= count; ++at) {
      add([&](auto &modifiers) { modifiers.insert(modifiers.begin() + at, word); });
      if (at < count)
        add([&](auto &modifiers) { modifiers[static_cast<size_t>(at)] = word; });
    }
  return variants;
}

std::vector<std::string> generatedForms() {
  std::map<std::string, std::set<std::string>> vocabularies;
  std::vector<Form> forms;
  for (const Case &each : readCases()) {
    forms.push_back(partsOf(each.instruction));
    vocabularies[forms.back().opcode].insert(forms.back().modifiers.begin(),
                                             forms.back().modifiers.end());
  }
  std::set<std::string> all;
  for (const Form &form : forms)
    all.merge(variantsOf(form, vocabularies[form.opcode]));
  return {all.begin(), all.end()};
}

class GeneratedForms : public Assembler {
protected:
  // Those of the forms that ptxas refuses. It gives up after a hundred complaints, and may stop at the first that is no syntax: what
  // is left is asked again.
  std::vector<std::string> refused(std::vector<std::string> forms) {
    std::vector<std::string> all;
    for (;;) {
      std::set<size_t> bad = objections(kHighest, forms);
      if (bad.empty())
        return all;
      for (auto at = bad.rbegin(); at != bad.rend(); ++at) {
        if (*at >= forms.size()) {
          ADD_FAILURE() << "ptxas objects to something else";
          return all;
        }
        all.push_back(forms[*at]);
        forms.erase(forms.begin() + static_cast<ptrdiff_t>(*at));
      }
    }
  }
};

TEST_F(GeneratedForms, WhatIsTakenIsPtx) {
  std::vector<std::string> all = generatedForms(), taken;
  for (const std::string &form : all)
    if (objection(kHighest, form).empty())
      taken.push_back(form);
  EXPECT_GT(taken.size(), 1000u) << "of " << all.size();
  constexpr size_t kAtOnce = 200;
  size_t wrong = 0;
  for (size_t begin = 0; begin < taken.size(); begin += kAtOnce) {
    size_t end = std::min(begin + kAtOnce, taken.size());
    for (const std::string &form : refused({taken.begin() + static_cast<ptrdiff_t>(begin),
                                            taken.begin() + static_cast<ptrdiff_t>(end)})) {
      ADD_FAILURE() << "ptxas refuses " << form;
      ++wrong;
    }
  }
  std::cout << all.size() << " forms, of which " << taken.size() << " are taken, " << wrong
            << " of them wrongly\n";
}

} // namespace
} // namespace tile::vgpu

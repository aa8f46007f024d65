// What `tilec explain` knows of a kernel, and the three forms it is shown in.
#pragma once

#include "codegen/compiled/Occupancy.h"
#include "codegen/report/KernelReport.h"
#include "codegen/report/Roofline.h"
#include "runtime/toolchain/Assemble.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

struct Explanation {
  codegen::CompiledKernel kernel; ///< with stages and report
  jit::AssemblerReport assembly;
  codegen::Occupancy occupancy;
  ir::Card card; ///< that the target's roofline is of
  codegen::Roofline roofline;

  const codegen::KernelReport &report() const { return *kernel.report; }
};

/// The texts of source files, read when first asked for.
class SourceFiles {
public:
  /// The lines of a file; empty if it cannot be read here. A path relative to a build folder is also tried from the
  /// current folder, the leading ".." left out.
  const std::vector<std::string> &lines(const std::string &file);
  /// The text of a line without its indentation, empty if it is not known.
  std::string text(const codegen::SourceLine &where);

private:
  std::map<std::string, std::vector<std::string>> known_;
};

/// A path without what differs between those who wrote it down: "../../ops/./A.cpp" is "ops/A.cpp".
std::string plainPath(const std::string &file);
/// "ops/A.cpp:12", "?" if not known.
std::string placeText(const codegen::SourceLine &where);

std::string explainAsText(const Explanation &explanation, SourceFiles &files);
std::string explainAsJson(const Explanation &explanation, SourceFiles &files);
/// One file that needs no other: all stages side by side, lines of one source line linked.
std::string explainAsHtml(const Explanation &explanation, SourceFiles &files);

} // namespace tile::tilec

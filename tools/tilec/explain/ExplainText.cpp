// The explanation for a terminal.
#include "tools/tilec/explain/Explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tile::tilec {
namespace {

using namespace codegen;

std::string number(double value, int digits = 1) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  std::string result = text;
  if (digits > 0 && result.find('.') != result.npos)
    result.erase(result.find_last_not_of('0') + 1);
  if (result.ends_with('.'))
    result.pop_back();
  return result;
}

std::string percent(double fraction) { return number(fraction * 100) + " %"; }

std::string count(int64_t many, const std::string &one, const std::string &several) {
  return std::to_string(many) + " " + (many == 1 ? one : several);
}

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width)
    text.resize(width, ' ');
  return text;
}

/// Writes sections of entries; each entry begins with its place, and a line's text comes before its first entry.
class TextReport {
public:
  TextReport(const Explanation &all, SourceFiles &files)
      : all_(all), report_(all.report()), files_(files) {}

  std::string write() {
    out_ = all_.kernel.name + " for " + all_.kernel.target + ", " + placeText(report_.where) + "\n";
    copies();
    products();
    loops();
    layoutChanges();
    barriers();
    transfers();
    resources();
    roofline();
    remarks();
    return out_;
  }

private:
  /// Something said of a line, and how often: unrolled loops repeat what they hold.
  struct Entry {
    SourceLine where;
    std::string text;
    std::vector<std::string> details;
    int times = 1;
  };

  void section(const std::string &title, bool isEmpty) {
    endEntries();
    out_ += "\n" + title + (isEmpty ? ": none\n" : "\n");
  }

  void entry(const SourceLine &where, const std::string &text) {
    entries_.push_back({where, text, {}});
  }

  void detail(const std::string &text) { entries_.back().details.push_back(text); }

  void endEntries() {
    std::vector<Entry> distinct;
    for (Entry &one : entries_) {
      auto same = std::find_if(distinct.begin(), distinct.end(), [&](const Entry &known) {
        return known.where == one.where && known.text == one.text && known.details == one.details;
      });
      if (same == distinct.end())
        distinct.push_back(std::move(one));
      else
        ++same->times;
    }
    SourceLine last;
    for (const Entry &one : distinct) {
      if (one.where != last || one.where.line == 0) {
        std::string line = files_.text(one.where);
        out_ += "  " + placeText(one.where) + (line.empty() ? "" : "    " + line) + "\n";
      }
      last = one.where;
      out_ += "    " + one.text +
              (one.times > 1 ? " (" + std::to_string(one.times) + " times)" : "") + "\n";
      for (const std::string &text : one.details)
        out_ += "      " + text + "\n";
    }
    entries_.clear();
  }

  void copies() {
    section("Copies from and to global memory", report_.copies.empty());
    for (const CopyReport &copy : report_.copies) {
      entry(copy.where,
            copy.kind + " " + copy.tile + " " + copy.dtype + ": " + copy.variant +
                (copy.blocks > 1 ? ", a share by each of " + std::to_string(copy.blocks) + " blocks"
                                 : "") +
                ", " + count(copy.vectorElements, "element", "elements") + " = " +
                count(copy.vectorBytes, "byte", "bytes") +
                " an access; bounds checks: " + join(copy.checks));
      const GlobalTraffic &t = copy.traffic;
      std::string accesses = count(t.accesses, "warp-wide access", "warp-wide accesses");
      if (t.isKnown())
        detail("sectors: " + percent(t.efficiency()) + " used, " + std::to_string(t.usedBytes) +
               " of " + std::to_string(t.sectors * 32) + " bytes in " + accesses);
      else
        detail("sectors: unknown, between " + percent(t.efficiency()) + " and " +
               percent(t.mostEfficiency()) +
               " used: which elements are neighbours shows at run time; " +
               std::to_string(t.usedBytes) + " bytes in " + accesses);
      refusals(copy.refused);
    }
  }

  void products() {
    section("Products", report_.products.empty());
    for (const ProductReport &product : report_.products) {
      std::string batch = product.batch > 1 ? std::to_string(product.batch) + " times " : "";
      std::string shape = batch + std::to_string(product.m) + "x" + std::to_string(product.n) +
                          "x" + std::to_string(product.k);
      std::string warps = product.warpRows ? ", " + std::to_string(product.warpRows) + "x" +
                                                 std::to_string(product.warpColumns) + " warps"
                                           : "";
      entry(product.where, "dot " + shape + " " + product.operands + " -> " + product.accumulator +
                               ": " + product.variant + warps);
      if (product.kWidth)
        detail("factors: from memory straight into registers, " + std::to_string(product.kWidth) +
               " neighbours along K a lane");
      refusals(product.refused);
    }
  }

  void loops() {
    section("Software pipelines", report_.loops.empty());
    for (const LoopReport &loop : report_.loops) {
      std::string asked = loop.stagesAsked ? count(loop.stagesAsked, "stage", "stages") + " asked"
                                           : "stages not said";
      std::string flight =
          loop.waitsForTma ? "a wait for what TMA copies" : "no copies to wait for";
      if (loop.groupsInFlight)
        flight =
            count(*loop.groupsInFlight, "group", "groups") + " of copies in flight at the wait";
      if (loop.dotsInFlight)
        flight += ", " + count(loop.dotsInFlight, "dot", "dots") + " in flight " +
                  (loop.skewed ? "during the rest" : "from one to the next");
      entry(loop.where, asked + ", " + std::to_string(loop.stages) + " given: " + loop.reason);
      detail(count(loop.barriers, "barrier", "barriers") + " per iteration, " + flight);
      if (loop.skewed)
        detail(std::string("skewed: dots that depend on loads alone run an iteration ahead") +
               (loop.isOrdered ? ", warpgroups issue dots in turn" : ""));
      if (loop.isOrdered && !loop.skewed)
        detail("ping-pong: one team issues dots while the other executes its epilogue");
      if (!loop.whyNotSkewed.empty())
        detail("not skewed: " + loop.whyNotSkewed);
      if (loop.hasProducer)
        detail("a producer warp loads; the block has four more warps for it");
      if (!loop.whyNoProducer.empty())
        detail("no producer warp: " + loop.whyNoProducer);
    }
  }

  void refusals(const std::vector<std::string> &sentences) {
    for (const std::string &sentence : sentences)
      detail(sentence);
  }

  void layoutChanges() {
    section("Changes of layout", report_.layoutChanges.empty());
    for (const LayoutChange &change : report_.layoutChanges) {
      std::string plan = change.plan;
      if (change.shuffles)
        plan = count(change.shuffles, "shuffle", "shuffles") + " a warp";
      if (change.sharedBytes)
        plan += ", " + count(change.sharedBytes, "byte", "bytes");
      entry(change.where,
            change.tile + " " + change.dtype + ": " + plan + " (" + change.purpose + ")");
    }
  }

  void barriers() {
    section("Barriers", report_.barriers.empty());
    for (const BarrierReport &barrier : report_.barriers)
      entry(barrier.where, barrier.reason);
  }

  void transfers() {
    section("Shared memory transfers (predicted bank conflicts)", report_.sharedTransfers.empty());
    for (const SharedTransfer &t : report_.sharedTransfers)
      entry(t.where, t.kind + " " + t.tile + " " + t.dtype + ": " + std::to_string(t.instructions) +
                         " x " + t.instruction + ", wavefronts ideal " +
                         std::to_string(t.idealWavefronts) + ", actual " +
                         std::to_string(t.actualWavefronts) + ": " +
                         count(t.conflicts(), "conflict", "conflicts"));
  }

  void resources() {
    section("Resources of a block", false);
    const jit::AssemblerReport &assembly = all_.assembly;
    registers();
    out_ += "  threads         " + std::to_string(all_.kernel.threads) + " (" +
            (report_.teams > 1 ? std::to_string(report_.teams) + " teams of " : "") +
            count(report_.warps, "warp", "warps") +
            (report_.producerWarps ? ", and " + std::to_string(report_.producerWarps) + " to load"
                                   : "") +
            ")\n";
    if (report_.cluster > 1)
      out_ +=
          "  cluster         " + std::to_string(report_.cluster) + " blocks carry out a program\n";
    const Occupancy &o = all_.occupancy;
    out_ += "  resident        " + count(o.blocksPerSm, "block", "blocks") + " an SM, occupancy " +
            std::to_string(o.warpsPerSm) + " of " + std::to_string(o.maxWarpsPerSm) + " warps (" +
            percent(o.fraction()) + "), limited by " + o.limit +
            (assembly.assembler.empty() ? "; registers left out\n" : "\n");
    out_ += "  shared memory   " + count(all_.kernel.sharedBytes, "byte", "bytes") + "\n";
    allocations();
    if (const Workspace &workspace = all_.kernel.workspace; workspace.counters)
      out_ += "  workspace       " + count(workspace.bytes, "byte", "bytes") + " and " +
              count(workspace.counters, "counter", "counters") +
              " a program, of memory that the launch brings along; a multiple of " +
              std::to_string(workspace.programs) + " programs\n";
  }

  void registers() {
    const jit::AssemblerReport &assembly = all_.assembly;
    bool isMeasured = !assembly.assembler.empty();
    out_ += "  registers       ";
    if (isMeasured)
      out_ += std::to_string(assembly.registers) + " a thread, spills " +
              std::to_string(assembly.spillStoreBytes) + " bytes stored, " +
              std::to_string(assembly.spillLoadBytes) + " loaded (" + assembly.assembler + ")\n";
    else
      out_ += "not measured: " + assembly.missing + "\n";
    for (const RegisterReport &r : report_.registers)
      out_ +=
          "  estimated       " + std::to_string(r.expected) + " " + r.who + ", of at most " +
          std::to_string(r.limit) + "; " + std::to_string(r.needed) + " needed" +
          (r.operation.empty() ? "" : ", most at " + placeText(r.where) + " by " + r.operation) +
          "\n";
    out_ += "  barriers        " +
            (isMeasured ? std::to_string(assembly.barriers) + " of " +
                              std::to_string(ir::kBarriersPerBlock)
                        : "not measured") +
            "\n";
    out_ += "  machine code    " + (isMeasured ? codeText(assembly.code) : "not measured") + "\n";
  }

  std::string codeText(const jit::MachineCode &code) {
    std::vector<std::string> loops;
    for (int64_t loop : code.innermostLoops)
      loops.push_back(std::to_string(loop));
    std::string text = count(code.instructions, "instruction", "instructions");
    return loops.empty() ? text : text + "; innermost loops have " + join(loops);
  }

  void allocations() {
    if (report_.allocations.empty())
      return;
    out_ += "    " + padded("offset", 9) + padded("bytes", 9) + padded("alive", 9) + "what\n";
    for (const AllocationReport &a : report_.allocations) {
      out_ += "    " + padded(std::to_string(a.offset), 9) + padded(std::to_string(a.bytes), 9) +
              padded(std::to_string(a.begin) + "-" + std::to_string(a.end), 9) +
              (a.stages > 1 ? std::to_string(a.stages) + " x " : "") + a.tile + " " + a.dtype +
              (a.teams > 1 ? ", of each of " + std::to_string(a.teams) + " teams" : "") + ", " +
              a.purpose + ", " + placeText(a.where) + ", used from line " +
              std::to_string(a.firstUse.line) + " to " + std::to_string(a.lastUse.line) + "\n";
      if (!a.filledBy.empty() && !a.readBy.empty())
        out_ += std::string(31, ' ') + "filled by " + join(a.filledBy) + "; read by " +
                join(a.readBy) + "\n";
    }
    out_ += "    (alive: operations of the kernel, in program order)\n";
  }

  std::string flopsText(const std::map<std::string, double> &flops) {
    std::string text;
    for (auto &[unit, many] : flops)
      text += (text.empty() ? "" : " + ") + number(many, 0) + " (" + unit + ")";
    return text.empty() ? "0" : text;
  }

  std::string scopeText(const WorkScope &scope) {
    std::string what = "a program, loops and branches left out";
    if (scope.kind == WorkScope::Kind::Loop)
      what = "an iteration of the loop at " + placeText(scope.where) +
             (scope.iterations ? ", of " + std::to_string(*scope.iterations) : "");
    if (scope.kind == WorkScope::Kind::Branch)
      what = "the branch at " + placeText(scope.where);
    what += ": operations " + flopsText(scope.flops) + "; bytes " +
            std::to_string(scope.bytesRead) + " read, " + std::to_string(scope.bytesWritten) +
            " written";
    if (scope.executions && scope.parent >= 0)
      what += "; " + number(*scope.executions / report_.launch.programs, 2) + " times a program";
    return what;
  }

  // Branches that are not taken, and what does nothing itself, are left out.
  static bool isWorthALine(const WorkScope &scope) {
    bool isIdle = scope.flops.empty() && scope.totalBytes() == 0;
    return scope.parent < 0 || (!isIdle && (!scope.executions || *scope.executions > 0));
  }

  void roofline() {
    section("Roofline (a model: each byte once, no latency)", false);
    for (const WorkScope &scope : report_.work)
      if (isWorthALine(scope))
        out_ += "  " + scopeText(scope) + "\n";
    launch();
    const Roofline &r = all_.roofline;
    if (!r.unknown.empty())
      return;
    out_ += "  intensity " + number(r.intensity, 2) + " operations a byte of " + whole() + "; " +
            all_.card.name + " turns at " + number(r.ridge, 2) + "\n";
    out_ += "  model: bound by " + std::string(r.isMemoryBound ? "memory" : "arithmetic") +
            ", at most " + number(r.bound, 2) + " of " + number(r.peak, 2) + " Tflop/s, " +
            number(all_.card.gigabytes, 0) + " GB/s (" + all_.card.source + ")\n";
    if (!report_.launch.atMost.empty())
      out_ += "    of memory nothing is claimed: its bytes may be fewer\n";
  }

  std::string whole() const { return report_.launch.isOfLaunch ? "the launch" : "a program"; }

  void launch() {
    const LaunchWork &launch = report_.launch;
    std::string what = launch.isOfLaunch
                           ? "the launch, of " +
                                 count(static_cast<int64_t>(launch.programs), "program", "programs")
                           : "a program in all";
    if (!launch.unknown.empty()) {
      out_ += "  " + what + ": not known, and no bound: " + launch.unknown + "\n";
      return;
    }
    std::string most = launch.atMost.empty() ? "" : "at most ";
    out_ += "  " + what + (launch.isEstimate ? ", by some of them" : "") + ": operations " +
            flopsText(launch.flops) + "; bytes " + most + number(launch.bytesRead, 0) + " read, " +
            number(launch.bytesWritten, 0) + " written; each once " + most +
            number(launch.distinctRead, 0) + " and " + number(launch.distinctWritten, 0) + "\n";
    for (const std::string &unknown : launch.atMost)
      out_ += "    not known: " + unknown + "\n";
  }

  void remarks() {
    const std::vector<jit::AssemblerMessage> &messages = all_.assembly.messages;
    if (all_.kernel.remarks.empty() && messages.empty())
      return;
    section("Remarks", false);
    for (const Diagnostic &remark : all_.kernel.remarks)
      entry({remark.file, remark.line}, remark.message);
    for (const jit::AssemblerMessage &message : messages)
      entry(message.line ? SourceLine{message.file, message.line} : report_.where,
            "the assembler says: " + message.text + " (" + message.code + ")");
    endEntries();
  }

  const Explanation &all_;
  const KernelReport &report_;
  SourceFiles &files_;
  std::string out_;
  std::vector<Entry> entries_; ///< of the section that is being written
};

} // namespace

std::string explainAsText(const Explanation &explanation, SourceFiles &files) {
  return TextReport(explanation, files).write();
}

} // namespace tile::tilec

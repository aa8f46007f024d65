// The explanation for programs.
#include "tools/tilec/explain/Explain.h"

#include <nlohmann/json.hpp>

namespace tile::tilec {
namespace {

using namespace codegen;
using Json = nlohmann::ordered_json;

class JsonReport {
public:
  JsonReport(const Explanation &all, SourceFiles &files)
      : all_(all), report_(all.report()), files_(files) {}

  Json write() {
    return {{"kernel", all_.kernel.name},
            {"target", all_.kernel.target},
            {"where", place(report_.where)},
            {"copies", list(report_.copies)},
            {"products", list(report_.products)},
            {"loops", list(report_.loops)},
            {"layout_changes", list(report_.layoutChanges)},
            {"barriers", list(report_.barriers)},
            {"shared_transfers", list(report_.sharedTransfers)},
            {"resources", resources()},
            {"allocations", list(report_.allocations)},
            {"work", list(report_.work)},
            {"launch", launch()},
            {"roofline", roofline()},
            {"remarks", remarks()},
            {"assembler_messages", list(all_.assembly.messages)}};
  }

private:
  template <class T> Json list(const std::vector<T> &items) {
    Json array = Json::array();
    for (const T &item : items)
      array.push_back(of(item));
    return array;
  }

  Json place(const SourceLine &where) {
    if (where.line == 0)
      return nullptr;
    return {{"file", plainPath(where.file)}, {"line", where.line}, {"text", files_.text(where)}};
  }

  Json of(const CopyReport &c) {
    return {{"where", place(c.where)},
            {"kind", c.kind},
            {"tile", c.tile},
            {"dtype", c.dtype},
            {"variant", c.variant},
            {"blocks", c.blocks},
            {"refused", c.refused},
            {"vector_elements", c.vectorElements},
            {"vector_bytes", c.vectorBytes},
            {"bounds_checks", c.checks},
            {"accesses", c.traffic.accesses},
            {"used_bytes", c.traffic.usedBytes},
            {"sectors", c.traffic.sectors},
            {"least_sectors", c.traffic.leastSectors},
            {"sector_efficiency", c.traffic.isKnown() ? Json(c.traffic.efficiency()) : Json()}};
  }

  Json of(const ProductReport &p) {
    return {{"where", place(p.where)},
            {"batch", p.batch},
            {"m", p.m},
            {"n", p.n},
            {"k", p.k},
            {"operands", p.operands},
            {"accumulator", p.accumulator},
            {"variant", p.variant},
            {"refused", p.refused},
            {"warp_grid", {p.warpRows, p.warpColumns}},
            {"k_width", p.kWidth}};
  }

  Json of(const LoopReport &l) {
    return {{"where", place(l.where)},
            {"stages_asked", l.stagesAsked ? Json(l.stagesAsked) : Json(nullptr)},
            {"stages", l.stages},
            {"reason", l.reason},
            {"skewed", l.skewed},
            {"ordered", l.isOrdered},
            {"why_not_skewed", l.whyNotSkewed.empty() ? Json(nullptr) : Json(l.whyNotSkewed)},
            {"producer", l.hasProducer},
            {"why_no_producer", l.whyNoProducer.empty() ? Json(nullptr) : Json(l.whyNoProducer)},
            {"barriers", l.barriers},
            {"groups_in_flight", l.groupsInFlight ? Json(*l.groupsInFlight) : Json(nullptr)},
            {"waits_for_engine", l.waitsForTma},
            {"products_in_flight", l.dotsInFlight}};
  }

  Json of(const LayoutChange &c) {
    return {{"where", place(c.where)},
            {"tile", c.tile},
            {"dtype", c.dtype},
            {"plan", c.plan},
            {"purpose", c.purpose},
            {"shuffles", c.shuffles},
            {"shared_bytes", c.sharedBytes},
            {"from", c.from},
            {"to", c.to}};
  }

  Json of(const SharedTransfer &t) {
    return {{"where", place(t.where)},
            {"kind", t.kind},
            {"tile", t.tile},
            {"dtype", t.dtype},
            {"instruction", t.instruction},
            {"instructions", t.instructions},
            {"ideal_wavefronts", t.idealWavefronts},
            {"actual_wavefronts", t.actualWavefronts},
            {"conflicts", t.conflicts()}};
  }

  Json of(const BarrierReport &b) { return {{"where", place(b.where)}, {"reason", b.reason}}; }

  Json of(const AllocationReport &a) {
    return {{"where", place(a.where)},
            {"offset", a.offset},
            {"bytes", a.bytes},
            {"stages", a.stages},
            {"teams", a.teams},
            {"tile", a.tile},
            {"dtype", a.dtype},
            {"purpose", a.purpose},
            {"filled_by", a.filledBy},
            {"read_by", a.readBy},
            {"live_range", {a.begin, a.end}},
            {"first_use", place(a.firstUse)},
            {"last_use", place(a.lastUse)}};
  }

  Json of(const RegisterReport &r) {
    return {{"who", r.who},
            {"needed", r.needed},
            {"expected", r.expected},
            {"limit", r.limit},
            {"where", place(r.where)},
            {"operation", r.operation.empty() ? Json(nullptr) : Json(r.operation)}};
  }

  Json of(const jit::AssemblerMessage &m) {
    return {{"where", place({m.file, m.line})}, {"code", m.code}, {"message", m.text}};
  }

  Json of(const WorkScope &scope) {
    constexpr const char *kinds[] = {"program", "loop", "branch"};
    return {{"where", place(scope.where)},
            {"kind", kinds[static_cast<int>(scope.kind)]},
            {"parent", scope.parent},
            {"iterations", scope.iterations ? Json(*scope.iterations) : Json(nullptr)},
            {"flops", scope.flops},
            {"bytes_read", scope.bytesRead},
            {"bytes_written", scope.bytesWritten},
            {"executions", scope.executions ? Json(*scope.executions) : Json(nullptr)}};
  }

  Json launch() {
    const LaunchWork &launch = report_.launch;
    Json result = {{"of", launch.isOfLaunch ? "launch" : "program"},
                   {"programs", launch.programs},
                   {"unknown", launch.unknown.empty() ? Json(nullptr) : Json(launch.unknown)}};
    if (!launch.unknown.empty())
      return result;
    result["estimate"] = launch.isEstimate;
    result["flops"] = launch.flops;
    result["bytes_read"] = launch.bytesRead, result["bytes_written"] = launch.bytesWritten;
    result["distinct_bytes_read"] = launch.distinctRead;
    result["distinct_bytes_written"] = launch.distinctWritten;
    result["at_most"] = launch.atMost;
    return result;
  }

  Json resources() {
    Json result = {{"threads", all_.kernel.threads},
                   {"cluster", report_.cluster},
                   {"shared_bytes", all_.kernel.sharedBytes},
                   {"workspace_bytes", all_.kernel.workspace.bytes},
                   {"programs_that_add_up", all_.kernel.workspace.programs}};
    const jit::AssemblerReport &assembly = all_.assembly;
    bool isMeasured = !assembly.assembler.empty();
    result["registers"] = isMeasured ? Json(assembly.registers) : Json(nullptr);
    result["expected_registers"] = report_.reportedRegisters;
    result["estimated_registers"] = list(report_.registers);
    result["spill_store_bytes"] = isMeasured ? Json(assembly.spillStoreBytes) : Json(nullptr);
    result["spill_load_bytes"] = isMeasured ? Json(assembly.spillLoadBytes) : Json(nullptr);
    result["barriers"] = isMeasured ? Json(assembly.barriers) : Json(nullptr);
    result["instructions"] = isMeasured ? Json(assembly.code.instructions) : Json(nullptr);
    result["innermost_loops"] = isMeasured ? Json(assembly.code.innermostLoops) : Json(nullptr);
    result["blocks_per_sm"] = all_.occupancy.blocksPerSm;
    result["occupancy"] = all_.occupancy.fraction();
    result["limited_by"] = all_.occupancy.limit;
    return result;
  }

  Json remarks() {
    Json list = Json::array();
    for (const Diagnostic &remark : all_.kernel.remarks)
      list.push_back({{"where", place({remark.file, remark.line})}, {"message", remark.message}});
    return list;
  }

  Json roofline() {
    const Roofline &r = all_.roofline;
    Json result = {{"kind", "model"},
                   {"card", all_.card.name},
                   {"source", all_.card.source},
                   {"unknown", r.unknown.empty() ? Json(nullptr) : Json(r.unknown)}};
    if (!r.unknown.empty())
      return result;
    result["intensity"] = r.intensity, result["ridge"] = r.ridge;
    result["bound_tflops"] = r.bound, result["peak_tflops"] = r.peak;
    result["limited_by"] = r.isMemoryBound ? "memory" : "arithmetic";
    return result;
  }

  const Explanation &all_;
  const KernelReport &report_;
  SourceFiles &files_;
};

} // namespace

std::string explainAsJson(const Explanation &explanation, SourceFiles &files) {
  return JsonReport(explanation, files)
             .write()
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

} // namespace tile::tilec

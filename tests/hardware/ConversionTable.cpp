// Conversions between floats, then from floats to integers, from integers to floats, and between integers.
#include "tests/hardware/Scalar.h"

namespace tile::hardware {

const std::vector<ScalarGroup> &floatConversionTable() {
  static const std::vector<ScalarGroup> table{
      {{"f16", "bf16"},
       {{"cvt.{rn,rz,rn.relu,rz.relu}.*.f32 cvt.rn{,.relu}.satfinite.*.f32", "f32", 16},
        {"cvt.{rn,rz,rn.relu,rz.relu,rn.satfinite,rn.relu.satfinite}.*x2.f32", "f32 f32", 32},
        {"cvt.f32.*", "every16", 32}}},
      {{""},
       {{"cvt.{rn.ftz,rm,rp,rn.sat}.f16.f32", "f32", 16},
        {"cvt{,.ftz,.sat,.ftz.sat,.rni,.rzi,.rmi,.rpi,.rni.ftz,.rpi.sat}.f32.f32", "f32", 32},
        {"cvt.{rni,rzi,rmi,rpi,sat}.f64.f64", "f64", 64},
        {"cvt.{rni,rzi,rmi,rpi}.f16.f16", "every16", 16},
        {"cvt{,.ftz}.f64.f32", "f32", 64},
        {"cvt.{rn,rz,rm,rp,rn.ftz,rn.sat}.f32.f64", "f64", 32},
        {"cvt.{rn,rz,rm,rp}.f16.f64", "f64", 16},
        {"cvt.f64.f16", "every16", 64},
        {"cvt.{rna,rn,rz,rn.relu,rz.relu}.tf32.f32", "f32", 32}}},
      {{"e4m3x2", "e5m2x2"},
       {{"cvt.rn.satfinite{,.relu}.*.f32", "f32 f32", 16},
        {"cvt.rn.satfinite{,.relu}.*.f16x2", "every16x2", 16},
        {"cvt.rn{,.relu}.f16x2.*", "every16", 32}}},
      {{""},
       {{"cvt.rn.f16.bf16", "every16", 16},
        {"cvt.rn.bf16.f64", "f64", 16},
        {"cvt.rn.bf16.f16 cvt.{rni,rzi}.bf16.bf16", "every16", 16}}}};
  return table;
}

namespace {

void addToIntegers(std::vector<ScalarGroup> &table, const std::string &format,
                   const std::string &kind, bool toBytes) {
  ScalarGroup group{{format},
                    {{"cvt.{rni,rzi,rmi,rpi}.s32.* cvt.{rni,rzi}.u32.*", kind, 32},
                     {"cvt.{rni,rzi}.s64.* cvt.{rni,rzi,rmi,rpi}.u64.*", kind, 64},
                     {"cvt.{rni,rzi}.s16.* cvt.{rni,rzi}.u16.*", kind, 16}}};
  if (toBytes) {
    group.rows.push_back({"cvt.{rni,rzi}.s8.* cvt.{rni,rzi,rmi,rpi}.u8.*", kind, 16});
    group.rows.push_back({"cvt.rzi.sat.s32.*", kind, 32});
  }
  table.push_back(std::move(group));
}

void addFromInteger(std::vector<ScalarGroup> &table, const std::string &type) {
  std::string kind = "u" + type.substr(1);
  table.push_back({{"rn", "rz", "rm", "rp"},
                   {{"cvt.*.f32." + type, kind, 32},
                    {"cvt.*.f64." + type, kind, 64},
                    {"cvt.*.f16." + type, kind, 16}}});
  table.push_back({{"rn", "rz"}, {{"cvt.*.bf16." + type, kind, 16}}});
}

std::vector<ScalarGroup> makeIntegerConversions() {
  std::vector<ScalarGroup> table;
  addToIntegers(table, "f32", "f32", true);
  addToIntegers(table, "f64", "f64", true);
  addToIntegers(table, "f16", "every16", true);
  addToIntegers(table, "bf16", "every16", false);
  table.push_back({{""}, {{"cvt.rzi.ftz.s32.f32 cvt.rpi.ftz.u32.f32", "f32", 32}}});
  for (const char *type : {"s32", "u32", "s64", "u64", "s16", "u16"})
    addFromInteger(table, type);
  table.push_back({{"cvt.sat"},
                   {{"*.s8.s32 *.u8.s32", "u32", 16},
                    {"*.s16.u32", "u32", 16},
                    {"*.u32.s64 *.s32.u64", "u64", 32},
                    {"*.u16.s16", "u16", 16},
                    {"*.s32.u32", "u32", 32}}});
  table.push_back({{"cvt"},
                   {{"*.s32.s8 *.u32.s8 *.s16.u8", "u32", 32},
                    {"*.pack.sat.s16.s32 *.pack.sat.u16.s32", "u32 u32", 32},
                    {"*.pack.sat.s8.s32.b32 *.pack.sat.u8.s32.b32", "u32 u32 u32", 32}}});
  return table;
}

} // namespace

const std::vector<ScalarGroup> &integerConversionTable() {
  static const std::vector<ScalarGroup> table = makeIntegerConversions();
  return table;
}

} // namespace tile::hardware

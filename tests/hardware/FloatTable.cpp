// Instructions on f32 and f64, then on f16 and bf16.
#include "tests/hardware/Scalar.h"

namespace tile::hardware {
namespace {

constexpr const char *kTest = "$0 %p, %a; selp.b32 %d, 1, 0, %p;";
constexpr const char *kCompare = "$0 %p, %a, %b; selp.b32 %d, 1, 0, %p;";

} // namespace

const std::vector<ScalarGroup> &floatTable() {
  static const std::vector<ScalarGroup> table{
      {{"add", "sub", "mul"},
       {{"*.{rn,rz,rm,rp}.f32 *.{rn.ftz,rn.sat,rn.ftz.sat,rz.ftz}.f32", "f32 f32", 32},
        {"*.{rn,rz,rm,rp}.f64", "f64 f64", 64}}},
      {{"fma"},
       {{"*.{rn,rz,rm,rp}.f32 *.{rn.ftz,rn.sat,rn.ftz.sat,rz.ftz}.f32", "f32 f32 f32", 32},
        {"*.{rn,rz,rm,rp}.f64", "f64 f64 f64", 64}}},
      {{""},
       {{"mad.{rn,rz.ftz}.f32", "f32 f32 f32", 32},
        {"{add,sub,mul}.f32", "f32 f32", 32},
        {"div.{rn,rz,rm,rp,rn.ftz,full,full.ftz,approx,approx.ftz}.f32", "f32 f32", 32},
        {"div.{rn,rz,rm,rp}.f64", "f64 f64", 64},
        {"{rcp,sqrt}.{rn,rz,rm,rp,rn.ftz,approx,approx.ftz}.f32", "f32", 32},
        {"{rsqrt,sin,cos,lg2,ex2}.approx{,.ftz}.f32 tanh.approx.f32", "f32", 32},
        // Where the functions are neither clamped nor infinite.
        {"ex2.approx.ftz.f32@near:-8:7", "near:-8:7", 32},
        {"{sin,cos}.approx.f32@near:-8:3", "near:-8:3", 32},
        {"lg2.approx.f32@near:-20:20", "near:-20:20", 32},
        {"rcp.approx.ftz.f32@near:0:1", "near:0:1", 32},
        {"{rsqrt,sqrt}.approx.ftz.f32@near:0:2", "near:0:2", 32},
        {"tanh.approx.f32@near:-10:4", "near:-10:4", 32},
        {"rcp.{rn,rz,rm,rp}.f64 rcp.approx.ftz.f64 rsqrt.approx{,.ftz}.f64 sqrt.{rn,rz,rm,rp}.f64",
         "f64", 64}}},
      {{"min", "max"},
       {{"*{,.ftz,.NaN,.ftz.NaN,.xorsign.abs,.ftz.NaN.xorsign.abs}.f32", "f32 f32", 32},
        {"*.f64", "f64 f64", 64}}},
      {{""},
       {{"{abs,neg}{,.ftz}.f32", "f32", 32},
        {"{abs,neg}.f64", "f64", 64},
        {"copysign.f32", "f32 f32", 32},
        {"copysign.f64", "f64 f64", 64}}},
      {{"finite", "infinite", "number", "notanumber", "normal", "subnormal"},
       {{"testp.*.f32", "f32", 32, kTest}, {"testp.*.f64", "f64", 32, kTest}}},
      {{"f32", "f64", "f16", "bf16"},
       {{"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.*", "* *", 32, kCompare}}},
      {{""},
       {{"setp.{lt,eq}.ftz.f32", "f32 f32", 32, kCompare},
        {"set.{lt.u32.f32,gt.f32.f32,ltu.ftz.s32.f32,eq.f32.s32,ge.u32.u32}", "f32 f32", 32},
        {"set.{gt,ltu}.f16x2.f16x2", "f16x2 f16x2", 32},
        {"set.gt.bf16x2.bf16x2", "bf16x2 bf16x2", 32},
        {"slct{,.ftz}.u32.f32", "u32 u32 f32", 32},
        {"slct.u32.s32", "u32 u32 u32", 32}}}};
  return table;
}

const std::vector<ScalarGroup> &halfTable() {
  static const std::vector<ScalarGroup> table{
      {{"add", "sub", "mul"},
       {{"*{.rn,.rn.ftz,.rn.sat,.rn.ftz.sat}.f16", "f16 f16", 16},
        {"*{.rn,.rn.ftz,.rn.sat,.rn.ftz.sat}.f16x2", "f16x2 f16x2", 32},
        {"*.rn.bf16", "bf16 bf16", 16},
        {"*.rn.bf16x2", "bf16x2 bf16x2", 32}}},
      {{"fma.rn"},
       {{"*{,.ftz,.sat,.ftz.sat,.relu,.ftz.relu}.f16", "f16 f16 f16", 16},
        {"*{,.ftz,.sat,.ftz.sat,.relu,.ftz.relu}.f16x2", "f16x2 f16x2 f16x2", 32},
        {"*{,.relu}.bf16", "bf16 bf16 bf16", 16},
        {"*{,.relu}.bf16x2", "bf16x2 bf16x2 bf16x2", 32}}},
      {{"min", "max"},
       {{"*{,.NaN,.xorsign.abs,.NaN.xorsign.abs}.f16", "f16 f16", 16},
        {"*{,.NaN,.xorsign.abs,.NaN.xorsign.abs}.f16x2", "f16x2 f16x2", 32},
        {"*{,.NaN,.xorsign.abs,.NaN.xorsign.abs}.bf16", "bf16 bf16", 16},
        {"*{,.NaN,.xorsign.abs,.NaN.xorsign.abs}.bf16x2", "bf16x2 bf16x2", 32},
        {"*.ftz{,.NaN}.f16", "f16 f16", 16}}},
      {{""},
       {{"{abs,neg}.f16 {abs,neg}.ftz.f16 {abs,neg}.bf16 tanh.approx.{f16,bf16} ex2.approx.f16 "
         "ex2.approx.ftz.bf16",
         "every16", 16},
        {"abs.f16x2 neg.bf16x2 tanh.approx.{f16x2,bf16x2} ex2.approx.f16x2 ex2.approx.ftz.bf16x2",
         "every16x2", 32}}}};
  return table;
}

} // namespace tile::hardware

// Instructions on integers, and the video instructions.
#include "tests/hardware/Scalar.h"

namespace tile::hardware {

const std::vector<ScalarGroup> &integerTable() {
  static const std::vector<ScalarGroup> table{
      {{""},
       {// Arithmetic.
        {"{add,sub}.sat.s32 mul.lo.s32 mul.hi.{s32,u32} mul24.{lo,hi}.s32 mul24.{lo,hi}.u32 "
         "{div,rem}.{s32,u32} min.s32 "
         "max.u32 {min,max}.relu.s32",
         "u32 u32", 32},
        {"min.s16x2 max.u16x2 {min,max}.relu.s16x2 add.{u16x2,s16x2}", "u32 u32", 32},
        {"{div,rem,mul.hi}.{s16,u16} min.s16 max.u16", "u16 u16", 16},
        {"mul.wide.{s16,u16}", "u16 u16", 32},
        {"mul.wide.{s32,u32}", "u32 u32", 64},
        {"mul.hi.{s64,u64} mul.lo.s64 {div,rem}.{s64,u64} min.s64 max.u64", "u64 u64", 64},
        {"mad.{lo.s32,hi.s32,hi.u32,hi.sat.s32} mad24.{lo.s32,hi.s32,lo.u32,hi.u32,hi.sat.s32} "
         "sad.{s32,u32}",
         "u32 u32 u32", 32},
        {"sad.{s16,u16} mad.{lo.u16,hi.s16}", "u16 u16 u16", 16},
        {"mad.wide.{s32,u32}", "u32 u32 u64", 64},
        {"mad.wide.s16", "u16 u16 u32", 32},
        {"{mad.hi,sad}.{s64,u64}", "u64 u64 u64", 64},
        // Bits and shifts.
        {"{abs,neg}.s32 {popc,clz,brev}.b32 bfind{,.shiftamt}.{s32,u32} {cnot,not}.b32", "u32", 32},
        {"{abs,neg}.s64 {brev,cnot}.b64", "u64", 64},
        {"{popc,clz}.b64 bfind{,.shiftamt}.{s64,u64}", "u64", 32},
        {"{abs,neg}.s16 cnot.b16", "u16", 16},
        {"shl.b32 shr.{u32,s32} szext.{clamp,wrap}.s32 szext.{clamp,wrap}.u32", "u32 shift", 32},
        {"shl.b64 shr.{u64,s64}", "u64 shift", 64},
        {"shl.b16 shr.{u16,s16}", "u16 shift", 16},
        {"bmsk.{clamp,wrap}.b32", "shift shift", 32},
        {"shf.{l,r}.{wrap,clamp}.b32", "u32 u32 shift", 32},
        {"bfe.{s32,u32}", "u32 shift shift", 32},
        {"bfe.{s64,u64}", "u64 shift shift", 64},
        {"bfi.b32", "u32 u32 shift", 32, "$0 %d, %a, %b, %c, 7;"},
        {"bfi.b32@length", "u32 u32 shift", 32, "$0 %d, %a, %b, 5, %c;"},
        {"bfi.b64", "u64 u64 shift", 64, "$0 %d, %a, %b, %c, 13;"},
        // From a bit of the word, for the nth before or after it.
        {"fns.b32", "u32 shift shift", 32,
         "and.b32 %b, %b, 31; and.b32 %c, %c, 63; add.s32 %c, %c, -32; $0 %d, %a, %b, %c;"},
        {"prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "u32 u32 u32", 32},
        {"dp4a.{s32.s32,u32.u32,s32.u32,u32.s32} "
         "dp2a.{lo.s32.s32,hi.u32.s32,lo.u32.u32,hi.s32.u32}",
         "u32 u32 u32", 32},
        {"lop3.b32@{0x0,0x1b,0x96,0xca,0xe8,0x35,0x72,0xff}", "u32 u32 u32", 32,
         "$0 %d, %a, %b, %c, $1;"},
        // Carries: two results of 32 bits in one of 64.
        {"addc.cc.u32", "u32 u32 u32", 64,
         "{ .reg .b32 %l, %h; add.cc.u32 %l, %a, %b; addc.u32 %h, %c, %a; mov.b64 %d, {%l, %h}; }"},
        {"subc.cc.u32", "u32 u32 u32", 64,
         "{ .reg .b32 %l, %h; sub.cc.u32 %l, %a, %b; subc.u32 %h, %c, %a; mov.b64 %d, {%l, %h}; }"},
        {"subc.cc.chain", "u32 u32 u32", 64,
         "{ .reg .b32 %l, %h; sub.cc.s32 %l, %a, %b; subc.cc.s32 %l, %l, %c; addc.s32 %h, %a, %b; "
         "mov.b64 %d, {%l, %h}; }"},
        {"madc.hi.u32", "u32 u32 u32", 64,
         "{ .reg .b32 %l, %h; mad.lo.cc.u32 %l, %a, %b, %c; madc.hi.u32 %h, %a, %b, %c; mov.b64 "
         "%d, {%l, %h}; }"},
        {"madc.hi.cc.s32", "u32 u32 u32", 64,
         "{ .reg .b32 %l, %h; mad.hi.cc.s32 %l, %a, %b, %c; madc.lo.s32 %h, %a, %b, %c; mov.b64 "
         "%d, {%l, %h}; }"},
        {"addc.cc.u64", "u64 u64 u64", 64,
         "{ .reg .b64 %l, %h; add.cc.u64 %l, %a, %b; addc.u64 %h, %c, %a; xor.b64 %d, %l, %h; "
         "}"}}}};
  return table;
}

const std::vector<ScalarGroup> &videoTable() {
  static const std::vector<ScalarGroup> table{
      {{"vadd", "vsub", "vabsdiff", "vmin", "vmax"},
       {{"*.{s32.s32.s32.sat,u32.u32.s32,s32.u32.u32.sat}", "u32 u32", 32},
        {"*.s32.s32.u32.sel", "u32 u32", 32, "$2.s32.s32.u32.sat %d, %a.b1, %b.h1;"},
        {"*.merge", "u32 u32 u32", 32, "$2.s32.u32.s32.sat %d.b2, %a.h0, %b.b3, %c;"},
        {"*.add", "u32 u32 u32", 32, "$2.u32.s32.s32.add %d, %a.b0, %b.h0, %c;"},
        {"*.max", "u32 u32 u32", 32, "$2.s32.s32.s32.max %d, %a, %b, %c;"}}},
      {{""},
       {{"vshl.u32.u32.u32.{clamp,wrap} vshr.{u32.u32.u32.clamp,s32.s32.u32.wrap} "
         "vshl.s32.s32.u32.sat.clamp",
         "u32 shift", 32},
        {"vset.s32.u32.lt", "u32 u32", 32},
        {"vset.add", "u32 u32 u32", 32, "vset.s32.s32.ge.add %d, %a.b1, %b.b2, %c;"},
        {"vmad", "u32 u32 u32", 32, "vmad.s32.s32.s32.sat %d, %a.h1, %b.h0, %c;"},
        {"vmad.shr7", "u32 u32 u32", 32, "vmad.s32.s32.s32.shr7 %d, %a.h1, %b.h0, %c;"},
        {"vmad.po", "u32 u32 u32", 32, "vmad.u32.u32.u32.po %d, %a.b1, %b.b0, %c;"},
        {"vmad.neg", "u32 u32 u32", 32, "vmad.s32.s32.s32.sat %d, -%a.h0, %b.h1, %c;"}}},
      {{"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"},
       {{"*2.s32.s32.s32.sat *2.u32.u32.s32 *4.s32.s32.s32.sat *4.u32.u32.u32 *4.u32.s32.u32.sat "
         "*4.u32.u32.u32.add "
         "*2.s32.s32.s32.add",
         "u32 u32 u32", 32},
        {"*2.mixed", "u32 u32 u32", 32, "$2.s32.s32.u32.sat %d.h10, %a.h21, %b.h30, %c;"}}},
      {{""}, {{"vset2.s32.u32.gt vset4.{u32.u32.le,s32.s32.ne.add}", "u32 u32 u32", 32}}}};
  return table;
}

} // namespace tile::hardware

// Every instruction that takes an address, a size, a descriptor or a place to go to.
#include "tests/fuzz/addresses/Instructions.h"

#include <sstream>
#include <vector>

namespace tile::fuzz {

std::string Draw::word(const char *list) {
  std::istringstream stream(list);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::string chosen = words[below(static_cast<uint32_t>(words.size()))];
  return chosen == "-" ? "" : chosen;
}

namespace {

std::string line(const std::string &code) { return "  " + code + ";\n"; }

// An offset in brackets.
std::string offset(Draw &draw) {
  if (!draw.oneIn(4))
    return "";
  return draw.word("+4 +16 -16 -4 +128 +1024 +2147483632 -2147483648 +1");
}

// An address, the hostile one or, where other operands are the matter, a good one of the space.
std::string wide(Draw &draw) { return "[%wide" + offset(draw) + "]"; }
std::string shared(Draw &draw) {
  return draw.oneIn(6)   ? "[tile" + offset(draw) + "]"
         : draw.oneIn(3) ? wide(draw)
                         : "[%narrow" + offset(draw) + "]";
}
std::string global(Draw &draw) {
  return draw.oneIn(4) ? "[%buffer" + offset(draw) + "]" : wide(draw);
}
std::string barrier(Draw &draw) { return draw.oneIn(3) ? "[%narrow]" : "[bars]"; }

std::string inSpace(Draw &draw, std::string &space) {
  space = draw.word("- .global .shared .shared::cta .shared::cluster .local .shared");
  return space.starts_with(".shared")         ? shared(draw)
         : space == ".local" && draw.oneIn(3) ? "[own" + offset(draw) + "]"
                                              : wide(draw);
}

std::string list(const std::string &prefix, unsigned count) {
  std::string registers = "{";
  for (unsigned i = 0; i < count; ++i)
    registers += (i ? ", " : "") + prefix + std::to_string(i);
  return registers + "}";
}

std::string loadOrStore(Draw &draw) {
  std::string space, address = inSpace(draw, space),
                     type = draw.word("b8 s8 b16 b32 b64 v2.b16 v2.b32 v4.b32 v2.b64 v4.b8 b32");
  std::string how = draw.word("- - - .volatile .relaxed.gpu");
  bool loads = draw.oneIn(2);
  if (loads && space == ".local" && draw.oneIn(4))
    space = ".param", address = "[%narrow]";
  if (space == ".local" || space == ".param")
    how = "";
  unsigned elements = type[0] == 'v' ? static_cast<unsigned>(type[1] - '0') : 1;
  std::string prefix = type.ends_with("64") ? "%rd" : type.ends_with("32") ? "%r1" : "%h";
  std::string registers = elements == 1 ? prefix + "1" : list(prefix, elements);
  return loads ? line("ld" + how + space + "." + type + " " + registers + ", " + address)
               : line("st" + how + space + "." + type + " " + address + ", " + registers);
}

std::string atomic(Draw &draw) {
  std::string space = draw.word("- .global .shared .shared::cluster"),
              address = space.starts_with(".shared") ? shared(draw) : wide(draw);
  switch (draw.below(6)) {
  case 0:
    return line("atom" + space + ".cas.b64 %rd1, " + address + ", %rd2, %rd3");
  case 1:
    return line("atom" + space + ".cas.b16 %h1, " + address + ", %h2, %h3");
  case 2:
    return line("red" + space + ".add.f32 " + address + ", %f1");
  case 3:
    return line("atom" + space + ".exch.b64 %rd1, " + address + ", %rd2");
  case 4:
    return line("red.global.add.v2.f32 " + wide(draw) + ", {%f1, %f2}");
  default:
    return line("atom" + space + "." + draw.word("add inc min max") + ".u32 %r1, " + address +
                ", %r2");
  }
}

std::string matrix(Draw &draw) {
  std::string count = draw.word("1 2 4"), trans = draw.word("- .trans"),
              space = draw.word("- .shared .shared::cta"),
              address = space.empty() ? wide(draw) : shared(draw),
              registers = list("%r1", static_cast<unsigned>(std::stoi(count)));
  if (draw.oneIn(2))
    return line("ldmatrix.sync.aligned.m8n8.x" + count + trans + space + ".b16 " + registers +
                ", " + address);
  return line("stmatrix.sync.aligned.m8n8.x" + count + trans + space + ".b16 " + address + ", " +
              registers);
}

std::string fragment(Draw &draw) {
  std::string space = draw.word("- .shared .global"),
              address = space == ".shared" ? shared(draw) : wide(draw),
              stride = draw.oneIn(2) ? ", %size" : ", 16", layout = draw.word("row col");
  if (draw.oneIn(2))
    return line("wmma.load." + draw.word("a b") + ".sync.aligned." + layout + ".m16n16k16" + space +
                ".f16 " + list("%r1", 8) + ", " + address + stride);
  return line("wmma.store.d.sync.aligned." + layout + ".m16n16k16" + space + ".f32 " + address +
              ", " + list("%f1", 8) + stride);
}

std::string copyAsync(Draw &draw) {
  std::string size = draw.word("4 8 16 16"), kind = size == "16" ? draw.word("ca cg") : "ca";
  std::string source = draw.word("- - size"),
              code = line("cp.async." + kind + ".shared.global " + shared(draw) + ", " +
                          global(draw) + ", " + size + (source.empty() ? "" : ", %size"));
  if (draw.oneIn(3))
    code += line("cp.async.mbarrier.arrive.noinc.shared.b64 " + barrier(draw));
  return code + (draw.oneIn(2) ? line("cp.async.commit_group") : "");
}

const std::string kCompletes = ".mbarrier::complete_tx::bytes";

std::string bulkCopy(Draw &draw) {
  std::string bytes = draw.word("%size %size 16 128 1984");
  switch (draw.below(6)) {
  case 0:
    return line("cp.async.bulk.shared::cluster.global" + kCompletes + " [%narrow], " +
                global(draw) + ", " + bytes + ", " + barrier(draw));
  case 1:
    return line("cp.async.bulk.shared::cluster.global" + kCompletes +
                ".multicast::cluster [%narrow], [%buffer], " + bytes + ", " + barrier(draw) +
                ", %h1");
  case 2:
    return line("cp.async.bulk.global.shared::cta.bulk_group " + global(draw) + ", " +
                shared(draw) + ", " + bytes);
  case 3:
    return line("cp.async.bulk.shared::cluster.shared::cta" + kCompletes + " [%narrow], [tile], " +
                bytes + ", " + barrier(draw));
  case 4:
    return line("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 " + global(draw) +
                ", " + shared(draw) + ", " + bytes);
  default:
    return line("cp.async.bulk.prefetch.L2.global " + global(draw) + ", " + bytes);
  }
}

std::string coordinates(Draw &draw, uint32_t rank) {
  std::string text;
  for (uint32_t d = 0; d < rank; ++d)
    text += (d ? ", " : "") +
            draw.word("0 0 0 16 -16 -4 64 4080 2147483632 -2147483648 %size %narrow 1");
  return "{" + text + "}";
}

std::string tensorCopy(Draw &draw, uint32_t rank) {
  std::string dimensions = std::to_string(rank) + "d", map = draw.oneIn(8) ? "%wide" : "%map",
              box = "[" + map + ", " + coordinates(draw, rank) + "]";
  switch (draw.below(4)) {
  case 0:
    return line("cp.async.bulk.tensor." + dimensions + ".shared::cluster.global.tile" + kCompletes +
                " [%narrow], " + box + ", " + barrier(draw));
  case 1:
    return line("cp.async.bulk.tensor." + dimensions + ".shared::cluster.global.tile" + kCompletes +
                ".multicast::cluster [%narrow], " + box + ", " + barrier(draw) + ", %h1");
  case 2:
    return line("cp.async.bulk.tensor." + dimensions + ".global.shared::cta.tile.bulk_group " +
                box + ", " + shared(draw));
  default:
    return line("cp.reduce.async.bulk.tensor." + dimensions + ".global.shared::cta." +
                draw.word("add min and") + ".tile.bulk_group " + box + ", " + shared(draw));
  }
}

std::string mapChange(Draw &draw) {
  switch (draw.below(3)) {
  case 0:
    return line("tensormap.replace.tile.global_address.global.b1024.b64 " + wide(draw) + ", %wide");
  case 1:
    return line("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 " + shared(draw) +
                ", 1, %size");
  default:
    return line("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                "aligned " +
                global(draw) + ", [%narrow], 128");
  }
}

std::string memoryBarrier(Draw &draw) {
  std::string at = shared(draw);
  switch (draw.below(7)) {
  case 0:
    return line("mbarrier.init.shared.b64 " + at + ", %size");
  case 1:
    return line("mbarrier.inval.shared.b64 " + at);
  case 2:
    return line("mbarrier.arrive.shared.b64 %rd1, " + at);
  case 3:
    return line("mbarrier.arrive.expect_tx.shared.b64 %rd1, " + at + ", %size");
  case 4:
    return line("mbarrier.test_wait.parity.shared.b64 %p1, " + at + ", 0");
  case 5:
    return line("mbarrier.arrive.release.cluster.shared::cluster.b64 _, " + at);
  default:
    return line("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 " + at + ", %size");
  }
}

std::string storeAsync(Draw &draw) {
  if (!draw.oneIn(2))
    return line("red.async.relaxed.cluster.shared::cluster" + kCompletes +
                ".add.u32 [%narrow], %r1, " + barrier(draw));
  std::string type = draw.word("u32 u64 v4.u32"), value = type == "v4.u32" ? list("%r1", 4)
                                                          : type == "u64"  ? "%rd1"
                                                                           : "%r1";
  return line("st.async.shared::cluster" + kCompletes + "." + type + " [%narrow], " + value +
              ", [bars]");
}

// Descriptors with any bits, or with the address and some strides, swizzles and base offsets.
std::string warpgroupProduct(Draw &draw) {
  std::string trans = draw.word("0 1"), make;
  if (draw.oneIn(4))
    make = line("mov.b64 %rd4, " + draw.word("%first %distance %buffer"));
  else
    make = line("and.b64 %rd4, %first, 0x3ffff") + line("shr.u64 %rd4, %rd4, 4") +
           line("or.b64 %rd4, %rd4, " +
                draw.word("0x0000000800010000 0x0000004000010000 0x4000004000010000 "
                          "0x8000002000010000 0xc000001000010000 0x400e004000010000 "
                          "0x40003fff3fff0000 0x0000000100080000 0xc0000fff00010000"));
  return make + line("wgmma.fence.sync.aligned") +
         line("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd4, " +
              draw.word("%rd4 %rd4 %first") + ", 1, 1, 1, " + trans + ", " + trans) +
         line("wgmma.commit_group.sync.aligned") + line("wgmma.wait_group.sync.aligned 0");
}

std::string addressOnly(Draw &draw) {
  switch (draw.below(7)) {
  case 0: // the address of a block that is there, then used
    return line("and.b32 %r3, %size, 1") + line("mapa.shared::cluster.u32 %narrow, %narrow, %r3") +
           line("ld.shared::cluster.u32 %r1, [%narrow]");
  case 1:
    return line("mapa.u64 %wide, %wide, %size") + line("ld.u32 %r1, [%wide]");
  case 2:
    return line("getctarank.shared::cluster.u32 %r1, %narrow");
  case 3:
    return line("isspacep.shared::cta %p1, %wide") + line("prefetch.global.L2 [%wide]");
  case 4:
    return line("prefetchu.L1 [%wide]") + line("prefetch.tensormap [%wide]");
  case 5:
    return line("discard.global.L2 [%wide], 128");
  default:
    return line("applypriority.global.L2::evict_normal [%wide], 128");
  }
}

std::string stackOrText(Draw &draw) {
  switch (draw.below(4)) {
  case 0:
    return line("alloca.u64 %rd1, %first, 16") +
           line("st.local.u32 [%rd1+" + draw.word("0 16 1024 -16") + "], %r1");
  case 1:
    return line("stackrestore.u64 %wide") + line("alloca.u64 %rd1, 64, 8388608") +
           line("st.local.u64 [%rd1], %rd2");
  case 2:
    return "  {\n  .param .b64 f;\n  .param .b64 a;\n  .param .b32 r;\n" +
           line("st.param.b64 [f], %wide") +
           line("st.param.b64 [a], " + draw.word("%wide %buffer %distance")) +
           line("call.uni (r), vprintf, (f, a)") + "  }\n";
  default: {
    std::string name = "T" + std::to_string(draw.below(1u << 30));
    return name + ": .branchtargets " + name + "A, " + name + "B;\n" +
           line("brx.idx " + draw.word("%size %narrow %lane") + ", " + name) + name + "A:\n" +
           name + "B:\n";
  }
  }
}

} // namespace

std::string drawInstruction(Draw &draw, uint32_t rank) {
  switch (draw.below(16)) {
  case 0:
  case 1:
  case 2:
    return loadOrStore(draw);
  case 3:
    return atomic(draw);
  case 4:
    return matrix(draw);
  case 5:
    return fragment(draw);
  case 6:
    return copyAsync(draw);
  case 7:
    return bulkCopy(draw);
  case 8:
  case 9:
    return tensorCopy(draw, rank);
  case 10:
    return mapChange(draw);
  case 11:
    return memoryBarrier(draw);
  case 12:
    return storeAsync(draw);
  case 13:
    return warpgroupProduct(draw);
  case 14:
    return addressOnly(draw);
  default:
    return stackOrText(draw);
  }
}

} // namespace tile::fuzz

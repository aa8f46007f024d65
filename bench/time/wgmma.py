"""C++ wrappers of wgmma for the measured kernels: bf16 with both operands in shared memory or A in registers, and e4m3."""

kColumns = (64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 256)
kNarrowColumns = (8, 16, 32, 64, 128, 256)


def instruction(name, columns, shape, operands, types, tail, arguments):
    """One member function. `arguments` are (C++ declaration, constraint, C++ value) of A and B."""
    sums = columns // 2
    registers = ", ".join(f"%{index}" for index in range(sums))
    outputs = ", ".join(f'"+f"(d[{index}])' for index in range(sums))
    declared = ", ".join([f"float (&d)[{sums}]", *(declaration for declaration, _, _ in arguments), "int scale"])
    inputs = ", ".join([*(f'"{kind}"({value})' for _, kind, value in arguments), '"r"(scale)'])
    scale = sums + len(arguments)
    return (f"  static DEV void {name}({declared}) {{\n"
            f'    asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{scale}, 0;\\n"\n'
            f'      "wgmma.mma_async.sync.aligned.m64n{columns}{shape}.f32.{types} {{{registers}}}, {operands}, '
            f'{tail}; }}\\n"\n'
            f"      : {outputs} : {inputs});\n  }}\n")


def descriptor(name):
    return (f"uint64_t {name}", "l", name)


def shared(name, columns, tail, shape="k16", types="bf16.bf16"):
    """Both operands by descriptors."""
    sums = columns // 2
    return instruction(name, columns, shape, f"%{sums}, %{sums + 1}", types, tail, [descriptor("da"), descriptor("db")])


def registers(name, columns, transposed):
    """A in four registers a thread."""
    sums = columns // 2
    a = ", ".join(f"%{sums + index}" for index in range(4))
    arguments = [(f"uint32_t a{index}", "r", f"a{index}") for index in range(4)] + [descriptor("db")]
    return instruction("rs" + "_tb" * transposed, columns, "k16", f"{{{a}}}, %{sums + 4}", "bf16.bf16",
                       f"p, 1, 1, {transposed}", arguments)


def wide():
    """wgmma.cuh. tb, ta: B or A is transposed, which is N-major or M-major."""
    text = "#pragma once\ntemplate <int N> struct Wgmma;\n"
    for columns in kColumns:
        text += (f"template <> struct Wgmma<{columns}> {{\n" + shared("ss", columns, "p, 1, 1, 0, 0")
                 + shared("ss_tb", columns, "p, 1, 1, 0, 1") + registers("rs", columns, 0) + registers("rs", columns, 1)
                 + shared("ss_ta", columns, "p, 1, 1, 1, 0") + "};\n")
    return text


def narrow():
    """wgmma2.cuh: few columns, and e4m3."""
    text = "#pragma once\ntemplate <int N> struct Wg2;\n"
    for columns in kNarrowColumns:
        text += (f"template <> struct Wg2<{columns}> {{\n" + shared("ss", columns, "p, 1, 1, 0, 0")
                 + shared("ss_ta", columns, "p, 1, 1, 1, 0") + shared("f8", columns, "p, 1, 1", "k32", "e4m3.e4m3") + "};\n")
    return text

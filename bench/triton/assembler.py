"""What an assembler makes of PTX: registers, spills, instructions. Triton is not needed here."""
import os
import re
import subprocess
import sys
import tempfile


def choose(asked, triton_folder):
    """The assembler that is asked for; else the one that Triton's wheel brings, since PTX of Triton may be newer than an installed one
    reads; else that of PATH."""
    own = os.path.join(triton_folder, "backends/nvidia/bin/ptxas")
    return asked or (own if os.access(own, os.X_OK) else "ptxas")


def report(ptx, ptxas, target):
    """Registers, spilled bytes and machine instructions that an assembler makes of PTX."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as out:
            out.write(ptx)
        done = subprocess.run([ptxas, f"-arch={target}", "-v", source, "-o", cubin], capture_output=True, text=True)
        log = done.stderr
        if done.returncode:
            reason = next((line for line in log.splitlines() if line.strip()), "it says nothing")
            sys.exit(f"{ptxas} does not take the PTX for {target}: {reason}\ngive a newer one by --ptxas")
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        spills = int(re.search(r"(\d+) bytes spill stores", log).group(1))
        return registers, spills, text_bytes(cubin) // 16  # an instruction takes 16 bytes on sm_80


def text_bytes(cubin):
    """Size of the code section: ELF64 section headers, names beginning with .text."""
    data = open(cubin, "rb").read()
    number = lambda at, size: int.from_bytes(data[at:at + size], "little")
    table, entry, count, names = number(0x28, 8), number(0x3A, 2), number(0x3C, 2), number(0x3E, 2)
    name_table = number(table + names * entry + 0x18, 8)
    total = 0
    for i in range(count):
        header = table + i * entry
        name = data[name_table + number(header, 4):].split(b"\0", 1)[0]
        if name.startswith(b".text"):
            total += number(header + 0x20, 8)
    return total

"""Machine code of kernels: the assembler's report and the loop that multiplies."""
import os
import re
import subprocess
import sys
import sysconfig

REGISTERS_AT_ONCE = 8  # a thread is given a multiple of these

PACKAGES = ["nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-nvdisasm==13.*"]
TOOLS = [os.path.join(sysconfig.get_paths()["purelib"], *path)
         for path in (("nvidia", "cu13", "bin"), ("triton", "backends", "nvidia", "bin"))]


def environment(folder):
    """Runs this command again in a virtual environment with the assembler of CUDA 13.0, if this one lacks it."""
    if os.path.exists(os.path.join(TOOLS[0], "ptxas")):
        return
    python = os.path.join(folder, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        sys.exit(f"{folder} lacks {' or '.join(PACKAGES)}: remove it and try again")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    os.execv(python, [python, *sys.argv])


def tool(name, *arguments):
    """CUDA's, else Triton's."""
    path = next(path for folder in TOOLS if os.path.exists(path := os.path.join(folder, name)))
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=True)


def instructions(cubin, kernel=""):
    """The instructions in order, of kernels with this in their name, and for each branch among them, by number, that of its
    target."""
    code, labels, is_meant = [], {}, True
    for line in tool("nvdisasm", "-c", cubin).stdout.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.(\w+)", line)
        if section:
            is_meant = kernel in section.group(1)
        if not is_meant:
            continue
        label = re.match(r"\s*(\.L\w+):", line)
        if label:
            labels[label.group(1)] = len(code)
        text = re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?);", line)
        if text:
            code.append(text.group(1))
    return code, {at: labels.get(branch.group(1)) for at, op in enumerate(code)
                  if (branch := re.search(r"BRA.*`\((\.L\w+)\)", op))}


def main_loop(cubin, product="HMMA", runs=(), kernel=""):
    """The shortest loop that multiplies, from the target of a backward branch to the branch: the instructions of an iteration
    that takes every forward branch in it, and the number of those it jumps over. A jump over an instruction of `runs` is not
    taken."""
    code, targets = instructions(cubin, kernel)
    best = None
    for end, begin in targets.items():
        # Behind the end of the kernel stand waits that are tried again, which lead back into what is no loop.
        is_loop = begin is not None and begin <= end and not any(op.strip() == "EXIT" for op in code[begin:end])
        if is_loop and any(product in op for op in code[begin:end]):
            if best is None or end - begin < best[1] - best[0]:
                best = begin, end
    taken, at, end = [], best[0], best[1]
    while at <= end:
        taken.append(code[at])
        target = targets.get(at)
        jumps = target is not None and at < target <= end
        over = code[at:target] if jumps else []
        at = target if jumps and not any(run in op for run in runs for op in over) else at + 1
    return taken, end + 1 - best[0] - len(taken)


def report(ptx, cubin, target, kernel=""):
    """Registers and spilled bytes (the most of kernels with this in their name) and remarks of the assembler, which writes `cubin`."""
    log = tool("ptxas", f"-arch={target}", "-v", ptx, "-o", cubin).stderr
    taken = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", log, re.DOTALL)
    taken = [(int(spilled), int(count)) for name, spilled, count in taken if kernel in name]
    registers = max(count for _, count in taken)
    return {"registers": registers, "registers given": -(-registers // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE,
            "spilled bytes": max(spilled for spilled, _ in taken),
            "remarks": " ".join(sorted(set(re.findall(r"C75\d\d", log)))) or "none"}

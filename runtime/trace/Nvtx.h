// Ranges for NVIDIA's tools (Nsight Systems, Nsight Compute).
//
// NVTX has no library of its own since its version 3: its headers compile into a program a table of pointers to functions,
// empty until a tool fills it. A tool is a library whose path it puts into NVTX_INJECTION64_PATH of the program that it
// starts; it has a function InitializeInjectionNvtx2, which asks for the table by numbers that are part of NVTX's binary
// interface and so never change. We take the headers' part in that: without a tool nothing is loaded, and nothing of
// NVIDIA's is needed. (libnvToolsExt.so, of version 2, was dropped from CUDA, and did the same for its callers.)
#pragma once

namespace tile::trace {

class Nvtx {
public:
  /// The tool that listens, loaded when it is first asked for; null if there is none. One that cannot be loaded is a warning.
  static Nvtx *ofProcess();

  /// A range of the calling thread begins; the one that began last ends.
  void push(const char *name) const { push_(name); }
  void pop() const { pop_(); }

private:
  using Push = int (*)(const char *);
  using Pop = int (*)();

  Nvtx(Push push, Pop pop) : push_(push), pop_(pop) {}

  Push push_;
  Pop pop_;
};

} // namespace tile::trace

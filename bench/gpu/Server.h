// The benchmark's server: makes tensors, runs ops and scores them for a program that speaks to it by lines of JSON, so that
// our ops can be timed in turn with those of libraries that live in Python.
//
// Each line of standard input is a request, each line of standard output its answer, in that order:
//   {"do": "hello"}                                        {"ok": {"product": "NVIDIA H100", "virtual": false, ...}}
//   {"do": "tensor", "name": "a", "dtype": "bf16", "count": 4096, "seed": 1}   (Tensors::make)
//   {"do": "keep", "names": ["a"]}                         lets go of all other tensors
//   {"do": "save", "name": "a", "count": 4096, "file": F}  (Tensors::save)
//   {"do": "run", "op": "softmax", "operands": ...}        makes the call (Calls.h) and waits for it
//   {"do": "score", "op": "softmax", "operands": ...}      makes it once more and says what it cost (Score.h)
// A request that fails is answered by {"error": "what", "code": "InvalidArgument"}, and the next one is read.
#pragma once

#include <iosfwd>
#include <string>

namespace tile::bench {

/// Answers until `requests` end. `device` is a name as Device::open takes it, or empty for the best one there is. Throws
/// Error if it cannot be opened.
void serve(const std::string &device, std::istream &requests, std::ostream &answers);

} // namespace tile::bench

// Models and training runs in safetensors files.
//
// A file is replaced as a whole or not at all. Errors of all: IoError if a file cannot be read or
// written, Parse if it is none, InvalidArgument for tensors that are missing or more than expected,
// InvalidShape for other extents; each names the file, the tensor and both shapes. A refused file
// changes nothing.
#pragma once

#include <tile/nn/Optimizers.h>
#include <tile/ops/Random.h>

#include <map>
#include <string>

namespace tile::nn {

/// The parameters, by name.
void saveParameters(const std::string &path, const Module &module, Loc loc = Loc::here());
/// Sets the parameters, of the same names and extents; other dtypes are rounded to theirs. Files of
/// saveTraining will do too.
void loadParameters(const std::string &path, const Module &module, Loc loc = Loc::here());

/// Where a run is, besides its parameters and its optimizer.
struct TrainingState {
  int64_t step = 0;
  ops::Generator generator;
  /// Texts of the program's own, such as the options of its model: `notesOf` reads them before
  /// there is one.
  std::map<std::string, std::string> notes = {};
};
/// Everything that a run needs to go on as if it had not been interrupted, to the last bit:
/// parameters, what the optimizer keeps, and the state.
void saveTraining(const std::string &path, const Module &module, const Optimizer &optimizer,
                  const TrainingState &state, Loc loc = Loc::here());
/// The notes of a file of saveTraining; of other files none.
std::map<std::string, std::string> notesOf(const Stream &stream, const std::string &path,
                                           Loc loc = Loc::here());
/// Sets the parameters and the optimizer, and returns the state. Dtypes must be the same.
TrainingState loadTraining(const std::string &path, const Module &module, Optimizer &optimizer,
                           Loc loc = Loc::here());

} // namespace tile::nn

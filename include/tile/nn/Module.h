// Modules: functions of variables that own parameters, each of which has a name.
//
//   struct Classifier : nn::Module {
//     nn::Linear hidden, output;
//     Classifier(const Stream &stream, ops::Generator &generator)
//         : hidden(stream, generator, 64, 128), output(stream, generator, 128, 10) {}
//     Variable operator()(const Variable &x) const { return output(autograd::relu(hidden(x))); }
//     void members(nn::Members &add) const override {
//       add("hidden", hidden), add("output", output);
//     }
//   };
//
// A module is a value: its parameters are variables, so a copy of it has the same ones, not others.
// `members` names what is inside; nothing is registered while a module is built, so modules can be
// moved, kept in vectors and left out.
#pragma once

#include <tile/autograd/Variable.h>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace tile::nn {

using autograd::Variable;
class Module;

/// A parameter and where it is in a module: "blocks.3.mlp.up.weight".
struct NamedVariable {
  std::string name;
  Variable variable;
};

/// What a module is asked to fill: its parameters and the modules inside it, in a fixed order.
class Members {
public:
  /// A parameter. Variable() is one that is left out; one that was named before, as tied weights
  /// are, counts once.
  void operator()(std::string_view name, const Variable &parameter);
  /// A module; its members get names that begin with this one and a dot.
  void operator()(std::string_view name, const Module &inside);
  /// Modules with the names "name.0", "name.1", ...
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, const std::vector<M> &inside) {
    for (size_t i = 0; i < inside.size(); ++i)
      (*this)(std::string(name) + "." + std::to_string(i), static_cast<const Module &>(inside[i]));
  }

private:
  friend class Module;
  std::string prefix_;
  std::vector<NamedVariable> parameters_;
};

class Module {
public:
  Module() = default;
  Module(const Module &) = default;
  Module(Module &&) = default;
  Module &operator=(const Module &) = default;
  Module &operator=(Module &&) = default;
  virtual ~Module() = default;

  /// Names the parameters and modules inside.
  virtual void members(Members &add) const = 0;

  /// All parameters, also of modules inside, in the order in which `members` names them. Error:
  /// InvalidArgument if two have one name.
  std::vector<NamedVariable> parameters(Loc loc = Loc::here()) const;
  /// The number of their elements.
  int64_t parameterCount() const;
  /// Forgets the gradients of all parameters.
  void clearGrads() const;
};

} // namespace tile::nn

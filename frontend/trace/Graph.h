// The recorded program: nodes in scopes. A trace records what the user's lambda asked for in this
// graph; after Ordering has fixed an order that does not depend on the host compiler, Emit turns it
// into MLIR one node at a time. Keeping our own graph makes Var's SSA construction and the
// reordering simple, and MLIR headers stay out of most of the frontend.
#pragma once

#include <tile/Error.h>
#include <tile/Shape.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tile::frontend {

using NodeId = uint32_t;
using ScopeId = uint32_t;
inline constexpr NodeId kNoNode = ~0u;
inline constexpr ScopeId kNoScope = ~0u;

/// What a node's result is: a tile or scalar, a pointer or tile of pointers, or a view.
struct TileType {
  enum Category : uint8_t { Data, Pointer, View } category = Data;
  DType dtype = i32; ///< of pointers: the pointee; of views: the element
  Shape shape;       ///< of views: empty
  int viewRank = 0;

  bool isScalar() const { return shape.rank() == 0; }
  bool operator==(const TileType &) const = default;
  /// "f16[128x64]", "i32", "ptr<f16>[128]"
  std::string str() const;
};

/// An attribute of an op, in the few forms the dialects need.
struct Attribute {
  enum Kind : uint8_t { Unit, I32, I64, I32Array, I64Array, BoolArray, String, Symbol } kind = Unit;
  const char *name = "";
  std::vector<int64_t> numbers;
  std::string text = {}; ///< of a String or Symbol
};

/// A node's effect on memory, which decides what may be reordered around it.
enum class Effect : uint8_t { None, Read, Write, Control };

struct Node {
  enum Kind : uint8_t {
    Op,       ///< an operation, by its MLIR name
    Constant, ///< a number or a tile filled with one
    FuncArg,  ///< argument `index` of the kernel
    BlockArg, ///< argument of a region: loop index, carried value, operand of a combine function
    Result,   ///< result `index` of operands[0], a node with several
    Alias,    ///< stands for operands[0]
  } kind = Op;
  Effect effect = Effect::None;
  const char *name = ""; ///< of an Op: "arith.addf", ...
  TileType type;         ///< of the (first) result
  std::vector<NodeId> operands;
  std::vector<Attribute> attributes;
  std::vector<ScopeId> regions;
  std::vector<TileType> results; ///< of an Op with regions: all of its results
  int64_t integer = 0;           ///< of a Constant of integer type
  double number = 0;             ///< of a Constant of float type
  int index = 0;
  int root = -1; ///< of a Read or Write: the kernel argument it goes through, -1 for any
  Loc loc;
  ScopeId scope = 0;
};

/// A region of the program while it is traced and afterwards.
struct Scope {
  enum Kind : uint8_t {
    Kernel,
    For,
    Then,
    Else,
    WhileCondition,
    WhileBody,
    Combine,
    Function
  } kind = Kernel;
  ScopeId parent = kNoScope;
  Loc opened;
  bool closed = false;
  NodeId guard = kNoNode;      ///< of a Then that `guard` opened: its condition
  std::vector<NodeId> effects; ///< writes and control flow, in program order
  std::vector<NodeId> arguments;
  std::vector<NodeId> yields; ///< of a WhileCondition: the condition, then the carried values

  struct Slot {
    uint32_t variable;
    NodeId current = kNoNode;
    NodeId placeholder = kNoNode; ///< stands for the value carried into a loop's body
    bool written = false;
  };
  std::vector<Slot> slots; ///< variables touched here

  bool isLoop() const { return kind == For || kind == WhileCondition || kind == WhileBody; }
};

/// A Var: where it was made, and what it holds.
struct Variable {
  ScopeId home;
  TileType type;
  Loc madeAt;
};

/// A function that is called: a callable, traced for arguments of these types.
struct Function {
  uint64_t callable = 0;
  std::string symbol; ///< in the IR
  ScopeId scope = kNoScope;
  std::vector<TileType> arguments, results;
  Loc where;
  uint32_t finished = 0; ///< how many were finished with it, so callees have less; 0: being traced
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Scope> scopes;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::set<std::pair<int, int>> aliases; ///< arguments that may overlap, each pair in both orders

  /// The node that stands behind aliases.
  NodeId resolve(NodeId id) const {
    while (nodes[id].kind == Node::Alias)
      id = nodes[id].operands[0];
    return id;
  }
  /// Different arguments do not overlap unless the kernel says so; an address of unknown origin (-1) may be
  /// anywhere.
  bool mayAlias(int rootA, int rootB) const {
    return rootA == rootB || rootA < 0 || rootB < 0 || aliases.contains({rootA, rootB});
  }
};

} // namespace tile::frontend

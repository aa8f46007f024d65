// What holds for the arguments of all ops, row by row of PublicOps.h: a wrong one is refused in one line that names the op
// and the argument, before anything is written; a right one may be empty, hold any numbers and lie in any memory order.
#include "tests/execution/Harness.h"
#include "tests/ops/PlacedTensor.h"
#include "tests/ops/PublicOps.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Activations.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tile::test {
namespace {

EXECUTION_SUITE(OpArguments, Targets::One);

using ops::Operand;

/// The tensors of a call as the table has them, to be changed before it.
std::vector<Layout> layoutsOf(const PublicOp &op, char emptied = 0) {
  std::vector<Layout> layouts;
  for (const Parameter &parameter : op.parameters) {
    std::vector<int64_t> extents;
    for (const char *letter = parameter.extents; *letter; ++letter)
      extents.push_back(*letter == emptied ? 0 : extentOf(*letter));
    layouts.emplace_back(parameter.dtype, extents);
  }
  return layouts;
}

std::string describe(const PublicOp &op, size_t parameter) {
  return op.title() + ", " + op.parameters[parameter].name;
}

/// Calls `use(op, parameter)` for all.
template <class Use> void forParameters(Use use) {
  for (const PublicOp &op : publicOps())
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      SCOPED_TRACE(describe(op, i));
      use(op, i);
    }
}

/// The tensors of a call, in memory.
struct Call {
  const PublicOp &op;
  std::vector<Placed> placed = {};
  std::vector<Operand> operands = {};

  Call(const Device &device, const PublicOp &op, const std::vector<Layout> &layouts,
       Contents contents = Contents::Plain)
      : op(op) {
    for (const Layout &layout : layouts) {
      placed.emplace_back(device, layout, contents);
      operands.push_back(placed.back().operand());
    }
  }
  void run(const Stream &stream) { op.call(stream, operands), stream.synchronize(); }

  void expectUntouched(bool mayWrite) const {
    for (size_t i = 0; i < placed.size(); ++i)
      EXPECT_TRUE(placed[i].isUntouched(mayWrite && op.parameters[i].is(Parameter::Out)))
          << describe(op, i) << ": memory has changed";
  }
  bool isEinsum() const { return std::string(op.name) == "einsum"; }
  /// The tensor as messages describe it; empty for ops whose messages describe a part or a rearrangement of it.
  std::string shapeOf(size_t parameter) const {
    bool speaksOfHalves = std::string(op.name).starts_with("swigluHalves");
    return isEinsum() || speaksOfHalves ? "" : operands[parameter].str();
  }
  /// The call is refused with one of these codes, in one line that names the op and the parameter, and says `words`.
  void expectRefused(const Stream &stream, std::initializer_list<ErrorCode> codes, size_t parameter,
                     const std::string &words = "") {
    expectRefused(stream, codes, std::string(op.parameters[parameter].name), words);
  }
  void expectRefused(const Stream &stream, std::initializer_list<ErrorCode> codes,
                     const std::string &name, const std::string &words) {
    try {
      run(stream);
      ADD_FAILURE() << "not refused: " << name;
    } catch (const Error &error) {
      std::string message = error.message(), start = std::string(op.name) + ": ";
      EXPECT_TRUE(std::find(codes.begin(), codes.end(), error.code()) != codes.end())
          << nameOf(error.code()) << " " << error.what();
      EXPECT_EQ(error.fault(), Fault::User) << message;
      EXPECT_EQ(message.substr(0, start.size()), start) << message;
      EXPECT_TRUE(message.find(name) != std::string::npos ||
                  (isEinsum() && message.find("the result") != std::string::npos))
          << message;
      EXPECT_NE(message.find(words), std::string::npos) << message << "\n expected: " << words;
      EXPECT_TRUE(isEinsum() ||
                  message.find('\n') == std::string::npos) // it shows the formula below
          << message;
      EXPECT_TRUE(error.file().ends_with("PublicOps.cpp") ||
                  error.file().ends_with("PublicRowOps.cpp"))
          << "not at the caller's line";
    }
    expectUntouched(false);
  }
  /// The call runs and writes its outputs alone.
  void expectRuns(const Stream &stream) {
    try {
      run(stream);
    } catch (const Error &error) {
      ADD_FAILURE() << error.what();
    }
    expectUntouched(true);
  }
  /// One of both.
  void expectRunsOrRefused(const Stream &stream, size_t parameter) {
    try {
      run(stream);
      expectUntouched(true);
    } catch (const Error &) {
      expectRefused(stream,
                    {ErrorCode::InvalidArgument, ErrorCode::InvalidShape, ErrorCode::Unsupported},
                    parameter);
    }
  }
};

TEST_P(OpArguments, AbsentTensorsAreRefusedUnlessOptional) {
  forParameters([&](const PublicOp &op, size_t i) {
    if (op.parameters[i].is(Parameter::Chooses))
      return;
    std::vector<Layout> layouts = layoutsOf(op);
    layouts[i].isAbsent = true;
    Call call(device(), op, layouts);
    if (op.parameters[i].is(Parameter::Optional))
      call.expectRuns(stream);
    else
      call.expectRefused(stream, {ErrorCode::InvalidArgument}, i, "is no tensor");
  });
}

TEST_P(OpArguments, WrongDtypesAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    if (op.parameters[i].is(Parameter::AnyDtype))
      return;
    for (DType dtype : {i1, e4m3, op.parameters[i].is(Parameter::Index) ? f32 : u64}) {
      std::vector<Layout> layouts = layoutsOf(op);
      layouts[i].dtype = dtype;
      Call call(device(), op, layouts);
      bool isNumber = dtype != i1 && dtype != e4m3;
      if (isNumber && !op.parameters[i].is(Parameter::Index))
        call.expectRunsOrRefused(stream, i);
      else
        call.expectRefused(stream, {ErrorCode::InvalidArgument}, i, call.operands[i].str());
    }
  });
}

TEST_P(OpArguments, WrongRanksAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    const Parameter &parameter = op.parameters[i];
    auto check = [&](std::vector<int64_t> extents, bool mayRun) {
      std::vector<Layout> layouts = layoutsOf(op);
      layouts[i].reshape(std::move(extents));
      Call call(device(), op, layouts);
      if (mayRun)
        call.expectRunsOrRefused(stream, i);
      else
        // Axes that are not there are wrong arguments.
        call.expectRefused(stream, {ErrorCode::InvalidShape, ErrorCode::InvalidArgument}, i,
                           call.shapeOf(i));
    };
    bool isFree = parameter.is(Parameter::AnyRank);
    bool isOutput = parameter.is(Parameter::Out), broadcasts = parameter.is(Parameter::Broadcast);
    std::vector<int64_t> extents = layoutsOf(op)[i].extents, more = extents;
    check({extents.begin() + 1, extents.end()}, isFree || (broadcasts && !isOutput));
    check({}, isFree || (broadcasts && !isOutput));
    more.insert(more.begin(), 2);
    check(more, isFree || (broadcasts && isOutput));
    while (more.size() < kMaxRank)
      more.insert(more.begin(), 1);
    check(more, isFree || broadcasts);
  });
}

/// Whether another parameter has this letter.
bool isShared(const PublicOp &op, size_t parameter, char letter) {
  for (size_t i = 0; i < op.parameters.size(); ++i)
    if (i != parameter && std::string(op.parameters[i].extents).find(letter) != std::string::npos)
      return true;
  return false;
}

TEST_P(OpArguments, ExtentsThatDoNotFitAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    std::string letters = op.parameters[i].extents;
    for (size_t dim = 0; dim < letters.size(); ++dim)
      for (int64_t change : {+1, -1, -100}) {
        std::vector<Layout> layouts = layoutsOf(op);
        std::vector<int64_t> extents = layouts[i].extents;
        extents[dim] = std::max<int64_t>(extents[dim] + change, 0);
        layouts[i].reshape(extents);
        Call call(device(), op, layouts);
        bool broadcasts = op.parameters[i].is(Parameter::Broadcast) && extents[dim] == 1;
        if (isShared(op, i, letters[dim]) && !broadcasts)
          call.expectRefused(stream, {ErrorCode::InvalidShape}, i, call.shapeOf(i));
        else
          call.expectRunsOrRefused(stream, i);
      }
  });
}

TEST_P(OpArguments, TensorsOfAnotherDeviceAreRefused) {
  Device other = Device::open(device().target() == "sm_80" ? "virtual:sm_90a" : "virtual:sm_80");
  forParameters([&](const PublicOp &op, size_t i) {
    std::vector<Layout> layouts = layoutsOf(op);
    Call call(device(), op, layouts);
    call.placed[i] = Placed(other, layouts[i], Contents::Plain);
    call.operands[i] = call.placed[i].operand();
    call.expectRefused(stream, {ErrorCode::WrongDevice}, i);
  });
}

TEST_P(OpArguments, AddressesThatAreNoneAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    std::vector<Layout> layouts = layoutsOf(op);
    for (bool isNull : {true, false}) {
      Call call(device(), op, layouts);
      char *address = isNull ? nullptr : static_cast<char *>(call.operands[i].data()) + 1;
      call.operands[i] = Operand(ref(address, {1}))
                             .strided(layouts[i].extents, layouts[i].strides)
                             .as(layouts[i].dtype);
      call.expectRefused(stream, {ErrorCode::InvalidArgument}, i,
                         isNull ? "at a null pointer" : "at an address that is not a multiple");
    }
  });
}

TEST_P(OpArguments, SizesBeyond64BitsAreRefused) {
  auto memory = device().tensor<float>({4});
  constexpr int64_t kHuge = int64_t{1} << 40;
  auto *address = static_cast<float *>(memory.data());
  const Operand sizes[] = {ref(address, {kHuge, kHuge}), ref(address, {2, 2}, {kHuge << 21, 1})};
  for (const Operand &x : sizes)
    expectRefused(ErrorCode::InvalidShape, "relu: y is " + x.str() + ", which spans more than 2^63",
                  [&] { ops::relu(stream, x, x); });
}

TEST_P(OpArguments, StreamsThatAreNoneAreRefused) {
  Stream none;
  for (const PublicOp &op : publicOps()) {
    SCOPED_TRACE(op.title());
    Call call(device(), op, layoutsOf(op));
    call.expectRefused(none, {ErrorCode::InvalidHandle}, "the stream handle is empty", "");
  }
}

TEST_P(OpArguments, OutputsThatOverlapAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    if (!op.parameters[i].is(Parameter::Out))
      return;
    for (size_t other = 0; other < op.parameters.size(); ++other) {
      Call call(device(), op, layoutsOf(op));
      // Two tensors of one element each have equal strides in effect, so that one may be the other.
      if (other == i || (call.operands[i].numel() == 1 && call.operands[other].numel() == 1))
        continue;
      // By one element, or as many as are one of the output.
      int64_t shift =
          static_cast<int64_t>(sizeOf(op.parameters[i].dtype) / sizeOf(op.parameters[other].dtype));
      bool isOne = call.operands[other].numel() == 1;
      call.operands[i] = call.placed[other]
                             .operand(isOne ? 0 : std::max<int64_t>(shift, 1))
                             .as(call.operands[i].dtype())
                             .reshaped(std::vector<int64_t>(layoutsOf(op)[i].extents));
      call.expectRefused(stream, {ErrorCode::Aliasing}, i, op.parameters[other].name);
    }
  });
}

TEST_P(OpArguments, OutputsThatRepeatElementsAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    std::vector<Layout> layouts = layoutsOf(op);
    if (!op.parameters[i].is(Parameter::Out) || layouts[i].extents[0] == 1)
      return;
    layouts[i].strides[0] = 0;
    Call(device(), op, layouts).expectRefused(stream, {ErrorCode::Aliasing}, i, "a stride of 0");
  });
}

/// A tensor class of a user's own, which says a rank that no tensor has.
struct WithRank {
  float *memory;
  int said;

  DType dtype() const { return f32; }
  int rank() const { return said; }
  int64_t extent(int) const { return 1; }
  int64_t stride(int) const { return 1; }
  float *data() const { return memory; }
};

TEST_P(OpArguments, RanksThatNoTensorHasAreRefused) {
  auto y = device().tensor<float>({1, 1});
  for (int rank : {9, 256 + 2, -1}) {
    WithRank x{static_cast<float *>(y.data()), rank};
    for (auto call : std::initializer_list<std::function<void()>>{[&] { ops::relu(stream, x, y); },
                                                                  [&] { ops::relu(stream, y, x); }})
      expectRefused(ErrorCode::InvalidShape, "has a rank that is not between 0 and 8", call);
  }
}

TEST_P(OpArguments, EmptyTensorsAreFine) {
  for (const PublicOp &op : publicOps()) {
    std::string letters;
    for (const Parameter &parameter : op.parameters)
      for (const char *letter = parameter.extents; *letter; ++letter)
        if (letters.find(*letter) == std::string::npos && *letter != '1' &&
            op.nonEmpty.find(*letter) == std::string_view::npos)
          letters += *letter;
    for (char letter : letters) {
      SCOPED_TRACE(op.title() + ", " + letter + " = 0");
      Call(device(), op, layoutsOf(op, letter)).expectRuns(stream);
    }
  }
}

TEST_P(OpArguments, AnyNumbersAreFine) {
  for (const PublicOp &op : publicOps()) {
    SCOPED_TRACE(op.title());
    Call(device(), op, layoutsOf(op), Contents::Special).expectRuns(stream);
  }
}

TEST_P(OpArguments, NegativeStridesAreRefused) {
  forParameters([&](const PublicOp &op, size_t i) {
    std::vector<Layout> layouts = layoutsOf(op);
    layouts[i].reverse();
    Call(device(), op, layouts)
        .expectRefused(stream, {ErrorCode::Unsupported}, i, "a negative stride");
  });
}

TEST_P(OpArguments, InputsMayRepeatElements) {
  forParameters([&](const PublicOp &op, size_t i) {
    std::vector<Layout> layouts = layoutsOf(op);
    if (op.parameters[i].is(Parameter::Out) || layouts[i].extents.size() < 2)
      return;
    layouts[i].strides[0] = 0;
    Call repeated(device(), op, layouts), plain(device(), op, layoutsOf(op));
    plain.placed[i].copyElements(repeated.placed[i]);
    repeated.expectRuns(stream), plain.expectRuns(stream);
    for (size_t output = 0; output < op.parameters.size(); ++output)
      if (op.parameters[output].is(Parameter::Out)) {
        std::vector<double> got = repeated.placed[output].elements();
        std::vector<double> expected = plain.placed[output].elements();
        for (size_t at = 0; at < got.size(); ++at)
          ASSERT_NEAR(got[at], expected[at], 1e-3 * std::max(1.0, std::abs(expected[at])))
              << describe(op, output) << " at " << at;
      }
  });
}

} // namespace
} // namespace tile::test

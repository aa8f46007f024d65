// Exchange by DLPack with a taker and a producer of memory of the host, which the virtual GPU copies.
#include "runtime/device/Device.h"
#include "tests/runtime/jit/Devices.h"

#include <tile/DLPack.h>

#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

namespace tile {
namespace {

using dlpack::DeviceType;
using dlpack::ElementType;
using dlpack::Layout;
using dlpack::TypeCode;
using test::errorOf;

constexpr ElementType kFloat = {TypeCode::Float, 32, 1};

/// A producer's tensor, and how often it was given back.
template <class Managed> struct Produced {
  std::vector<int64_t> shape, strides;
  Managed managed = {};
  int deleted = 0;
  bool throws = false;

  Produced(void *data, std::vector<int64_t> ofShape, std::vector<int64_t> ofStrides = {},
           ElementType type = kFloat)
      : shape(std::move(ofShape)), strides(std::move(ofStrides)) {
    managed.manager_ctx = this;
    managed.deleter = [](Managed *self) {
      auto *own = static_cast<Produced *>(self->manager_ctx);
      ++own->deleted;
      if (own->throws)
        throw std::runtime_error("by the deleter");
    };
    managed.dl_tensor = {data, {DeviceType::Cpu, 0}, static_cast<int32_t>(shape.size()),
                         type, shape.data(),         strides.empty() ? nullptr : strides.data(),
                         0};
    if constexpr (requires { managed.version; })
      managed.version = {1, 1};
  }
  Produced(const Produced &) = delete;
};
using Versioned = Produced<dlpack::ManagedTensorVersioned>;
using Unversioned = Produced<dlpack::ManagedTensor>;

class DLPack : public testing::Test {
protected:
  /// Of a tensor that is taken by `device_`, and given back at once as it is copied.
  template <class Managed> std::vector<float> taken(Produced<Managed> &produced) {
    Tensor tensor = fromDlpack(device_, &produced.managed);
    EXPECT_EQ(produced.deleted, 1);
    return TensorOf<float>(tensor).download();
  }
  Error refused(Versioned &produced) {
    Error error = errorOf([&] { (void)fromDlpack(device_, &produced.managed); });
    EXPECT_EQ(produced.deleted, 1) << error.what();
    EXPECT_NE(error.file().find("DLPackTest.cpp"), std::string::npos);
    return error;
  }

  Device device_ = Device::open("virtual:sm_90a");
  std::vector<float> values_ = test::ramp(24, 0);
};

TEST_F(DLPack, EveryDtypeComesBackAsItWas) {
  for (DType dtype : {i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
    constexpr int64_t kExtents[] = {3, 5};
    Tensor tensor(device_, dtype, kExtents);
    std::vector<unsigned char> bytes(tensor.bytes()), back(tensor.bytes());
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(dtype == i1 ? i % 2 : 37 * i + 11);
    tensor.uploadBytes(bytes.data(), bytes.size());
    for (bool isVersioned : {true, false}) {
      Tensor other = isVersioned ? fromDlpack(device_, toDlpack(tensor))
                                 : fromDlpack(device_, toUnversionedDlpack(tensor));
      EXPECT_EQ(other.dtype(), dtype);
      EXPECT_TRUE(std::ranges::equal(other.extents(), kExtents));
      other.downloadBytes(back.data(), back.size());
      EXPECT_EQ(back, bytes) << nameOf(dtype);
    }
  }
}

TEST_F(DLPack, ATakerGetsACopyOfTheVirtualGpusMemory) {
  auto tensor = device_.tensor<float>({4, 6}, values_);
  auto *given = toDlpack(tensor.T());
  const Layout &layout = given->dl_tensor;
  EXPECT_EQ(given->version.major, 1u);
  EXPECT_EQ(given->version.minor, 1u);
  EXPECT_EQ(given->flags, dlpack::kIsCopied);
  EXPECT_EQ(layout.device.type, DeviceType::Cpu);
  EXPECT_EQ(layout.dtype.code, TypeCode::Float);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(layout.data) % 256, 0u);
  ASSERT_EQ(layout.ndim, 2);
  EXPECT_EQ(layout.shape[0], 6);
  EXPECT_EQ(layout.shape[1], 4);
  auto *elements = static_cast<float *>(layout.data);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 4; ++j)
      EXPECT_EQ(elements[i * layout.strides[0] + j * layout.strides[1]], values_[j * 6 + i]);
  elements[0] = 99;
  EXPECT_EQ(tensor.download()[0], 0);
  tensor = {}; // what was given stays
  EXPECT_EQ(elements[23], 23);
  given->deleter(given);
}

TEST_F(DLPack, TensorsWithoutElementsOrDimensions) {
  auto *empty = toDlpack(device_.tensor<float>({3, 0, 2}));
  EXPECT_EQ(empty->dl_tensor.data, nullptr);
  Tensor back = fromDlpack(device_, empty);
  EXPECT_EQ(back.numel(), 0);
  EXPECT_EQ(back.rank(), 3);
  float value = 7;
  Versioned scalar(&value, {});
  EXPECT_EQ(taken(scalar), std::vector<float>{7});
  EXPECT_EQ(errorOf([] { (void)toDlpack(Tensor()); }).code(), ErrorCode::InvalidHandle);
}

TEST_F(DLPack, NullStridesAreRowMajor) {
  Versioned versioned(values_.data(), {4, 6});
  EXPECT_EQ(taken(versioned), values_);
  Unversioned unversioned(values_.data(), {2, 3, 4});
  EXPECT_EQ(taken(unversioned), values_);
}

TEST_F(DLPack, OffsetsStridesAndBroadcasts) {
  Versioned column(values_.data(), {4, 1}, {6, -77}); // the stride of one element says nothing
  column.managed.dl_tensor.byte_offset = 2 * sizeof(float);
  EXPECT_EQ(taken(column), (std::vector<float>{2, 8, 14, 20}));
  Versioned transposed(values_.data(), {6, 4}, {1, 6});
  EXPECT_EQ(taken(transposed)[1], 6);
  Versioned repeated(values_.data(), {3, 2}, {0, 1});
  EXPECT_EQ(taken(repeated), (std::vector<float>{0, 1, 0, 1, 0, 1}));
}

TEST_F(DLPack, HostMemoryNeedNoAlignment) {
  std::vector<std::byte> bytes(4 * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, values_.data(), 4 * sizeof(float));
  Versioned odd(bytes.data() + 1, {4});
  EXPECT_EQ(taken(odd), (std::vector<float>{0, 1, 2, 3}));
  Versioned gaps(bytes.data() + 1, {2}, {2});
  EXPECT_EQ(taken(gaps), (std::vector<float>{0, 2}));
}

TEST_F(DLPack, ReadOnlyMemoryAndCopiesAreTaken) {
  for (uint64_t flags : {dlpack::kReadOnly, dlpack::kIsCopied, dlpack::kIsSubbytePadded}) {
    Versioned produced(values_.data(), {24});
    produced.managed.flags = flags;
    EXPECT_EQ(taken(produced), values_);
  }
}

TEST_F(DLPack, DeletersMayBeAbsentOrThrow) {
  Versioned absent(values_.data(), {24});
  absent.managed.deleter = nullptr;
  EXPECT_EQ(TensorOf<float>(fromDlpack(device_, &absent.managed)).download(), values_);
  Versioned throwing(values_.data(), {24});
  throwing.throws = true;
  EXPECT_EQ(taken(throwing), values_);
  Versioned both(values_.data(), {-1});
  both.throws = true;
  EXPECT_EQ(refused(both).code(), ErrorCode::InvalidShape);
}

TEST_F(DLPack, OfAnotherMajorVersionOnlyTheDeleterIsUsed) {
  Versioned produced(nullptr, {24});
  produced.managed.version = {2, 0};
  std::memset(&produced.managed.dl_tensor, 0xcd, sizeof produced.managed.dl_tensor);
  Error error = refused(produced);
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_EQ(error.message(), "DLPack: the tensor is of version 2.0, versions 1.x are understood");
  Versioned newer(values_.data(), {24});
  newer.managed.version = {1, 99};
  EXPECT_EQ(taken(newer), values_);
}

TEST_F(DLPack, ElementsThatTensorsCannotHaveAreNamed) {
  auto codeOf = [&](ElementType type) {
    Versioned produced(values_.data(), {1}, {}, type);
    return refused(produced).message();
  };
  EXPECT_EQ(
      codeOf({TypeCode::Float, 32, 4}),
      "DLPack: no tensor has elements of vectors of 4 float32; there are i1, i8 to i64, u8 to "
      "u64, f16, bf16, f32, f64, e4m3 and e5m2");
  auto code = [](int number) { return static_cast<TypeCode>(number); };
  for (auto [type, name] : {std::pair(ElementType{code(5), 64, 1}, "complex64"),
                            {{code(5), 128, 1}, "complex128"},
                            {{code(7), 8, 1}, "float8_e3m4"},
                            {{code(8), 8, 1}, "float8_e4m3"},
                            {{code(11), 8, 1}, "float8_e4m3fnuz"},
                            {{code(13), 8, 1}, "float8_e5m2fnuz"},
                            {{code(14), 8, 1}, "float8_e8m0fnu"},
                            {{code(17), 4, 1}, "float4_e2m1fn"},
                            {{code(17), 8, 1}, "float4_e2m1fn in 8 bits"},
                            {{code(3), 64, 1}, "handle64"},
                            {{code(18), 8, 1}, "type code 18 and 8 bits"},
                            {{code(255), 8, 1}, "type code 255 and 8 bits"},
                            {{TypeCode::Bool, 1, 1}, "bool1"},
                            {{TypeCode::Int, 4, 1}, "int4"},
                            {{TypeCode::Float, 128, 1}, "float128"},
                            {{TypeCode::Bfloat, 32, 1}, "bfloat32"},
                            {{TypeCode::Int, 0, 1}, "int0"},
                            {{TypeCode::Int, 8, 0}, "vectors of 0 int8"}})
    EXPECT_EQ(codeOf(type).find(std::string("DLPack: no tensor has elements of ") + name + ";"), 0u)
        << codeOf(type);
}

TEST_F(DLPack, ShapesAndStridesThatCannotBeAreNamed) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  struct Case {
    std::vector<int64_t> shape, strides;
    ErrorCode code;
  } cases[] = {{{2, -3}, {}, ErrorCode::InvalidShape},
               {std::vector<int64_t>(9, 1), {}, ErrorCode::InvalidShape},
               {{kHuge, 8}, {}, ErrorCode::InvalidShape},
               {{kHuge, kHuge}, {0, 0}, ErrorCode::InvalidShape},
               {{2, 2}, {kHuge, kHuge}, ErrorCode::InvalidShape},
               {{2, 3}, {-3, 1}, ErrorCode::Unsupported}};
  for (Case &wrong : cases) {
    Versioned produced(values_.data(), wrong.shape, wrong.strides);
    EXPECT_EQ(refused(produced).code(), wrong.code);
  }
  for (int32_t rank : {-1, std::numeric_limits<int32_t>::max()}) {
    Versioned produced(values_.data(), {24});
    produced.managed.dl_tensor.ndim = rank;
    EXPECT_EQ(refused(produced).code(), ErrorCode::InvalidShape);
  }
}

TEST_F(DLPack, PointersThatAreNullAreNamed) {
  Versioned noData(nullptr, {24});
  EXPECT_EQ(refused(noData).message(), "DLPack: the data of a tensor with elements is null");
  Versioned noShape(values_.data(), {24});
  noShape.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(refused(noShape).message(), "DLPack: the shape is a null pointer");
  Versioned beyond(values_.data(), {24});
  beyond.managed.dl_tensor.byte_offset = ~uint64_t{0};
  EXPECT_EQ(refused(beyond).code(), ErrorCode::InvalidShape);
  dlpack::ManagedTensor *none = nullptr;
  EXPECT_EQ(errorOf([&] { (void)fromDlpack(device_, none); }).code(), ErrorCode::InvalidArgument);
}

TEST_F(DLPack, MemoryOfOtherDevicesIsRefused) {
  for (int type : {2, 10, 13, -5}) {
    Versioned produced(values_.data(), {24});
    produced.managed.dl_tensor.device = {static_cast<DeviceType>(type), 3};
    Error error = refused(produced);
    EXPECT_EQ(error.code(), ErrorCode::WrongDevice);
    EXPECT_NE(error.message().find("device type " + std::to_string(type) + ", number 3, which " +
                                   device_.name() + " does not address"),
              std::string::npos)
        << error.message();
  }
  Versioned pinned(values_.data(), {24});
  pinned.managed.dl_tensor.device.type = DeviceType::CudaHost;
  EXPECT_EQ(taken(pinned), values_);
}

TEST_F(DLPack, TheProducersStreamIsWaitedFor) {
  Device lazy = Device::wrap(device::openVirtual({.schedule = "lazy"}), "lazy");
  Stream producer = lazy.stream();
  auto source = lazy.tensor<float>({24}, values_);
  std::vector<float> written(24, -1);
  source.downloadAsync(producer, written);
  Versioned produced(written.data(), {24});
  EXPECT_EQ(TensorOf<float>(fromDlpack(device_, &produced.managed, producer)).download(), values_);
}

class DLPackOnDevice : public test::OnDevice {};

TEST_P(DLPackOnDevice, ATensorGoesOutAndComesBack) {
  std::vector<float> values = test::ramp(24, 0);
  auto tensor = device().tensor<float>({4, 6}, values);
  void *address = tensor.data();
  Tensor back = fromDlpack(device(), toDlpack(tensor.T()));
  tensor = {};
  EXPECT_EQ(back.data() == address, !device().isVirtual());
  EXPECT_EQ(TensorOf<float>(back.T()).download(), values);
}
TILE_ON_EVERY_DEVICE(DLPackOnDevice);

// Layouts within 64 elements of memory, against loops over indices; the deleter once.
RC_GTEST_FIXTURE_PROP(DLPack, AnyLayoutIsReadAsItSays, ()) {
  const auto rank = *rc::gen::inRange<size_t>(0, 5);
  auto shape = *rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 4));
  auto strides = *rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 6));
  const auto offset = *rc::gen::inRange<uint64_t>(0, 4);
  std::vector<float> memory = test::ramp(64, 100);
  std::vector<size_t> places = {offset};
  for (size_t dim = 0; dim < rank; ++dim) {
    std::vector<size_t> next;
    for (size_t place : places)
      for (int64_t i = 0; i < shape[dim]; ++i)
        next.push_back(place + static_cast<size_t>(i * strides[dim]));
    places = std::move(next);
  }
  std::vector<float> expected;
  for (size_t place : places)
    expected.push_back(memory[place]);
  Versioned produced(memory.data(), shape, strides);
  produced.managed.dl_tensor.byte_offset = offset * sizeof(float);
  RC_ASSERT(TensorOf<float>(fromDlpack(device_, &produced.managed)).download() == expected);
  RC_ASSERT(produced.deleted == 1);
}

// Any numbers in all fields whose wrongness can be told: a tensor or an error, and the deleter once.
RC_GTEST_FIXTURE_PROP(DLPack, AnyNumbersGiveATensorOrAnError, ()) {
  auto number = rc::gen::oneOf(rc::gen::inRange<int64_t>(-2, 5), rc::gen::arbitrary<int64_t>(),
                               rc::gen::just(std::numeric_limits<int64_t>::max()),
                               rc::gen::just(std::numeric_limits<int64_t>::min()));
  const auto rank = *rc::gen::inRange<size_t>(0, 10);
  auto shape = *rc::gen::container<std::vector<int64_t>>(rank, number);
  auto strides = *rc::gen::container<std::vector<int64_t>>(rank, number);
  Versioned produced(nullptr, shape, strides); // of null, so that nothing can be read
  Layout &layout = produced.managed.dl_tensor;
  layout.dtype = {static_cast<TypeCode>(*rc::gen::inRange(0, 20)),
                  static_cast<uint8_t>(*rc::gen::element(0, 1, 4, 8, 16, 32, 64, 128)),
                  static_cast<uint16_t>(*rc::gen::element(0, 1, 1, 1, 4))};
  layout.device = {static_cast<DeviceType>(*rc::gen::inRange(-1, 20)), 0};
  layout.byte_offset = *rc::gen::arbitrary<uint64_t>();
  produced.managed.version.major = *rc::gen::element(0u, 1u, 1u, 1u, 2u);
  produced.managed.flags = *rc::gen::arbitrary<uint64_t>();
  produced.throws = *rc::gen::arbitrary<bool>();
  try {
    RC_ASSERT(fromDlpack(device_, &produced.managed).numel() == 0);
  } catch (const Error &error) {
    RC_ASSERT(!error.message().empty());
  }
  RC_ASSERT(produced.deleted == 1);
}

// Debian's header has the structure without a version.
TEST_F(DLPack, StructuresAreThoseOfTheHeader) {
#if __has_include(<dlpack/dlpack.h>)
  static_assert(sizeof(::DLManagedTensor) == sizeof(dlpack::ManagedTensor));
  static_assert(offsetof(::DLManagedTensor, deleter) == offsetof(dlpack::ManagedTensor, deleter));
  static_assert(offsetof(::DLTensor, dtype) == offsetof(Layout, dtype));
  static_assert(offsetof(::DLTensor, byte_offset) == offsetof(Layout, byte_offset));
  static_assert(kDLCPU == static_cast<int>(DeviceType::Cpu));
  static_assert(kDLBfloat == static_cast<int>(TypeCode::Bfloat));
  int64_t shape[] = {4, 3}, strides[] = {6, 2};
  static int deleted = 0;
  ::DLManagedTensor theirs = {};
  theirs.dl_tensor.data = values_.data();
  theirs.dl_tensor.device = {kDLCPU, 0};
  theirs.dl_tensor.ndim = 2;
  theirs.dl_tensor.dtype = {kDLFloat, 32, 1};
  theirs.dl_tensor.shape = shape;
  theirs.dl_tensor.strides = strides;
  theirs.deleter = [](::DLManagedTensor *) { ++deleted; };
  Tensor tensor = fromDlpack(device_, reinterpret_cast<dlpack::ManagedTensor *>(&theirs));
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(TensorOf<float>(tensor).download()[4], values_[6 + 2]);

  auto *given = reinterpret_cast<::DLManagedTensor *>(toUnversionedDlpack(tensor));
  EXPECT_EQ(given->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(given->dl_tensor.dtype.code, kDLFloat);
  EXPECT_EQ(static_cast<float *>(given->dl_tensor.data)[4], values_[6 + 2]);
  given->deleter(given);
#else
  GTEST_SKIP() << "there is no dlpack/dlpack.h";
#endif
}

} // namespace
} // namespace tile

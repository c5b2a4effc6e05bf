// The CPU backend as a whole: every op but regions of unknown form, and a cost for each
// implementation.
#include "backend/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/op_kind.h"

namespace mezzotint::testing {
namespace {

TEST(CpuBackend, OffersEveryOp) {
  const auto backend = make_cpu_backend();
  for (const OpKind kind : kAllOpKinds) {
    EXPECT_FALSE(backend->implementations(kind).empty()) << name_of(kind);
  }
}

TEST(CpuBackend, HasACostForEveryImplementation) {
  const auto backend = make_cpu_backend();
  for (const OpKind kind : kAllOpKinds) {
    for (const Implementation* implementation : backend->implementations(kind)) {
      for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) {
        const auto row = backend->costs().find(implementation->name(), isa);
        // No processor without AVX-512 has its unit.
        if (implementation->name() == "onednn.conv_bf16" && isa == Isa::kAvx2) {
          EXPECT_FALSE(row.has_value());
          continue;
        }
        ASSERT_TRUE(row.has_value()) << implementation->name() << " on " << name_of(isa);
        // A row of its own for each set that kernels are compiled for; AMX runs the AVX-512 files.
        EXPECT_EQ(row->isa, std::min(isa, Isa::kAvx512)) << implementation->name();
        EXPECT_GT(row->gflops, 0.0) << implementation->name();
        EXPECT_GT(row->gbytes, 0.0) << implementation->name();
      }
    }
  }
}

TEST(CpuBackend, DescribesItsLibrary) {
  const std::string text = make_cpu_backend()->description();
  EXPECT_TRUE(text.starts_with("cpu: oneDNN ")) << text;
  EXPECT_NE(text.find(" (avx"), std::string::npos) << text;
}

// The last convolution: by the table, the kernel made for it wins over the library.
TEST(CpuBackend, CostsPreferTheKernelForFewOutputs) {
  const auto backend = make_cpu_backend();
  constexpr double kFlops = 2.0 * 27 * 64 * 64 * 64 * 64;
  constexpr double kBytes = 4.0 * 65 * 64 * 64 * 64;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    const auto own = backend->costs().find("kernels.conv_few_outputs", isa);
    const auto library = backend->costs().find("onednn.conv_narrow", isa);
    ASSERT_TRUE(own && library);
    EXPECT_LT(CostTable::seconds(*own, kFlops, kBytes, 2),
              CostTable::seconds(*library, kFlops, kBytes, 2));
  }
}

}  // namespace
}  // namespace mezzotint::testing

#include "pipeline/machine.h"

#include <gtest/gtest.h>

#include "formats/ckpt_files.h"

namespace mezzotint::testing {
namespace {

// What a cgroup or a small machine allows.
Machine machine_with(std::uint64_t memory_bytes) {
  return {Isa::kAvx2, 1, memory_bytes, "test"};
}

TEST(CheckMemory, ComparesWithBothLimits) {
  const Machine machine = machine_with(2'000'000'000);
  EXPECT_TRUE(check_memory(2'000'000'000, std::nullopt, machine).ok());
  EXPECT_TRUE(check_memory(1'000'000'000, 1'000'000'000, machine).ok());
  expect_error(check_memory(1'000'000'001, 1'000'000'000, machine),
               "needs 1.00 GB of memory, --memory-limit allows 1.00 GB: raise the limit");
  expect_error(check_memory(2'100'000'000, std::nullopt, machine),
               "needs 2.10 GB of memory, this machine (or its cgroup) allows 2.00 GB");
  expect_error(check_memory(2'100'000'000, 4'000'000'000, machine), "this machine (or its cgroup)");
}

TEST(CheckMemory, AcceptsAllWhereTheSystemIsSilent) {
  EXPECT_TRUE(check_memory(UINT64_MAX, std::nullopt, machine_with(0)).ok());
}

TEST(ThisMachine, BoundsItsThreads) {
  const auto machine = this_machine(3);
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(machine->threads, 3);
  EXPECT_GT(machine->memory_bytes, 0U);
  EXPECT_GE(this_machine(0)->threads, 1);
  expect_error(this_machine(-1), "threads: -1 is not between 0 (all processors) and 1024");
  expect_error(this_machine(1025), "threads: 1025 is not between");
}

}  // namespace
}  // namespace mezzotint::testing

#include "base/system.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <vector>

#include <cstring>

#include "base/aligned_buffer.h"
#include "support/sanitized.h"

namespace mezzotint {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;

TEST(System, IsaNamesRoundTrip) {
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) {
    EXPECT_EQ(isa_from_name(name_of(isa)), isa);
  }
  EXPECT_EQ(name_of(Isa::kAvx512), "avx512");
  EXPECT_FALSE(isa_from_name("sse2").has_value());
}

TEST(System, DetectsAnIsaThatTheProcessorClaims) {
  const auto isa = detect_isa();
  if (!isa) {
    EXPECT_EQ(isa.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(isa.error().message.find("needs AVX2 and FMA"), std::string::npos);
    return;
  }
  EXPECT_TRUE(__builtin_cpu_supports("avx2"));
  EXPECT_EQ(*isa >= Isa::kAvx512, __builtin_cpu_supports("avx512vnni") &&
                                      __builtin_cpu_supports("avx512bw") &&
                                      __builtin_cpu_supports("avx512vl"));
  EXPECT_FALSE(processor_name().empty());
}

TEST(System, MemoryLimitIsWithinPhysicalMemory) {
  const auto physical = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  EXPECT_GT(memory_limit(), resident_bytes());
  EXPECT_LE(memory_limit(), physical);
  EXPECT_GT(available_memory(), 0U);
  EXPECT_LE(available_memory(), memory_limit());
}

TEST(System, PeakFollowsTheResidentSetAndCanBeReset) {
  const std::uint64_t before = resident_bytes();
  {
    auto buffer = AlignedBuffer::allocate(kBytes);
    ASSERT_TRUE(buffer.ok());
    std::memset(buffer->data(), 1, kBytes);
    EXPECT_GE(resident_bytes(), before + kBytes * 9 / 10);
  }
  const std::uint64_t peak = peak_resident_bytes();
  EXPECT_GE(peak, before + kBytes * 9 / 10);
  if (!reset_peak_resident_bytes()) {
    GTEST_SKIP() << "this kernel does not reset the high-water mark";
  }
  EXPECT_LT(peak_resident_bytes(), peak - kBytes / 2);
}

TEST(Memory, ReturnsWhatWasFreed) {
  if (testing::kSanitized) {
    GTEST_SKIP() << "the sanitizer's allocator keeps freed memory";
  }
  const std::uint64_t before = resident_bytes();
  // Blocks too small to be mapped one by one; the last one, kept, holds the heap's end in place.
  std::vector<std::vector<std::byte>> blocks(1024);
  for (std::vector<std::byte>& block : blocks) {
    block.assign(std::size_t{64} << 10, std::byte{1});
  }
  const std::vector<std::byte> last = std::move(blocks.back());
  blocks.clear();
  return_free_memory();
  EXPECT_LT(resident_bytes(), before + (std::size_t{16} << 20));
  EXPECT_EQ(last[0], std::byte{1});
}

TEST(AlignedBuffer, IsAlignedAndOwned) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, kBytes}) {
    auto buffer = AlignedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % AlignedBuffer::kAlignment, 0U);
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_EQ(buffer->as<float>().size(), bytes / sizeof(float));
    const std::byte* data = buffer->data();
    const AlignedBuffer moved = *std::move(buffer);
    EXPECT_EQ(moved.data(), data);
  }
}

TEST(AlignedBuffer, ZeroBytesAndTooManyBytes) {
  const auto none = AlignedBuffer::allocate(0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0U);
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 4}) {
    const auto refused = AlignedBuffer::allocate(bytes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kResource);
    EXPECT_NE(refused.error().message.find(std::to_string(bytes)), std::string::npos);
  }
}

}  // namespace
}  // namespace mezzotint

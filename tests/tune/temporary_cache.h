// A cache of timings in a folder of its own, which goes with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tune/timing_cache.h"

namespace mezzotint::testing {

class TemporaryCache {
 public:
  TemporaryCache(const Backend& backend, const Machine& machine) {
    std::string name = ::testing::TempDir() + "mezzotint-timings-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    auto cache = TimingCache::open(folder_, timing_scope(backend, machine));
    EXPECT_TRUE(cache.ok()) << cache.error().message;
    cache_.emplace(std::move(*cache));
  }
  ~TemporaryCache() { std::filesystem::remove_all(folder_); }
  TemporaryCache(const TemporaryCache&) = delete;
  TemporaryCache& operator=(const TemporaryCache&) = delete;

  TimingCache& operator*() { return *cache_; }
  TimingCache* operator->() { return &*cache_; }

 private:
  std::filesystem::path folder_;
  std::optional<TimingCache> cache_;
};

}  // namespace mezzotint::testing

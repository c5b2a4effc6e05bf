#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

// A file system of the given files, gone with the object.
class FakeRoot {
 public:
  explicit FakeRoot(const std::map<std::string, std::string>& files)
      : root_(fs::path(testing::TempDir()) /
              ("cgroup_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(root_);
    for (const auto& [path, content] : files) {
      fs::create_directories((root_ / path).parent_path());
      std::ofstream(root_ / path) << content << '\n';
    }
  }
  ~FakeRoot() { fs::remove_all(root_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  operator fs::path() const { return root_; }

 private:
  fs::path root_;
};

TEST(Cgroup, NothingWithoutLimits) {
  const FakeRoot none({});
  EXPECT_EQ(cgroup_memory_limit(none), std::nullopt);
  EXPECT_EQ(cgroup_processor_quota(none), std::nullopt);
  const FakeRoot unlimited({{"proc/self/cgroup", "0::/job"},
                            {"sys/fs/cgroup/job/memory.max", "max"},
                            {"sys/fs/cgroup/job/cpu.max", "max 100000"},
                            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"},
                            {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}});
  EXPECT_EQ(cgroup_memory_limit(unlimited), std::nullopt);
  EXPECT_EQ(cgroup_processor_quota(unlimited), std::nullopt);
}

// In a cgroup namespace the mount's root is the process's own group.
TEST(Cgroup, ReadsTheRootOfTheMount) {
  const FakeRoot root({{"proc/self/cgroup", "0::/"},
                       {"sys/fs/cgroup/memory.max", "1000"},
                       {"sys/fs/cgroup/cpu.max", "150000 100000"}});
  EXPECT_EQ(cgroup_memory_limit(root), 1000U);
  EXPECT_EQ(cgroup_processor_quota(root), 1.5);
}

TEST(Cgroup, FollowsTheOwnPathOfV2) {
  const FakeRoot root({{"proc/self/cgroup", "1:name=systemd:/other\n0::/slice/job"},
                       {"sys/fs/cgroup/slice/job/memory.max", "3000"},
                       {"sys/fs/cgroup/slice/job/cpu.max", "200000 100000"},
                       {"sys/fs/cgroup/other/memory.max", "1"},
                       {"sys/fs/cgroup/other/cpu.max", "1 100000"}});
  EXPECT_EQ(cgroup_memory_limit(root), 3000U);
  EXPECT_EQ(cgroup_processor_quota(root), 2.0);
}

// A group above may be the tighter one, and one between may have no limit.
TEST(Cgroup, TakesTheLeastOnTheWayUp) {
  const FakeRoot root({{"proc/self/cgroup", "0::/a/b/c"},
                       {"sys/fs/cgroup/a/memory.max", "2000"},
                       {"sys/fs/cgroup/a/b/memory.max", "max"},
                       {"sys/fs/cgroup/a/b/c/memory.max", "5000"},
                       {"sys/fs/cgroup/a/cpu.max", "400000 100000"},
                       {"sys/fs/cgroup/a/b/cpu.max", "50000 100000"},
                       {"sys/fs/cgroup/a/b/c/cpu.max", "max 100000"}});
  EXPECT_EQ(cgroup_memory_limit(root), 2000U);
  EXPECT_EQ(cgroup_processor_quota(root), 0.5);
}

TEST(Cgroup, FollowsTheOwnPathsOfV1) {
  const FakeRoot root({{"proc/self/cgroup", "5:memory:/m\n4:cpuset:/wrong\n3:cpu,cpuacct:/c\n0::/"},
                       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"},
                       {"sys/fs/cgroup/memory/m/memory.limit_in_bytes", "7000"},
                       {"sys/fs/cgroup/memory/wrong/memory.limit_in_bytes", "1"},
                       {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "300000"},
                       {"sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "200000"},
                       {"sys/fs/cgroup/cpu/wrong/cpu.cfs_quota_us", "1"},
                       {"sys/fs/cgroup/cpu/wrong/cpu.cfs_period_us", "200000"}});
  EXPECT_EQ(cgroup_memory_limit(root), 7000U);
  EXPECT_EQ(cgroup_processor_quota(root), 1.5);
}

// As in a container that keeps the host's path but mounts its own group as the root.
TEST(Cgroup, PassesOverGroupsThatTheMountDoesNotShow) {
  const FakeRoot root({{"proc/self/cgroup", "2:memory:/docker/0123\n0::/../../up"},
                       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "4000"},
                       {"sys/fs/cgroup/cpu.max", "100000 100000"},
                       {"sys/up/cpu.max", "1 100000"},
                       {"up/cpu.max", "1 100000"}});
  EXPECT_EQ(cgroup_memory_limit(root), 4000U);
  EXPECT_EQ(cgroup_processor_quota(root), 1.0);
}

}  // namespace
}  // namespace mezzotint

// Dumps of activations, and what a diff of two finds.
#include "pipeline/dump.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "backend/cpu/cpu_backend.h"
#include "formats/safetensors.h"
#include "formats/tensor_file.h"
#include "pipeline/corrupt_backend.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using testing::CorruptBackend;
using testing::test_machine;

class Dump : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("dump_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / name; }

  Status dump(const std::string& name, const std::vector<std::string>& ops, const Backend& backend,
              const SubjectRequest& request = small_request()) const {
    auto subject = Subject::open(request);
    if (!subject) {
      return subject.error();
    }
    DumpOptions options;
    options.names = ops;
    return dump_activations(*subject, backend, test_machine(), options, path(name));
  }

  static SubjectRequest small_request() {
    SubjectRequest request;
    request.arch = "whole-head:32";
    request.size = {16, 16, 16};
    return request;
  }

  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };

  void write(const std::string& name, const std::vector<Tensor>& tensors,
             const std::map<std::string, std::string>& metadata = {}) const {
    std::vector<TensorToWrite> to_write;
    for (const Tensor& tensor : tensors) {
      to_write.push_back(
          {tensor.name, DType::kF32, tensor.shape, std::as_bytes(std::span(tensor.values))});
    }
    auto file = OutputFile::create(path(name), false, 0);
    ASSERT_TRUE(file);
    ASSERT_TRUE(write_safetensors(*file, to_write, metadata));
    ASSERT_TRUE(file->commit());
  }

 private:
  fs::path folder_;
};

TEST_F(Dump, holds_what_was_asked_for_in_the_order_of_execution) {
  const std::vector<std::string> ops{"eps", "middle_block", "input_blocks.1.0.in_layers"};
  const Status status = dump("a", ops, *make_cpu_backend());
  ASSERT_TRUE(status) << status.error().message;
  const auto file = open_tensor_file(path("a"));
  ASSERT_TRUE(file) << file.error().message;
  std::vector<std::string> names;
  for (const TensorInfo& info : (*file)->tensors()) {
    names.push_back(info.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x", "condition", "t", "input_blocks.1.0.in_layers",
                                             "middle_block", "eps"}));
  EXPECT_EQ((*file)->metadata().at("order"), "input_blocks.1.0.in_layers middle_block eps");
  EXPECT_EQ((*file)->metadata().at("size"), "16 16 16");
  EXPECT_EQ((*file)->metadata().at("t"), "125");
  EXPECT_EQ((*file)->metadata().at("model"), "whole-head:32 with random weights, seed 0");
  EXPECT_NE((*file)->metadata().at("implementations").find("out.2="), std::string::npos);
  EXPECT_EQ((*file)->tensors()[4].shape, (std::vector<std::int64_t>{1, 128, 1, 1, 1}));
  EXPECT_EQ((*file)->tensors()[5].shape, (std::vector<std::int64_t>{1, 1, 16, 16, 16}));
}

TEST_F(Dump, of_an_unknown_op_says_so) {
  const Status status = dump("a", {"input_blocks.99"}, *make_cpu_backend());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "dump: `input_blocks.99`: the model has no such op or module");
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(Dump, of_what_is_no_result_says_so) {
  for (const std::string name : {"x", "condition", "t", "out.2.weight"}) {
    const Status status = dump("a", {"eps", name}, *make_cpu_backend());
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().message,
              "dump: `" + name + "` is not a result: name an op or a module, or all");
  }
  EXPECT_FALSE(fs::exists(path("a")));
}

// Moments exist in the lowered graph only; nobody can name them.
TEST_F(Dump, of_an_op_that_only_lowering_makes_says_so) {
  const Status status = dump("a", {"out.0.moments"}, *make_cpu_backend());
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("dump: `out.0.moments`"), std::string::npos)
      << status.error().message;
}

// Copies of all activations count: what fits without them is refused with them.
TEST_F(Dump, needs_memory_for_its_copies) {
  const auto backend = make_cpu_backend();
  const auto need = [&](const std::vector<std::string>& names) {
    auto subject = Subject::open(small_request());
    DumpOptions options;
    options.names = names;
    options.memory_limit = 1 << 20;
    const Status status = dump_activations(*subject, *backend, test_machine(), options, path("a"));
    EXPECT_EQ(status.error().code, ErrorCode::kResource);
    const std::string& line = status.error().message;
    EXPECT_NE(line.find("--memory-limit allows 1.049 MB"), std::string::npos) << line;
    return std::stod(line.substr(std::string("needs ").size()));
  };
  EXPECT_GT(need({"all"}), need({"eps"}) + 5);  // MB
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(Dump, never_replaces_what_it_reads) {
  ASSERT_TRUE(dump("a", {"eps"}, *make_cpu_backend()));
  SubjectRequest request = small_request();
  request.input = path("a");
  auto subject = Subject::open(request);
  ASSERT_TRUE(subject) << subject.error().message;
  fs::create_symlink("a", path("b"));
  DumpOptions options;
  options.names = {"eps"};
  options.overwrite = true;
  for (const char* name : {"a", "b"}) {
    const Status status =
        dump_activations(*subject, *make_cpu_backend(), test_machine(), options, path(name));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message,
              path(name).string() + ": is read and would be overwritten: choose another name");
  }
}

TEST_F(Dump, twice_does_not_differ) {
  ASSERT_TRUE(dump("a", {"all"}, *make_cpu_backend()));
  ASSERT_TRUE(dump("b", {"all"}, *make_cpu_backend()));
  const auto difference = diff_dumps(path("a"), path("b"), 0);
  ASSERT_TRUE(difference) << difference.error().message;
  EXPECT_EQ(difference->first(), nullptr);
  EXPECT_GT(difference->tensors.size(), 60U);
  EXPECT_TRUE(difference->only_in_a.empty());
  EXPECT_TRUE(difference->only_in_b.empty());
}

// A fused region bears its convolution's name, but makes the result of the last op fused into it.
TEST_F(Dump, names_stand_for_the_same_activation_fused_or_not) {
  ASSERT_TRUE(dump("fused", {"all"}, *make_cpu_backend()));
  const auto fused = open_tensor_file(path("fused"));
  ASSERT_TRUE(fused) << fused.error().message;
  std::vector<std::string> names;
  for (const TensorInfo& info : (*fused)->tensors()) {
    names.push_back(info.name);
  }
  names.erase(names.begin(), names.begin() + 3);  // x, condition, t
  const Status status = dump("split", names, *make_cpu_backend());
  ASSERT_TRUE(status) << status.error().message;
  const auto difference = diff_dumps(path("fused"), path("split"));
  ASSERT_TRUE(difference) << difference.error().message;
  EXPECT_EQ(difference->first(), nullptr)
      << difference->first()->name << " " << difference->first()->relative_l2;
  EXPECT_EQ(difference->tensors.size(), names.size() + 3);
}

TEST_F(Dump, feeds_another_run) {
  ASSERT_TRUE(dump("a", {"eps"}, *make_cpu_backend()));
  SubjectRequest request = small_request();
  request.input = path("a");
  request.timestep = 7;  // the file's t prevails
  ASSERT_TRUE(dump("b", {"eps"}, *make_cpu_backend(), request));
  const auto difference = diff_dumps(path("a"), path("b"), 0);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->first(), nullptr);
}

TEST_F(Dump, refuses_an_input_of_another_size) {
  write("input", {{"x", {1, 1, 16, 16, 8}, std::vector<float>(2048)}});
  SubjectRequest request = small_request();
  request.input = path("input");
  const Status status = dump("a", {"eps"}, *make_cpu_backend(), request);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            path("input").string() +
                ": x is [1, 1, 16, 16, 8], this model and size need [1, 1, 16, 16, 16]");
}

TEST_F(Dump, refuses_an_input_without_x_or_with_a_fractional_t) {
  SubjectRequest request = small_request();
  write("no_x", {{"y", {1}, {1}}});
  request.input = path("no_x");
  EXPECT_EQ(dump("a", {"eps"}, *make_cpu_backend(), request).error().message,
            path("no_x").string() + ": has no tensor x [1, 1, z, y, x]");
  write("bad_t", {{"x", {1}, {1}}, {"t", {1}, {0.5F}}});
  request.input = path("bad_t");
  EXPECT_EQ(dump("a", {"eps"}, *make_cpu_backend(), request).error().message,
            path("bad_t").string() + ": t must be one whole number, the timestep");
}

TEST_F(Dump, diff_names_the_op_that_departs_first) {
  const std::string op = "middle_block.0.in_layers.1";
  const CorruptBackend wrong(make_cpu_backend(), op, [](const ValueType&, const Buffer& output) {
    output.as<float>()[0] += 0.1F;
  });
  ASSERT_TRUE(dump("wrong", {"all"}, wrong));
  ASSERT_TRUE(dump("right", {"all"}, *make_cpu_backend()));
  const auto difference = diff_dumps(path("wrong"), path("right"));
  ASSERT_TRUE(difference);
  ASSERT_NE(difference->first(), nullptr);
  EXPECT_EQ(difference->first()->name, op);
  EXPECT_NEAR(difference->first()->max_error, 0.1, 1e-6);
}

TEST_F(Dump, diff_measures_against_the_second_file) {
  write("a", {{"p", {2}, {3, 4}}, {"q", {1}, {2}}});
  write("b", {{"p", {2}, {3, 4.5F}}, {"r", {1}, {2}}});
  const auto difference = diff_dumps(path("a"), path("b"), 0.1);
  ASSERT_TRUE(difference);
  ASSERT_EQ(difference->tensors.size(), 1U);
  EXPECT_DOUBLE_EQ(difference->tensors[0].relative_l2, 0.5 / std::sqrt(9 + 4.5 * 4.5));
  EXPECT_DOUBLE_EQ(difference->tensors[0].max_error, 0.5);
  EXPECT_EQ(difference->first(), nullptr);
  EXPECT_EQ(difference->only_in_a, std::vector<std::string>{"q"});
  EXPECT_EQ(difference->only_in_b, std::vector<std::string>{"r"});
}

// Another program's file is sorted by name; ours says what ran first.
TEST_F(Dump, diff_takes_the_order_from_either_file) {
  write("theirs", {{"a.late", {1}, {1}}, {"z.early", {1}, {1}}});
  write("ours", {{"z.early", {1}, {2}}, {"a.late", {1}, {3}}}, {{"order", "z.early a.late"}});
  for (const auto& [a, b] : {std::pair{"theirs", "ours"}, std::pair{"ours", "theirs"}}) {
    const auto difference = diff_dumps(path(a), path(b));
    ASSERT_TRUE(difference);
    ASSERT_NE(difference->first(), nullptr);
    EXPECT_EQ(difference->first()->name, "z.early");
    EXPECT_EQ(difference->worst(1)[0]->name, "a.late");
    EXPECT_EQ(difference->worst(9).size(), 2U);
  }
}

TEST_F(Dump, diff_counts_other_sizes_and_non_finite_values_as_departures) {
  write("a", {{"p", {2}, {1, 2}}, {"q", {1}, {NAN}}});
  write("b", {{"p", {1, 3}, {1, 2, 3}}, {"q", {1}, {NAN}}});
  const auto difference = diff_dumps(path("a"), path("b"));
  ASSERT_TRUE(difference);
  ASSERT_NE(difference->first(), nullptr);
  EXPECT_EQ(difference->first()->note, "shapes [2] and [1, 3]");
  EXPECT_TRUE(std::isinf(difference->first()->relative_l2));
  EXPECT_EQ(difference->tensors[1].note, "not finite");
  EXPECT_TRUE(std::isinf(difference->tensors[1].relative_l2));
}

TEST_F(Dump, diff_compares_volumes_that_another_program_has_flattened) {
  write("a", {{"p", {1, 2, 1, 2}, {1, 2, 3, 4}}});
  write("b", {{"p", {1, 2, 2}, {1, 2, 3, 4}}});
  const auto difference = diff_dumps(path("a"), path("b"), 0);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->first(), nullptr);
  EXPECT_EQ(difference->tensors[0].note, "shapes [1, 2, 1, 2] and [1, 2, 2]");
}

TEST_F(Dump, diff_needs_something_in_common) {
  write("a", {{"p", {1}, {1}}});
  write("b", {{"q", {1}, {1}}});
  const auto difference = diff_dumps(path("a"), path("b"));
  ASSERT_FALSE(difference);
  EXPECT_EQ(difference.error().message, path("a").string() + " and " + path("b").string() +
                                            ": no tensor is in both, so there is nothing to "
                                            "compare");
  EXPECT_EQ(diff_dumps(path("a"), path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_NE(diff_dumps(path("a"), path("b"), -1).error().message.find("tolerance: -1"),
            std::string::npos);
}

}  // namespace
}  // namespace mezzotint

#include "cli/generate_test_base.h"

#include "base/system.h"
#include "mezzotint/version.h"
#include "profile/calibration_file.h"

namespace mezzotint::testing {

Flags& Flags::set(const std::string& flag, const std::string& value) {
  values_.insert_or_assign(flag, value);
  return *this;
}

Flags& Flags::set(const std::string& flag) {
  values_.insert_or_assign(flag, std::nullopt);
  return *this;
}

Flags& Flags::erase(const std::string& flag) {
  values_.erase(flag);
  return *this;
}

const std::string& Flags::at(const std::string& flag) const {
  return values_.at(flag).value();
}

std::vector<std::string> Flags::words() const {
  std::vector<std::string> words{verb_};
  for (const auto& [flag, value] : values_) {
    words.push_back(flag);
    if (value) {
      words.push_back(*value);
    }
  }
  return words;
}

GenerateTest::GenerateTest() {
  TinyModel().save(in_folder("model.safetensors"));
  write_bytes(in_folder("mask.nii"), head_mask(kDims).build());
}

Flags GenerateTest::usual() const {
  return Flags()
      .set("--model", in_folder("model.safetensors").string())
      .set("--mask", in_folder("mask.nii").string())
      .set("--out", in_folder("out.nii").string())
      .set("--size", "8x10x12")
      .set("--steps", "2")
      .set("--threads", "1");
}

Flags GenerateTest::with(const std::string& flag, const std::string& value) const {
  return usual().set(flag, value);
}

std::string GenerateTest::volume(const Flags& flags) {
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return read_text(flags.at("--out"));
}

void GenerateTest::keep_round_figures() const {
  Calibration machine;
  machine.processor = processor_name();
  machine.isa = name_of(*detect_isa());
  machine.threads = 2;
  machine.version = kVersion;
  machine.units = {{MathUnit::kFma, 50e9, 100e9, "", "float32"}};
  machine.levels = {{"L2", 1 << 20, 50e9, 100e9}, {"DRAM", 0, 10e9, 15e9}};
  machine.start_seconds = 5e-6;
  machine.task_seconds = 1e-7;
  std::filesystem::create_directory(in_folder("cache"));
  write_text(in_folder("cache") / calibration_file_name(machine), calibration_json(machine));
}

CommandResult GenerateTest::expect_refused(const Flags& flags,
                                           const std::vector<std::string>& parts,
                                           int exit_code) const {
  const auto before = folder_.content();
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  expect_one_line(result.err, parts);
  const auto after = folder_.content();
  EXPECT_EQ(after.size(), before.size());
  for (const auto& [name, content] : after) {
    const auto found = before.find(name);
    EXPECT_NE(found, before.end()) << name << " was left behind";
    EXPECT_TRUE(found == before.end() || found->second == content) << name << " was changed";
  }
  return result;
}

void expect_one_line(const std::string& err, const std::vector<std::string>& parts) {
  EXPECT_EQ(lines_of(err).size(), 1U) << err;
  EXPECT_TRUE(err.starts_with("mezzotint: ")) << err;
  for (const std::string& part : parts) {
    EXPECT_NE(err.find(part), std::string::npos) << "expected: " << part << "\nfound: " << err;
  }
}

std::filesystem::path demo_model() {
  return std::filesystem::path(MEZZOTINT_SOURCE_DIR) / "models" / "demo-brain32";
}

}  // namespace mezzotint::testing

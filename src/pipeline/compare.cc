#include "pipeline/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/json_limits.h"
#include "pipeline/outputs.h"
#include "pipeline/plan_file.h"
#include "report/compare_html.h"
#include "report/compare_json.h"
#include "report/plan_comparison_json.h"
#include "report/profile_json.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 64 << 20;

enum class FileKind : std::uint8_t { kProfile, kPlan, kNeither };

FileKind kind_of(std::string_view text) {
  const auto kind = json_kind(text);
  if (kind == PlanFile::kKind) {
    return FileKind::kPlan;
  }
  return kind == Profile::kKind ? FileKind::kProfile : FileKind::kNeither;
}

std::string_view kind_name(FileKind kind) {
  return kind == FileKind::kPlan ? "plan" : "profile";
}

std::string grid_words(const std::array<std::int64_t, 3>& grid) {
  return fmt::format("{}", fmt::join(grid, "x"));
}

// Whether a plan decides for the same network as the first.
Status check_same_subject(const PlanFile& base, const fs::path& base_path, const PlanFile& other,
                          const fs::path& path) {
  if (base.subject.model_sha256 != other.subject.model_sha256) {
    return invalid_input(
        "compare: {} is for model {} (SHA-256 {:.12}...), {} for {} (SHA-256 "
        "{:.12}...): plans of different models decide nothing in common",
        base_path.string(), in_quotes(base.subject.model), base.subject.model_sha256, path.string(),
        in_quotes(other.subject.model), other.subject.model_sha256);
  }
  if (base.subject.grid != other.subject.grid) {
    return invalid_input(
        "compare: {} is for size {}, {} for {}: plans of different sizes cannot be compared, but "
        "profiles made with them can",
        base_path.string(), grid_words(base.subject.grid), path.string(),
        grid_words(other.subject.grid));
  }
  return {};
}

ComparedPlan compared_plan(const PlanFile& file, const fs::path& path) {
  const PlanProvenance& provenance = file.provenance;
  return {.name = path.string(),
          .version = file.version,
          .backend = file.backend,
          .isa = std::string(name_of(file.subject.isa)),
          .precision = file.subject.precision,
          .layout = file.plan.layout,
          .entries = file.plan.entries.size(),
          .processor = provenance.processor,
          .threads = provenance.threads,
          .predicted_seconds = provenance.predicted_seconds,
          .measured_seconds = provenance.measured_seconds,
          .default_seconds = provenance.default_seconds,
          .relative_l2 = provenance.relative_l2,
          .notes = provenance.notes};
}

std::optional<PlanEntry> entry_of(const Plan& plan, const std::string& op) {
  const auto found = plan.entries.find(op);
  return found != plan.entries.end() ? std::optional(found->second) : std::nullopt;
}

Result<AnyComparison> compare_plans(std::span<const fs::path> paths) {
  std::vector<PlanFile> files;
  for (const fs::path& path : paths) {
    auto file = read_plan(path);
    if (!file) {
      return file.error();
    }
    files.push_back(std::move(*file));
    if (Status same = check_same_subject(files[0], paths[0], files.back(), path); !same) {
      return same.error();
    }
  }
  PlanComparison comparison;
  comparison.model = files[0].subject.model;
  comparison.grid = files[0].subject.grid;
  std::set<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    comparison.plans.push_back(compared_plan(files[i], paths[i]));
    for (const auto& [name, entry] : files[i].plan.entries) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    PlannedOp op{name, {}};
    for (const PlanFile& file : files) {
      op.entries.push_back(entry_of(file.plan, name));
    }
    if (std::ranges::all_of(op.entries, [&](const auto& e) { return e == op.entries[0]; })) {
      ++comparison.equal_ops;
    } else {
      comparison.ops.push_back(std::move(op));
    }
  }
  comparison.sentences = plan_sentences(comparison);
  return AnyComparison(std::move(comparison));
}

}  // namespace

Result<std::vector<fs::path>> compared_files(std::span<const fs::path> given) {
  if (given.size() < 2 || given.size() > kMostCompared) {
    return invalid_input("compare: {} file{}: expected 2 to {} profiles or plans", given.size(),
                         given.size() == 1 ? "" : "s", kMostCompared);
  }
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code ignored;
    files.push_back(fs::is_directory(path, ignored) ? path / "profile.json" : path);
  }
  return files;
}

Result<AnyComparison> compare_files(std::span<const fs::path> files) {
  std::optional<FileKind> first;
  std::vector<NamedProfile> profiles;
  for (const fs::path& path : files) {
    const auto text = read_text_file(path, kLargestFile);
    if (!text) {
      return text.error();
    }
    const FileKind kind = kind_of(*text);
    if (kind == FileKind::kNeither) {
      return invalid_input(
          "{}: is neither a profile (mezzotint profile --out) nor a plan "
          "(mezzotint tune --out)",
          path.string());
    }
    if (first && *first != kind) {
      return invalid_input("compare: {} is a {}, {} a {}: expected all profiles or all plans",
                           files[0].string(), kind_name(*first), path.string(), kind_name(kind));
    }
    first = kind;
    if (kind == FileKind::kProfile) {
      auto profile = read_profile(*text, path.string());
      if (!profile) {
        return profile.error();
      }
      profiles.push_back({path.string(), std::move(*profile)});
    }
  }
  if (first == FileKind::kPlan) {
    return compare_plans(files);
  }
  return AnyComparison(compare_profiles(std::move(profiles)));
}

Result<ComparisonFiles> ComparisonFiles::create(const fs::path& out, bool overwrite,
                                                std::span<const fs::path> inputs) {
  const bool one_page = out.extension() == ".html";
  const std::vector<fs::path> paths =
      one_page ? std::vector{out} : std::vector{out / "compare.json", out / "compare.html"};
  if (Status status = check_outputs_spare_inputs(paths, inputs); !status) {
    return status.error();
  }
  std::optional<OutputFolder> folder;
  if (!one_page) {
    auto made = OutputFolder::make("out", out);
    if (!made) {
      return made.error();
    }
    folder = std::move(*made);
  }
  constexpr std::uint64_t kReservedBytes = 2 << 20;
  std::vector<PlannedText> planned;
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    planned.push_back({path, kReservedBytes});
    names.push_back(path.filename().string());
  }
  auto files = TextFiles::create(planned, overwrite);
  if (!files) {
    return files.error();
  }
  return ComparisonFiles(std::move(folder), std::move(*files), std::move(names));
}

Status ComparisonFiles::write(const AnyComparison& comparison) {
  for (const std::string& name : names_) {
    const bool page = name.ends_with(".html");
    const std::string text =
        std::visit([&](const auto& of) { return page ? comparison_html(of) : comparison_json(of); },
                   comparison);
    if (Status status = files_.write(name, text); !status) {
      return status;
    }
  }
  return files_.commit();
}

}  // namespace mezzotint

#include "pipeline/run_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

// One line for each fact. Shortest digits that read back as the same double.
class Facts {
 public:
  template <typename T>
  void add(std::string_view key, T&& value) {
    fmt::format_to(std::back_inserter(text_), "{} {}\n", key, std::forward<T>(value));
  }
  [[nodiscard]] std::string sha256() const { return sha256_hex(std::as_bytes(std::span(text_))); }

 private:
  std::string text_;
};

}  // namespace

std::string run_sha256(const RunFacts& facts) {
  const GenerateRequest& request = facts.request;
  const Model& model = facts.model;
  Facts all;
  all.add("version", kVersion);
  all.add("plan", facts.plan_sha256);
  all.add("model", model.sha256);
  all.add("weights", request.weights);
  all.add("recipe", model.recipe->name);
  all.add("frame", model.frame);
  if (model.spacing_mm) {
    all.add("spacing", fmt::join(*model.spacing_mm, " "));
  }
  all.add("grid", fmt::join(facts.grid, " "));
  all.add("mask", facts.mask_sha256);
  for (const auto& [value, label] : facts.labels.labels) {
    all.add("label of", fmt::format("{} {}", value, label));
  }
  if (facts.labels.others) {
    all.add("label of others", *facts.labels.others);
  }
  all.add("resize", request.resize);
  all.add("size of mask", request.size_of_mask);
  all.add("as stored", request.as_stored);
  all.add("export", request.export_form);
  all.add("sampler", name_of(facts.chain.options.kind));
  all.add("eta", facts.chain.options.eta);
  all.add("timesteps", fmt::join(facts.chain.options.timesteps, " "));
  all.add("schedule", facts.chain.schedule.timesteps());
  if (!facts.noise_sha256) {
    all.add("seed", request.seed);
    all.add("sample", request.sample);
  } else {
    all.add("noise", *facts.noise_sha256);
  }
  return all.sha256();
}

}  // namespace mezzotint

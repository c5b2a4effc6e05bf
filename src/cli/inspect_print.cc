#include "cli/inspect_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures.h"
#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kKey = 14;  // columns before a value

// "  key         value", the value wrapped at spaces.
void line(std::string_view key, const std::string& value) {
  std::string rest = on_one_line(value);
  do {
    std::size_t cut = rest.size();
    if (cut > kWidth - kKey) {
      cut = rest.rfind(' ', kWidth - kKey);
      cut = cut == std::string::npos || cut == 0 ? kWidth - kKey : cut;
    }
    print_to(stdout, "  {:<{}}{}\n", key, kKey - 2, rest.substr(0, cut));
    rest.erase(0, cut + (cut < rest.size() && rest[cut] == ' ' ? 1 : 0));
    key = "";
  } while (!rest.empty());
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void print_headline(const std::filesystem::path& path, const std::string& what) {
  print_to(stdout, "{}: {}\n", on_one_line(path.string()), what);
}

// Tensors ---------------------------------------------------------------------------------------

std::string types_text(const GroupSummary& group) {
  std::vector<std::string> parts;
  for (const DTypeUse& use : group.types) {
    parts.push_back(
        fmt::format("{} of {} ({})", use.tensors, name_of(use.dtype), format_bytes(use.bytes)));
  }
  return fmt::format("{}, {}", counted(group.tensors, "tensor"), fmt::join(parts, ", "));
}

void print_groups(const TensorsSummary& tensors) {
  for (const GroupSummary& group : tensors.groups) {
    line("group", fmt::format("{}: {}", group.name.empty() ? "(none)" : in_quotes(group.name),
                              types_text(group)));
  }
  if (tensors.groups.empty()) {
    line("group", "no tensors");
  }
  if (const auto listed = std::ssize(tensors.groups); tensors.group_count > listed) {
    line("", fmt::format("and {} more", tensors.group_count - listed));
  }
}

void print_tensors(const TensorsSummary& tensors) {
  print_groups(tensors);
  std::string_view key = "tensors";
  for (const TensorInfo& tensor : tensors.first) {
    const std::string path = tensor.group.empty() ? tensor.name : tensor.group + "/" + tensor.name;
    line(key, fmt::format("{} [{}] {}", in_quotes(path), fmt::join(tensor.shape, ", "),
                          name_of(tensor.dtype)));
    key = "";
  }
  if (const auto listed = std::ssize(tensors.first); tensors.tensors > listed) {
    line("", fmt::format("and {} more", tensors.tensors - listed));
  }
}

std::string size_text(const TensorsSummary& tensors) {
  return fmt::format("{}, {}{}", tensors.format, format_bytes(tensors.file_bytes),
                     tensors.files > 1 ? fmt::format(" in {} files", tensors.files) : "");
}

std::string_view headline_of(InspectKind kind) {
  switch (kind) {
    case InspectKind::kModel: return "a Med-DDPM model";
    case InspectKind::kNoise: return "noise for generate --noise";
    case InspectKind::kActivations: return "activations, as bench --dump writes them";
    default: return "tensors";
  }
}

// Models ----------------------------------------------------------------------------------------

std::string names_text(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
}

std::string weights_text(const ModelSummary& model) {
  std::string text = model.group.empty() ? "the only ones in the file" : in_quotes(model.group);
  if (!model.weights_default) {
    text += "; generate needs --weights " + model.weights;
  }
  if (model.step) {
    text += fmt::format("; {} training steps", *model.step);
  }
  return text;
}

std::string network_text(const MedDdpmConfig& config) {
  std::string attention = "in the middle";
  if (!config.attention_levels.empty()) {
    attention =
        fmt::format("at level {} and in the middle", fmt::join(config.attention_levels, ", "));
  }
  return fmt::format("{} base channels, times {} per level; {} a level; attention {}; {} assumed",
                     config.base_channels, fmt::join(config.channel_multiplier, ", "),
                     counted(config.res_blocks, "residual block"), attention,
                     counted(config.heads, "head"));
}

std::string grid_facts(const ModelSummary& model) {
  return fmt::format("{} at {}, axes {}; sides are multiples of {}",
                     model.grid ? grid_text(*model.grid) : "unknown, pass --size",
                     model.spacing_mm ? grid_text(*model.spacing_mm) + " mm" : "unknown spacing",
                     model.frame, model.config.size_multiple());
}

std::string labels_text(const ModelSummary& model) {
  std::vector<std::string> parts;
  for (const LabelName& label : model.labels) {
    parts.push_back(fmt::format("{} {}", label.value, label.name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string schedule_text(const ModelSummary& model) {
  if (!model.timesteps) {
    return "unknown length; generate needs --timesteps";
  }
  return fmt::format("cosine, {} timesteps{}", *model.timesteps,
                     model.schedule_checked ? "; the file's buffers agree"
                                            : "; the file has no buffers to compare");
}

void print_row(std::string_view level, std::string_view grid, std::string_view channels,
               const LevelCost& cost) {
  const auto giga = [](double flops) {
    return flops < 1e15 ? fmt::format("{:.3f}", flops / 1e9) : fmt::format("{:.3e}", flops / 1e9);
  };
  print_to(stdout, "  {:<8}{:>14}{:>10}{:>14}{:>12}{:>12}{:>13}{:>13}\n", level, grid, channels,
           giga(cost.conv_flops), giga(cost.attention_flops), giga(cost.other_flops),
           format_bytes(cost.activation_bytes), format_bytes(cost.largest_bytes));
}

void print_levels(const ModelSummary& model) {
  print_to(stdout, "\n  One evaluation at {}; GFLOP of the direct form, activations in float32\n",
           grid_text(model.cost_grid));
  print_to(stdout, "  {:<8}{:>14}{:>10}{:>14}{:>12}{:>12}{:>13}{:>13}\n", "level", "grid",
           "channels", "convolution", "attention", "other", "activations", "largest");
  int number = 0;
  for (const LevelCost& cost : model.levels) {
    if (cost.channels == 0) {
      print_row("vectors", "", "", cost);
    } else {
      print_row(std::to_string(number++), grid_text(cost.grid), std::to_string(cost.channels),
                cost);
    }
  }
  print_row("total", "", "", total_of(model.levels));
  print_to(stdout, "\n");
}

void print_memory(const ModelSummary& model) {
  if (model.memory) {
    line("memory", fmt::format("{} planned peak of one evaluation: weights {}, activations {}",
                               format_bytes(model.memory->peak_bytes),
                               format_bytes(model.memory->packed_bytes),
                               format_bytes(model.memory->arena_bytes)));
    line("time", fmt::format("about {:.3g} s an evaluation on this machine",
                             model.memory->predicted_seconds));
  }
  if (model.largest_cube) {
    line("fits",
         fmt::format("{}, in the {} of this machine",
                     *model.largest_cube == 0 ? std::string("no grid")
                                              : fmt::format("cubes up to {}", *model.largest_cube),
                     format_bytes(model.memory_bytes)));
  }
}

void print_model(const ModelSummary& model, const TensorsSummary& tensors) {
  line("file", fmt::format("{}, {}", tensors.file.filename().string(), size_text(tensors)));
  print_groups(tensors);
  line("weights", weights_text(model));
  line("parameters", fmt::format("{:.3f} M{}", static_cast<double>(model.parameters) / 1e6,
                                 model.finite ? ", all finite" : ""));
  line("recipe", fmt::format("{}: {}{} from {}", model.recipe,
                             counted(model.config.image_channels, "image channel"),
                             names_text(model.modalities),
                             counted(model.config.condition_channels, "mask channel")));
  line("network", network_text(model.config));
  line("grid", grid_facts(model));
  line("labels", labels_text(model));
  line("schedule", schedule_text(model));
  if (model.licence) {
    line("licence", *model.licence);
  }
  line("sha256", model.sha256);
  if (!model.levels.empty()) {
    print_levels(model);
  }
  print_memory(model);
  for (const std::string& note : model.notes) {
    line("note", note);
  }
}

// Images ----------------------------------------------------------------------------------------

std::string file_text(const ImageSummary& image) {
  return fmt::format("NIfTI-{}, {}, {}-endian, {}{}", image.header.version,
                     image.header.two_files ? "a .hdr/.img pair" : "one file",
                     image.header.big_endian ? "big" : "little", format_bytes(image.file_bytes),
                     image.compressed ? " compressed" : "");
}

std::string scaling_text(const NiftiHeader& header) {
  return header.slope == 1 && header.intercept == 0
             ? "no scaling"
             : fmt::format("times {:.9g} plus {:.9g}", header.slope, header.intercept);
}

std::string label_text(const VoxelSummary& voxels) {
  constexpr std::size_t kShown = 16;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kShown, voxels.labels.size()); ++i) {
    parts.push_back(fmt::format("{}: {}", voxels.labels[i].value, voxels.labels[i].voxels));
  }
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     voxels.labels.size() > kShown
                         ? fmt::format(" and {} more values", voxels.labels.size() - kShown)
                         : "");
}

void print_voxels(const VoxelSummary& voxels) {
  line("values",
       fmt::format("{:.6g} to {:.6g}{}", voxels.least, voxels.most,
                   voxels.not_finite > 0 ? fmt::format("; {} not finite", voxels.not_finite) : ""));
  line("labels",
       voxels.labels.empty() ? "none: the values are not a few whole numbers" : label_text(voxels));
}

std::string run_text(const SidecarClaim& claim) {
  return fmt::format("model {} and mask {}, {} with {}, {}", in_quotes(claim.model),
                     in_quotes(claim.mask), counted(claim.steps, "step"), in_quotes(claim.sampler),
                     claim.seed ? fmt::format("seed {}", *claim.seed) : "noise from a file");
}

void print_origin(const Origin& origin) {
  line("made by", fmt::format("Mezzotint {}: {} of {}; {}{}", in_quotes(origin.claim.version),
                              in_quotes(origin.modality), run_text(origin.claim),
                              origin.unchanged ? "as written, says " : "changed since, says ",
                              origin.sidecar.filename().string()));
}

void print_image(const ImageSummary& image) {
  const NiftiHeader& header = image.header;
  line("file", file_text(image));
  line("voxels", fmt::format("{} of {}, {}", fmt::join(header.dims, "x"), name_of(header.type),
                             scaling_text(header)));
  line("spacing", fmt::format("{} mm, field of view {} mm", grid_text(header.spacing),
                              grid_text(image.field_mm)));
  line("axes", fmt::format("{}+, by {}", image.orientation, image.placed_by));
  if (!header.description.empty()) {
    line("says", in_quotes(header.description));
  }
  if (!image.sha256.empty()) {
    line("sha256", image.sha256);
  }
  if (image.origin) {
    print_origin(*image.origin);
  }
  for (const std::string& note : header.notes) {
    line("note", note);
  }
  if (image.voxels) {
    print_voxels(*image.voxels);
  }
  for (const MaskVerdict& mask : image.masks) {
    line("as a mask",
         fmt::format("for {}: {}; {}", mask.target, mask.usable ? "yes" : "no", mask.detail));
    for (const std::string& note : mask.notes) {
      line("note", note);
    }
  }
}

// What runs leave -------------------------------------------------------------------------------

void print_sidecar(const SidecarClaim& claim) {
  line("made by", fmt::format("Mezzotint {}: {}", in_quotes(claim.version), run_text(claim)));
  for (const ClaimedFile& file : claim.files) {
    line("file", fmt::format("{}, {}", in_quotes(file.name), in_quotes(file.modality)));
  }
  line("run", in_quotes(claim.run_sha256));
}

void print_state(const RunStateContent& state) {
  line("steps", fmt::format("{} of {} done; the command that began it goes on from there",
                            state.step, state.shape.steps));
  line("values", fmt::format("{} of x, {} carried", state.shape.elements, state.shape.carried));
  line("run", in_quotes(state.shape.identity));
}

// What measuring leaves -------------------------------------------------------------------------

void print_record(const RecordSummary& record) {
  const auto text_line = [](std::string_view key, const std::string& text) {
    if (!text.empty()) {
      line(key, text);
    }
  };
  text_line("model", record.model);
  text_line("sha256", record.model_sha256);
  if (record.grid) {
    line("size", grid_text(*record.grid));
  }
  text_line("precision", record.precision);
  text_line("isa", record.isa);
  text_line("machine", record.threads > 0 ? fmt::format("{}, {}", record.processor,
                                                        counted(record.threads, "thread"))
                                          : record.processor);
  line("written by",
       fmt::format(
           "{}schema {}",
           record.version.empty() ? "" : fmt::format("Mezzotint {}, ", in_quotes(record.version)),
           record.schema));
  std::string_view above;
  for (const RecordFact& fact : record.facts) {
    line(fact.name == above ? "" : fact.name, fact.text);
    above = fact.name;
  }
  for (const std::string& command : record.commands) {
    line("used by", command);
  }
}

}  // namespace

void print_report(const InspectReport& report) {
  if (report.image) {
    print_headline(report.path, "a NIfTI image");
    print_image(*report.image);
    return;
  }
  if (report.sidecar) {
    print_headline(report.path, "the sidecar of a generated volume");
    print_sidecar(*report.sidecar);
    return;
  }
  if (report.state) {
    print_headline(report.path, "the state of an interrupted run");
    print_state(*report.state);
    return;
  }
  if (report.record) {
    print_headline(report.path, std::string(report.record->what));
    print_record(*report.record);
    return;
  }
  print_headline(report.path, std::string(headline_of(report.kind)));
  if (report.model) {
    print_model(*report.model, *report.tensors);
    return;
  }
  line("file", size_text(*report.tensors));
  print_tensors(*report.tensors);
}

}  // namespace mezzotint::cli

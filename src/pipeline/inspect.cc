#include "pipeline/inspect.h"

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/model.h"
#include "pipeline/no_throw.h"

namespace mezzotint {
namespace {

// The kind of a file of tensors, before it is tried as a model.
InspectKind kind_of(const TensorFile& file) {
  if (file.find("", "x_T")) {
    return InspectKind::kNoise;
  }
  const bool dump = file.find("", "x") && file.find("", "condition") && file.find("", "t");
  return dump ? InspectKind::kActivations : InspectKind::kTensors;
}

Result<TensorsSummary> tell_tensors(const std::filesystem::path& path, InspectKind& kind) {
  const auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  std::array<std::byte, kProbeBytes> buffer{};
  const auto start = std::span(buffer).first(std::min<std::uint64_t>(file->size(), kProbeBytes));
  if (Status status = file->read_at(0, start); !status) {
    return status.error();
  }
  const auto format = tensor_format(start);
  if (!format) {
    return invalid_input("{}: {}; expected a NIfTI image, safetensors or a torch checkpoint",
                         path.string(), describe_other(start));
  }
  const auto tensors = open_tensor_file(path);
  if (!tensors) {
    return tensors.error();
  }
  kind = kind_of(**tensors);
  return summarize(**tensors, *format, file->size());
}

Result<InspectReport> inspect_tensors(const InspectRequest& request, InspectReport report,
                                      const CancelToken* cancel) {
  if (request.model) {
    return invalid_input("{}: is no image; --model says which model an image is to be a mask for",
                         request.path.string());
  }
  const auto file = checkpoint_of(request.path);
  if (!file) {
    return file.error();
  }
  auto tensors = tell_tensors(*file, report.kind);
  if (!tensors) {
    return tensors.error();
  }
  report.tensors = std::move(*tensors);
  if (report.kind != InspectKind::kTensors) {
    return report;
  }
  auto answer = inspect_model(request.path, {request.weights, request.size, request.check}, cancel);
  if (!answer) {
    if (answer.error().code == ErrorCode::kCancelled) {
      return answer.error();
    }
    report.problem = answer.error();
    return report;
  }
  report.kind = InspectKind::kModel;
  report.model = std::move(answer->summary);
  report.problem = std::move(answer->problem);
  return report;
}

Result<InspectReport> inspect_nifti(const InspectRequest& request, InspectReport report,
                                    const CancelToken* cancel) {
  if (!request.model && (request.weights || request.size)) {
    return invalid_input(
        "{}: is an image; --size and --weights are for checkpoints, or go with "
        "--model",
        request.path.string());
  }
  ImageQuestions questions;
  questions.model = request.model;
  questions.size = request.size;
  questions.weights = request.weights.value_or(questions.weights);
  auto answer = inspect_image(request.path, questions, cancel);
  if (!answer) {
    return answer.error();
  }
  report.kind = InspectKind::kImage;
  report.image = std::move(answer->summary);
  report.problem = std::move(answer->problem);
  return report;
}

}  // namespace

std::string_view name_of(InspectKind kind) {
  switch (kind) {
    case InspectKind::kModel: return "model";
    case InspectKind::kTensors: return "tensors";
    case InspectKind::kNoise: return "noise";
    case InspectKind::kActivations: return "activations";
    case InspectKind::kImage: return "image";
  }
  return "unknown";
}

Result<InspectReport> inspect(const InspectRequest& request, const CancelToken* cancel) {
  return no_throw([&]() -> Result<InspectReport> {
    InspectReport report;
    report.path = request.path;
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(request.path, ignored);
    return !folder && is_image(request.path) ? inspect_nifti(request, std::move(report), cancel)
                                             : inspect_tensors(request, std::move(report), cancel);
  });
}

}  // namespace mezzotint

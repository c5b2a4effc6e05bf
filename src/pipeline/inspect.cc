#include "pipeline/inspect.h"

#include "base/error.h"
#include "base/file.h"
#include "pipeline/inspect_answer.h"
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
  const auto start = file->start(kProbeBytes);
  if (!start) {
    return start.error();
  }
  const auto format = tensor_format(*start);
  if (!format) {
    return invalid_input("{}: {}; expected a NIfTI image, safetensors or a torch checkpoint",
                         path.string(), describe_other(*start));
  }
  const auto tensors = open_tensor_file(path);
  if (!tensors) {
    return tensors.error();
  }
  kind = kind_of(**tensors);
  return summarize(**tensors, *format);
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
  const ModelQuestions questions{request.weights, request.variant.value_or("auto"), request.size,
                                 request.check};
  auto answer = inspect_model(request.path, questions, cancel);
  if (!answer) {
    return with_problem(std::move(report), answer.error());
  }
  report.kind = InspectKind::kModel;
  report.model = std::move(answer->summary);
  report.problem = std::move(answer->problem);
  return report;
}

Result<InspectReport> inspect_nifti(const InspectRequest& request, InspectReport report,
                                    const CancelToken* cancel) {
  if (!request.model && (request.weights || request.variant || request.size)) {
    return invalid_input(
        "{}: is an image; --size, --weights and --variant are for checkpoints, or go with "
        "--model",
        request.path.string());
  }
  ImageQuestions questions;
  questions.model = request.model;
  questions.size = request.size;
  questions.weights = request.weights;
  questions.variant = request.variant.value_or(questions.variant);
  auto answer = inspect_image(request.path, questions, cancel);
  if (!answer) {
    return answer.error();
  }
  report.kind = InspectKind::kImage;
  report.image = std::move(answer->summary);
  report.problem = std::move(answer->problem);
  return report;
}

// What runs leave beside volumes, and what measuring leaves. Nothing when the file is no record, no
// run state and no sidecar.
Result<std::optional<InspectReport>> inspect_left_file(const InspectRequest& request) {
  const auto file = InputFile::open(request.path);
  if (!file) {
    return std::optional<InspectReport>();  // the other readers say why
  }
  InspectReport report;
  report.path = request.path;
  auto record = inspect_record(request.path);
  if (!record) {
    return record.error();
  }
  if (*record) {
    report.kind = InspectKind::kRecord;
    report.record = std::move(*record);
  } else if (is_run_state(*file)) {
    auto state = read_run_state(*file);
    if (!state) {
      return state.error();
    }
    report.kind = InspectKind::kRunState;
    report.state = std::move(*state);
  } else if (auto claim = read_sidecar(request.path)) {
    report.kind = InspectKind::kSidecar;
    report.sidecar = std::move(*claim);
  } else {
    return std::optional<InspectReport>();
  }
  if (request.model || request.weights || request.variant || request.size) {
    return invalid_input(
        "{}: is a {}; --size, --weights, --variant and --model are for checkpoints and images",
        request.path.string(), report.record ? report.record->kind : name_of(report.kind));
  }
  return std::optional(std::move(report));
}

}  // namespace

std::string_view name_of(InspectKind kind) {
  switch (kind) {
    case InspectKind::kModel: return "model";
    case InspectKind::kTensors: return "tensors";
    case InspectKind::kNoise: return "noise";
    case InspectKind::kActivations: return "activations";
    case InspectKind::kImage: return "image";
    case InspectKind::kSidecar: return "sidecar";
    case InspectKind::kRunState: return "run state";
    case InspectKind::kRecord: return "record";
  }
  return "unknown";
}

Result<InspectReport> inspect(const InspectRequest& request, const CancelToken* cancel) {
  return no_throw([&]() -> Result<InspectReport> {
    InspectReport report;
    report.path = request.path;
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(request.path, ignored);
    if (!folder && is_image(request.path)) {
      return inspect_nifti(request, std::move(report), cancel);
    }
    auto left = inspect_left_file(request);
    if (!left) {
      return left.error();
    }
    return *left ? Result<InspectReport>(*std::move(*left))
                 : inspect_tensors(request, std::move(report), cancel);
  });
}

}  // namespace mezzotint

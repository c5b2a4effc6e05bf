// A volume from a mask, through the library: generate MODEL MASK OUT.nii.gz
#include <mezzotint/generate.h>

#include <cstdio>

namespace {

class Progress final : public mezzotint::GenerateObserver {
 public:
  void on_step(const mezzotint::GenerateProgress& p) override {
    std::printf("step %d of %d, %.1f s left\n", p.step, p.steps, p.left_seconds);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL MASK OUT.nii.gz\n", argv[0]);
    return 2;
  }
  mezzotint::GenerateRequest request;
  request.model = argv[1];
  request.mask = argv[2];
  request.out = argv[3];
  request.steps = 5;
  request.overwrite = true;

  Progress progress;
  const auto report = mezzotint::generate(request, &progress);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message.c_str());
    return 1;
  }
  std::printf("%s in %.1f s\n", report->volumes.front().c_str(), report->total_seconds);
}

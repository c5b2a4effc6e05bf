// Results on stdout; what was decided and how far it is on stderr: a bar on a terminal, lines
// elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/figures.h"
#include "cli/arguments.h"
#include "cli/generate_print.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

std::string duration(double seconds) {
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  const long whole = std::lround(seconds);
  if (whole < 3600) {
    return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

void line(const char* key, const std::string& value) {
  print_to(stderr, "  {:<10} {}\n", key, on_one_line(value));
}

class Screen final : public GeneratePrinter {
 public:
  void on_volume(const BatchVolume& v) override {
    close();
    batch_ = v;
    resumed_ = 0;
    print_to(stderr, "volume {}/{}  {}, sample {}\n", v.index + 1, v.count,
             on_one_line(v.mask.string()), v.sample);
  }

  // The model is told of once; what differs from volume to volume, each time.
  void on_overview(const GenerateOverview& o) override {
    if (!told_) {
      print_to(stderr, "mezzotint generate\n");
      line("model", fmt::format("{}: {}, {:.2f} M parameters, {}", o.model, o.recipe,
                                static_cast<double>(o.parameters) / 1e6, o.weights));
      if (!o.plan.empty()) {
        line("plan", on_one_line(o.plan));
      }
      if (o.modalities.size() > 1) {
        line("paints", fmt::format("{}", fmt::join(o.modalities, ", ")));
      }
      line("sampler", o.sampler);
      line("precision", fmt::format("{} on {} ({}), {} thread{}", o.precision, o.isa, o.processor,
                                    o.threads, o.threads == 1 ? "" : "s"));
    }
    line("mask", o.mask);
    line("grid", fmt::format("{}: {}", grid_text(o.grid), o.fit));
    line("output", o.output);
    if (!told_) {
      line("memory", fmt::format("{} predicted peak", format_bytes(o.predicted_peak_bytes)));
      line("time", fmt::format("about {} ({} x {})", duration(o.steps * o.predicted_step_seconds),
                               o.steps, duration(o.predicted_step_seconds)));
    }
    for (const std::string& note : o.notes) {
      line("note", note);
    }
    told_ = true;
  }

  void on_resumed(const GenerateResumed& r) override {
    resumed_ = r.step;
    print_to(stderr, "going on after step {} of {}{}\n", r.step, r.steps,
             r.step == r.steps ? ": writing the files" : "");
  }

  void on_step(const GenerateProgress& p) override {
    const std::string numbers =
        fmt::format("step {}/{}  t = {}  {:.2f} s/step  {} left", p.step, p.steps, p.timestep,
                    p.elapsed_seconds / (p.step - resumed_), duration(p.left_seconds));
    if (!terminal_) {
      print_to(stderr, "{}\n", numbers);
      return;
    }
    constexpr int kWidth = 30;
    const double finished =
        (batch_.index + static_cast<double>(p.step) / p.steps) / std::max(batch_.count, 1);
    const auto done = static_cast<std::size_t>(kWidth * finished);
    print_to(stderr, "\r[{}{}] {}\033[K{}", std::string(done, '#'), std::string(kWidth - done, '.'),
             numbers, p.step == p.steps ? "\n" : "");
    std::fflush(stderr);
    open_line_ = p.step != p.steps;
  }

  void on_result(const BatchResult& r) override {
    close();
    switch (r.outcome) {
      case BatchOutcome::kMade:
        print_files(r.report);
        print_to(stderr, "made in {}{}\n", duration(r.report.total_seconds),
                 r.left_seconds > 0
                     ? fmt::format(", about {} for the others", duration(r.left_seconds))
                     : "");
        break;
      case BatchOutcome::kThere:
        print_to(stderr, "there already{}{}\n", r.note.empty() ? "" : ", ", on_one_line(r.note));
        break;
      case BatchOutcome::kFailed:
        print_to(stderr, "failed: {}\n", on_one_line(r.error.message));
        break;
    }
  }

  // Ends the bar's line.
  void close() override {
    if (open_line_) {
      print_to(stderr, "\n");
    }
    open_line_ = false;
  }

  void print(const GenerateReport& r) override {
    print_files(r);
    print_to(stderr, "done in {} (loading {}, sampling {}), peak memory {}\n",
             duration(r.total_seconds), duration(r.load_seconds), duration(r.sample_seconds),
             format_bytes(r.peak_bytes));
  }

  int fail(const Error& error, int exit_code) override {
    close();
    cli::fail(error);
    return exit_code;
  }

  void print(const BatchReport& r) override {
    print_to(stderr, "{} made{}{} in {}\n", r.made,
             r.there > 0 ? fmt::format(", {} there already", r.there) : "",
             r.failures.empty() ? "" : fmt::format(", {} failed", r.failures.size()),
             duration(r.total_seconds));
  }

 private:
  static void print_files(const GenerateReport& r) {
    for (const std::filesystem::path& volume : r.volumes) {
      print_to(stdout, "{}\n", volume.string());
    }
    if (r.mask) {
      print_to(stdout, "{}\n", r.mask->string());
    }
    print_to(stdout, "{}\n", r.sidecar.string());
    if (r.preview) {
      print_to(stdout, "{}\n", r.preview->string());
    }
    std::fflush(stdout);
  }

  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool open_line_ = false;
  bool told_ = false;
  BatchVolume batch_;  // the one at work; of none when there is no batch
  int resumed_ = 0;    // steps that an earlier run has done
};

}  // namespace

std::unique_ptr<GeneratePrinter> make_screen() {
  return std::make_unique<Screen>();
}

}  // namespace mezzotint::cli

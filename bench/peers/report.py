"""Numbers to rows, rows to Markdown."""

import statistics

import numpy

from catalogue import PEERS


def spread(seconds):
    """(90th - 10th percentile) / median, by nearest rank, as mezzotint bench has it."""
    ends = numpy.quantile(seconds, [0.1, 0.9], method="inverted_cdf")
    return float(ends[1] - ends[0]) / statistics.median(seconds)


def timing(runs):
    seconds = [run["seconds"] for run in runs]
    return {"median_seconds": statistics.median(seconds), "spread": spread(seconds),
            "peak_bytes": max(run["peak_bytes"] for run in runs), "seconds": seconds}


def difference(values, truth):
    error = values.astype(numpy.float64) - truth
    return {"relative_l2": float(numpy.linalg.norm(error) / numpy.linalg.norm(truth)),
            "max_error": float(numpy.abs(error).max())}


def ours_to(runs, ours):
    """Our time as a part of a peer's, by precision, from rounds in which both took turns."""
    median = timing(runs)["median_seconds"]
    return {precision: timing(own)["median_seconds"] / median for precision, own in ours.items()}


def hardest(rows):
    """The fastest peer of each program, judged by our part of its time."""
    best = {}
    for row in rows:
        if "ours_to_theirs" not in row:
            continue
        program = PEERS[row["name"]].program
        first = next(iter(row["ours_to_theirs"]))
        if (program not in best
                or row["ours_to_theirs"][first] > best[program]["ours_to_theirs"][first]):
            best[program] = {key: row[key] for key in ("name", "title", "ours_to_theirs")}
    return best


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def times(row):
    return [f"{row['median_seconds']:.3g}", f"{100 * row['spread']:.0f} %"]


def gigabytes(count):
    return f"{count / 1e9:.2f} GB"


def count_of(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def introduction(result):
    machine, versions = result["machine"], result["versions"]
    return [
        f"One evaluation of {result['arch']} at {'x'.join(map(str, result['size']))}, fp32, "
        f"random weights; {count_of(result['threads'], 'thread')} on {machine['processor']} "
        f"({count_of(machine['processors'], 'processor')} of {count_of(machine['cores'], 'core')}, "
        f"{', '.join(machine['instructions']) or 'no AVX2'}), "
        f"{gigabytes(machine['memory_bytes'])}, {machine['os']}, {machine['kernel']}, load "
        f"{machine['load_before']:.1f} before. torch {versions['torch']}, OpenVINO "
        f"{versions['openvino']}, mezzotint {versions['mezzotint']} ({result['isa']}). "
        f"Median of {count_of(result['rounds'], 'round')}, {turns(result)}; "
        f"{errors_against(result)}.",
        ""]


def turns(result):
    if result["blocks"]:
        return "each peer in turn with mezzotint only"
    return "all in turn"


def errors_against(result):
    reason = result.get("no_truth_because")
    return f"errors against {result['truth']}" + (f" (not float64: {reason})" if reason else "")


def comparison(result):
    precisions = result["precisions"]
    header = ["", "seconds", "spread",
              *[f"mezzotint `{precision}` / this" for precision in precisions],
              "relative L2", "max error", "peak memory"]
    rows = []
    for row in result["rows"]:
        if "failed" in row:
            reason = row["failed"].replace("|", "\\|")
            rows.append([row["title"], f"failed: {reason}", *[""] * (len(header) - 2)])
            continue
        ratios = [f"{row['ours_to_theirs'][precision]:.2f}" if "ours_to_theirs" in row else ""
                  for precision in precisions]
        rows.append([row["title"], *times(row), *ratios, f"{row['relative_l2']:.1e}",
                     f"{row['max_error']:.1e}", gigabytes(row["peak_bytes"])])
    return [*table(header, rows), ""]


def conclusion(result):
    lines = []
    for program, best in result["best"].items():
        parts = " and ".join(f"{ratio:.2f} (`{precision}`)"
                             for precision, ratio in best["ours_to_theirs"].items())
        name = program if best["title"] == program else f"the best {program} ({best['title']})"
        lines.append(f"- mezzotint / {name}: {parts}")
    return [*lines, ""] if lines else []


def scaling(result):
    rows = [[str(row["threads"]), *times(row), f"{row['speedup']:.2f}"]
            for row in result["scaling"]]
    return [f"Mezzotint, `{result['precisions'][0]}`, number of threads in turn:", "",
            *table(["threads", "seconds", "spread", "speedup"], rows), ""]


def volume(result):
    entry = result["volume"]
    return [f"A whole volume by `mezzotint generate`, {entry['steps']} steps, "
            f"`{result['precisions'][0]}`, once, everything included: "
            f"{entry['seconds']:.3g} s, {gigabytes(entry['peak_bytes'])}.", ""]


def markdown(result):
    lines = introduction(result) + comparison(result) + conclusion(result)
    if "scaling" in result:
        lines += scaling(result)
    if "volume" in result:
        lines += volume(result)
    return "\n".join(lines)

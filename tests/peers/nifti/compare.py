"""Reads a generated corpus with nibabel and with our reader, and our own files with nibabel.

compare.py NIFTI_VIEW FOLDER: NIFTI_VIEW is the built program of that name; FOLDER is emptied.
Prints each difference and ends with 1 if there is one.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import warnings

import nibabel
import numpy

from by_design import CASES
from corpus import write_corpus

FLOAT32 = float(numpy.finfo("f4").eps)
FLOAT64 = float(numpy.finfo("f8").eps)
# Below this, nibabel takes what a quaternion lacks to length 1 for rounding.
NIBABEL_THRESHOLD = 3 * FLOAT32


def views(program, paths):
    """What nifti_view says of each path."""
    lines = subprocess.run([program, *paths], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def affine_bound(image, source):
    """How far two correct affines may be apart, for each entry.

    An sform is stored; nothing is computed. A qform's rotation is a polynomial of degree 2 in a, b, c
    and d, with at most 4 products and 4 sums an entry, each rounded once here and again when nibabel
    normalises: 16 roundings of numbers up to 1, times the voxel size. When a^2 = 1 - b^2 - c^2 - d^2
    is below nibabel's threshold, it takes a for 0; we do below 1e-7, as nifti1_io.c. An entry holds
    a at most as 2 a c or a^2, and the normalisation changes each by up to a^2.
    """
    if source == "sform":
        return 0.0
    header = image.header
    sizes = float(numpy.abs(header["pixdim"][1:4]).max())
    bcd = [float(header[name]) for name in ("quatern_b", "quatern_c", "quatern_d")]
    square = abs(1 - sum(part * part for part in bcd))
    bound = 16 * FLOAT64
    if square < NIBABEL_THRESHOLD:
        bound += 2 * square ** 0.5 + 2 * square
    return bound * sizes


def differences(ours, image, path):
    """Why our view of a file is not nibabel's, one text each."""
    if "error" in ours:
        return [f"refused: {ours['error']}"]
    found = []
    if ours["dims"] != list(image.shape):
        return [f"dims {ours['dims']}, expected {image.shape}"]
    if ours["type"] != image.get_data_dtype().name:
        found.append(f"type {ours['type']}, expected {image.get_data_dtype()}")
    apart = float(numpy.abs(numpy.array(ours["affine"]) - image.affine).max())
    if not apart <= affine_bound(image, ours["source"]):
        found.append(f"affine differs by {apart}, at most {affine_bound(image, ours['source'])}")
    # Equal as numbers: value = stored * slope + intercept in float64 on both sides. nibabel leaves
    # out a slope of 1 and an intercept of 0, which keeps the sign of a zero.
    values = numpy.fromfile(f"{path}.f64", "<f8")
    expected = image.get_fdata(dtype=numpy.float64).ravel(order="F")
    unequal = ~((values == expected) | (numpy.isnan(values) & numpy.isnan(expected)))
    if unequal.any():
        first = int(unequal.argmax())
        found.append(f"{unequal.sum()} of {values.size} values differ: value {first} is "
                     f"{values[first]!r}, expected {expected[first]!r}")
    return found


def differences_written(ours, image, path):
    """The volume and the labels that our writer makes of the file, read by nibabel."""
    values = numpy.fromfile(f"{path}.f64", "<f8")
    return (differences_in(f"{path}.volume.nii", values.astype("<f4"), ours, image)
            + differences_in(f"{path}.labels.nii", numpy.arange(values.size).astype("u1"), ours,
                             image))


def differences_in(file, expected, ours, image):
    written = nibabel.load(file)
    found = []
    if list(written.shape) != ours["dims"][:3] or written.get_data_dtype() != expected.dtype:
        return [f"written as {written.shape} of {written.get_data_dtype()}"]
    values = written.get_fdata(dtype=numpy.float32).ravel(order="F")
    if not numpy.array_equal(values, expected, equal_nan=True):
        found.append("written values differ")
    # The spatial fields are stored as float32, which the numbers of NIfTI-2 are rounded to. With b, c
    # and d off by eps / 2 of themselves, a is off by at most eps / 2a (and by sqrt(eps) near 0), an
    # entry such as 2 (b c - a d) by 4 eps / a, and by less than that again through the voxel sizes.
    theirs, used = written.affine, numpy.array(ours["affine"])
    bound = FLOAT32 * float(numpy.abs(used).max())
    if ours["source"] != "sform":
        bcd = [float(image.header[name]) for name in ("quatern_b", "quatern_c", "quatern_d")]
        a = max(1 - sum(part * part for part in bcd), 0) ** 0.5
        rounding = FLOAT32 / max(a, FLOAT32 ** 0.5)
        bound += 8 * rounding * float(numpy.abs(image.header["pixdim"][1:4]).max())
        bound += affine_bound(image, ours["source"])
    apart = float(numpy.abs(theirs - used).max())
    if not apart <= bound:
        found.append(f"written affine differs by {apart}, at most {bound}")
    withdrawn = any("not finite" in note for note in ours["notes"])
    for name in ("qform_code", "sform_code", "xyzt_units"):
        if written.header[name] != image.header[name] and not withdrawn:
            found.append(f"written {name} is {written.header[name]}, expected {image.header[name]}")
    return found


def compare_corpus(program, folder):
    folder.mkdir(parents=True)
    paths = write_corpus(folder)
    failed = 0
    for path, ours in zip(paths, views(program, paths), strict=True):
        image = nibabel.load(path)
        found = differences(ours, image, path)
        if not found and ours["written"]:
            found = differences_written(ours, image, path)
        for text in found:
            print(f"{path.name}: {text}")
        failed += bool(found)
    return failed, len(paths)


def agrees(ours, path):
    """Whether nibabel sees in a file what we see."""
    try:
        return not differences(ours, nibabel.load(path), path)
    except Exception:  # nibabel's refusals are of many types
        return False


def compare_by_design(program, folder):
    folder.mkdir(parents=True)
    failed = 0
    for name, content, expected, why in CASES:
        path = folder / f"{name}.nii"
        path.write_bytes(content)
        if content[:2] == b"\x1f\x8b":
            path = path.rename(f"{path}.gz")
        [ours] = views(program, [path])
        problem = ""
        if isinstance(expected, str):
            if expected not in ours.get("error", ""):
                problem = f"expected the refusal to say: {expected}; found {ours}"
        elif "error" in ours:
            problem = f"refused: {ours['error']}"
        else:
            # Numbers of a few digits, stored as float32.
            apart = numpy.abs(numpy.array(ours["affine"]) - expected).max()
            if not apart <= 4 * FLOAT32 * numpy.abs(expected).max():
                problem = f"affine {ours['affine']}, expected {expected.tolist()}"
        if not problem and agrees(ours, path):
            problem = f"nibabel agrees, but should not: {why}"
        if problem:
            print(f"{path.name}: {problem}")
            failed += 1
    return failed, len(CASES)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    warnings.simplefilter("ignore")
    nibabel.imageglobals.logger.setLevel("CRITICAL")
    numpy.seterr(all="ignore")
    failed, total = compare_corpus(program, folder / "corpus")
    print(f"corpus: {total - failed} of {total} files agree")
    differ, cases = compare_by_design(program, folder / "by_design")
    print(f"by design: {cases - differ} of {cases} files differ as stated")
    print(f"nibabel {nibabel.__version__}, numpy {numpy.__version__}")
    return 1 if failed or differ else 0


if __name__ == "__main__":
    sys.exit(main())

"""NIfTI files of every kind that both readers take, drawn with a fixed seed."""

import gzip
import itertools

import nibabel
import numpy

TYPES = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
FORMS = ("sform", "qform", "both", "both differ", "sform, bad pixdim")
SCALINGS = ("none", "zero", "nan", "slope", "both", "negative", "large")


def header_of(version, pair, endian):
    kinds = {(1, False): nibabel.nifti1.Nifti1Header, (1, True): nibabel.nifti1.Nifti1PairHeader,
             (2, False): nibabel.nifti2.Nifti2Header, (2, True): nibabel.nifti2.Nifti2PairHeader}
    return kinds[version, pair](endianness=endian)


def draw_values(random, dtype, shape):
    if dtype.kind == "f":
        values = random.normal(size=shape) * 10.0 ** random.integers(-3, 4)
        special = [numpy.nan, numpy.inf, -numpy.inf, -0.0, numpy.finfo(dtype).tiny / 4,
                   numpy.finfo(dtype).max]
    else:
        limits = numpy.iinfo(dtype)
        values = random.integers(limits.min, limits.max, size=shape,
                                 dtype=dtype.newbyteorder("="), endpoint=True)
        special = [limits.min, limits.max, 0, 1]
    values = values.astype(dtype).reshape(-1)
    for place, value in zip(random.permutation(values.size), special):
        if random.random() < 0.5:
            values[place] = value
    return values.reshape(shape)


def draw_rotation(random):
    """A proper rotation, now and then one about half a turn or along the axes."""
    kind = random.integers(4)
    if kind == 0:
        return numpy.diag(random.choice([-1.0, 1.0], size=2).tolist() + [1.0]) @ numpy.eye(3)
    matrix, _ = numpy.linalg.qr(random.normal(size=(3, 3)))
    if numpy.linalg.det(matrix) < 0:
        matrix[:, 0] *= -1
    return matrix


def set_space(random, header, form):
    sizes = random.choice([0.5, 1.0, 1.1, 2.0, 3.3], size=3)
    affine = numpy.eye(4)
    affine[:3, :3] = draw_rotation(random) * sizes
    affine[:3, 3] = random.normal(size=3) * 100
    if random.random() < 0.5:
        affine[:3, 0] *= -1  # a mirror: pixdim[0] becomes -1
    if form != "sform" and form != "sform, bad pixdim":
        header.set_qform(affine, code=int(random.integers(1, 5)))
    if form != "qform":
        if form == "both differ" or random.random() < 0.5:
            affine[:3, :3] += random.normal(size=(3, 3)) * 0.05  # an sform may shear
        header.set_sform(affine, code=int(random.integers(1, 5)))
    if form == "sform, bad pixdim":
        header["pixdim"][1 + random.integers(3)] = random.choice([0.0, numpy.nan])
    elif form == "sform":
        header["pixdim"][1:4] = sizes
    header["xyzt_units"] = random.choice([0, 2, 2 | 8])


def set_scaling(random, header, scaling):
    slope, intercept = {
        "none": (1, 0), "zero": (0, 7), "nan": (numpy.nan, numpy.nan),
        "slope": (random.choice([0.5, 0.1, 1 / 3]), 0),
        "both": (random.random(), random.normal()),
        "negative": (-random.random(), 1),
        "large": (1e30, -1e28),
    }[scaling]
    header["scl_slope"] = slope
    header["scl_inter"] = intercept


def draw_shape(random):
    shape = tuple(int(side) for side in random.choice([1, 2, 3, 5, 7, 11], size=3))
    more = random.integers(6)
    if more == 0:
        return shape + (1,)
    if more == 1:
        return shape + (1, int(random.integers(1, 4)))
    return shape


def extension(random, endian):
    """One extension, its flag before it: esize (a multiple of 16), ecode, text."""
    if random.random() < 0.7:
        return b"\0\0\0\0"
    size = 16 * int(random.integers(1, 4))
    return (b"\1\0\0\0" + numpy.array([size, 6], endian + "i4").tobytes()
            + b"comment".ljust(size - 8, b"."))


def compress(random, content):
    """One member or two."""
    if random.random() < 0.3:
        half = len(content) // 2
        return gzip.compress(content[:half]) + gzip.compress(content[half:])
    return gzip.compress(content)


def write_one(random, folder, number, version, endian, code, pair):
    header = header_of(version, pair, endian)
    dtype = numpy.dtype(endian + code)
    shape = draw_shape(random)
    header.set_data_dtype(dtype)
    header.set_data_shape(shape)
    set_space(random, header, FORMS[number % len(FORMS)])
    set_scaling(random, header, SCALINGS[number % len(SCALINGS)])
    voxels = draw_values(random, dtype, shape).tobytes(order="F")
    packed = random.random() < 0.4
    ending = ".gz" if packed else ""
    stem = f"{number:03}-v{version}-{'be' if endian == '>' else 'le'}-{code}"
    finish = (lambda content: compress(random, content)) if packed else bytes
    if pair:
        gap = int(random.choice([0, 16]))
        header["vox_offset"] = gap
        (folder / f"{stem}.img{ending}").write_bytes(finish(b"\xa5" * gap + voxels))
        path = folder / f"{stem}.hdr{ending}"
        path.write_bytes(finish(header.binaryblock + b"\0\0\0\0"))
        return path
    start = header.binaryblock + extension(random, endian)
    # After an extension, nibabel takes what lies before the voxels for more of them.
    gap = int(random.choice([0, 16, 48])) if start[-4:] == b"\0\0\0\0" else 0
    header["vox_offset"] = len(start) + gap
    start = header.binaryblock + start[len(header.binaryblock):]
    path = folder / f"{stem}.nii{ending}"
    path.write_bytes(finish(start + b"\xa5" * gap + voxels))
    return path


def write_corpus(folder, count=320):
    """Every type in both byte orders, both versions, one file and two; the rest is drawn."""
    random = numpy.random.default_rng(2026)
    kinds = itertools.cycle(itertools.product((1, 2), "<>", TYPES, (False, True)))
    return [write_one(random, folder, number, *next(kinds)) for number in range(count)]

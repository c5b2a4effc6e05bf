"""Files in which the two readers differ on purpose: what ours must say, and why it does."""

import gzip

import nibabel
import numpy

SHAPE = (3, 4, 2)
VOXELS = numpy.arange(24, dtype="u1")
PLACED = numpy.array([[2, 0, 0, -7], [0, 3, 0, -8], [0, 0, 4, -9], [0, 0, 0, 1]], float)


def image(change=None, voxels=VOXELS.tobytes(), sform=True, qform=False):
    """A single file; `change` edits its header."""
    header = nibabel.Nifti1Header()
    header.set_data_dtype("u1")
    header.set_data_shape(SHAPE)
    header["pixdim"][1:4] = 2, 3, 4
    if qform:
        header.set_qform(PLACED, code=1)
    if sform:
        header.set_sform(PLACED, code=1)
    header["scl_slope"], header["scl_inter"] = 1, 0
    header["vox_offset"] = 352
    if change:
        change(header)
    return header.binaryblock + b"\0\0\0\0" + voxels


def setting(**fields):
    def change(header):
        for name, value in fields.items():
            header[name] = value
    return change


def singular(header):
    header["srow_x"] = header["srow_y"]


def sizes_only(affine):
    return numpy.diag([affine[0, 0], affine[1, 1], affine[2, 2], 1])


def damaged(content, place):
    packed = bytearray(gzip.compress(content))
    packed[place] ^= 1
    return bytes(packed)


HALF_TURN = PLACED @ numpy.diag([-1, -1, 1, 1])
IN_METRES = numpy.vstack([PLACED[:3] * 1000, PLACED[3:]])

# name, file, what ours says (an affine, or part of the refusal), why it is not what nibabel says.
CASES = [
    ("neither-form", image(sform=False), sizes_only(PLACED),
     "nifti1.h, METHOD 1: x = i pixdim[1]. nibabel keeps Analyze's convention: x mirrored, the "
     "origin in the middle. We say that the orientation is unknown."),
    ("singular-sform", image(singular, qform=True), PLACED,
     "nibabel returns the sform though it has no inverse; we take the qform and say so."),
    ("nan-sform", image(setting(srow_x=[numpy.nan] * 4), qform=True), PLACED,
     "As above."),
    ("long-quaternion", image(setting(quatern_d=1.0001, qform_code=1,
                                      qoffset_x=-7, qoffset_y=-8, qoffset_z=-9), sform=False),
     HALF_TURN, "nifti1_io.c shortens it to 1; nibabel raises beyond 3 ulp of float32."),
    ("no-quaternion", image(setting(quatern_d=1.5, qform_code=1), sform=False),
     sizes_only(PLACED), "nibabel raises; we fall back to the voxel sizes and say so."),
    ("metres", image(setting(xyzt_units=1)), IN_METRES,
     "nibabel leaves units to its caller; ours are always millimetres."),
    ("infinite-intercept", image(setting(scl_inter=numpy.inf)), PLACED,
     "nibabel raises; we take 0 and say so."),
    ("vox-offset-zero", image(setting(vox_offset=0)), PLACED,
     "nibabel then reads the header as voxels; we begin after it, as the standard demands."),
    ("flat", image(setting(dim=[2, 6, 4, 1, 1, 1, 1, 1])), "is a 2D image",
     "We read volumes."),
    ("rgb", image(setting(dim=[3, 2, 2, 2, 1, 1, 1, 1], datatype=128, bitpix=24)),
     "data type 128 (RGB)", "No such voxel is one number."),
    ("complex", image(setting(dim=[3, 3, 1, 1, 1, 1, 1, 1], datatype=32, bitpix=64)),
     "data type 32 (complex64)", "As above."),
    ("no-voxels", image(setting(dim=[3, 3, 0, 2, 1, 1, 1, 1])), "dimension 2 is 0",
     "A mask without voxels is a damaged one."),
    ("bad-checksum", damaged(image(), -6), "incorrect data check",
     "nibabel stops reading at the last voxel, before the checksum."),
    ("bytes-after-gzip", gzip.compress(image()) + b"x" * 9, "9 bytes follow the gzip data",
     "As above."),
]

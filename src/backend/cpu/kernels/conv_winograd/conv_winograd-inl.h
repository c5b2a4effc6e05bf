// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/conv_winograd/finish-inl.h"
#include "backend/cpu/kernels/conv_winograd/multiply-inl.h"
#include "backend/cpu/kernels/conv_winograd/transform-inl.h"

namespace mezzotint::kernels {
namespace {

constexpr WinogradStages kStages{
    kLanes,
    kPanelVectors,
    stage,
    multiply,
    {transform<Tile2, WholeRow>, transform<Tile4, WholeRow>},
    {transform<Tile2, BorderRow>, transform<Tile4, BorderRow>},
    {transform_doubled<Tile2>, transform_doubled<Tile4>},
    {finish<Tile2>, finish<Tile4>},
    fence,
};

}  // namespace
}  // namespace mezzotint::kernels

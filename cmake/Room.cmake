# One folder under src/ is one static library ("room"). Its sources are all .cc files in it; what it may
# include is stated in tests/architecture.txt and checked by the architecture test.
include_guard()

# Optimised in every build type: without inlining, an ISA file would emit shared inline functions,
# which the linker might take for the code of another instruction set.
function(mezzotint_isa_flags)
  set(avx2 -mavx2 -mfma -mbmi -mbmi2 -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni)
  set(avx512bf16 ${avx512} -mavx512bf16)
  set(amx ${avx512} -mamx-tile -mamx-bf16 -mamx-int8)
  foreach(isa avx2 avx512 avx512bf16 amx)
    set(files ${ARGN})
    list(FILTER files INCLUDE REGEX "_${isa}\\.cc$")
    set_source_files_properties(${files} PROPERTIES
      COMPILE_OPTIONS "${${isa}};-O3" COMPILE_DEFINITIONS HWY_DISABLE_PCLMUL_AES
      SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# Standard and third-party headers that most files read, parsed once for all targets that are compiled
# alike: the rooms, and the executables of tests. Trees of sanitizers do so. The release tree does not:
# there a file that does not include what it uses fails.
set(MEZZOTINT_ROOM_HEADERS <algorithm> <array> <cmath> <filesystem> <functional> <map> <memory> <optional>
  <set> <span> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h>)
set(MEZZOTINT_TEST_HEADERS ${MEZZOTINT_ROOM_HEADERS} <fstream> <gtest/gtest.h> <nlohmann/json.hpp>)

# The first target named as owner compiles the headers; the others take them from it.
function(mezzotint_precompile target owner)
  if(NOT MEZZOTINT_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# mezzotint_room(NAME [ISA_KERNELS] [SUBDIR dir] [LINK library ...])
# With ISA_KERNELS the sources of the room's subfolders belong to it, and files named *_avx2.cc,
# *_avx512.cc, *_avx512bf16.cc or *_amx.cc are compiled for that instruction set.
function(mezzotint_room name)
  cmake_parse_arguments(ARG "ISA_KERNELS" "SUBDIR" "LINK" ${ARGN})
  if(NOT ARG_SUBDIR)
    set(ARG_SUBDIR ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${ARG_SUBDIR}/*.cc"
       "${PROJECT_SOURCE_DIR}/src/${ARG_SUBDIR}/ops/*.cc")
  if(ARG_ISA_KERNELS)
    file(GLOB kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${ARG_SUBDIR}/*/*.cc")
    list(APPEND sources ${kernel_sources})
  endif()
  if(NOT sources)
    return()
  endif()
  add_library(mezzotint_${name} STATIC ${sources})
  if(ARG_ISA_KERNELS)
    mezzotint_isa_flags(${sources})
  endif()
  target_include_directories(mezzotint_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(mezzotint_${name} PUBLIC ${ARG_LINK} PRIVATE mezzotint_warnings)
  mezzotint_precompile(mezzotint_${name} mezzotint_base ${MEZZOTINT_ROOM_HEADERS})
  set_property(GLOBAL APPEND PROPERTY MEZZOTINT_ROOMS ${name})
  list(FILTER ARG_LINK EXCLUDE REGEX "^mezzotint_")
  set_property(GLOBAL APPEND PROPERTY MEZZOTINT_THIRD_PARTY ${ARG_LINK})
endfunction()

# The same for all trees; a build without sanitizers ignores the sanitizers' options.
set(MEZZOTINT_TEST_ENVIRONMENT
  # Tests run side by side: a team that spins while it waits would take its neighbour's processor.
  OMP_WAIT_POLICY=passive
  # An impossible size is ours to refuse, and freed memory is to return before a test measures it.
  ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:quarantine_size_mb=32
  LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.txt:print_suppressions=0
  UBSAN_OPTIONS=print_stacktrace=1
  TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:allocator_may_return_null=1
  # clang's OpenMP: Archer tells ThreadSanitizer about barriers, and workers keep their own MXCSR, as
  # gcc's do.
  OMP_TOOL_LIBRARIES=/usr/lib/llvm-14/lib/libarcher.so
  KMP_INHERIT_FP_CONTROL=0)

# mezzotint_test(NAME LINK library ... [LABELS label ...] [SOURCES file ...] [TIMEOUT seconds])
# Sources default to all .cc files in tests/NAME/. A test labelled "unit" also runs in the asan
# tree, one labelled "threads" in the tsan tree.
function(mezzotint_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LINK;LABELS;SOURCES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${name}/*.cc")
  endif()
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK} mezzotint_warnings GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE MEZZOTINT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  mezzotint_precompile(${name}_test base_test ${MEZZOTINT_TEST_HEADERS})
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST)
  # Its PROPERTIES argument flattens lists, so ctest reads the properties from a file of their own.
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_test_properties.cmake)
  file(WRITE ${properties_file}
    "if(${name}_test_TESTS)\n"
    "  set_tests_properties(\${${name}_test_TESTS} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS \"${ARG_LABELS}\"\n"
    "    ENVIRONMENT \"${MEZZOTINT_TEST_ENVIRONMENT}\")\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
  if("unit" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY MEZZOTINT_UNIT_TESTS ${name}_test)
  endif()
  if("threads" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY MEZZOTINT_THREAD_TESTS ${name}_test)
  endif()
endfunction()

# mezzotint_fuzz(NAME LINK library ... [SOURCES file ...])
# One libFuzzer target from fuzz/NAME_fuzz.cc and these sources; its seeds are in fuzz/corpus/NAME/.
function(mezzotint_fuzz name)
  cmake_parse_arguments(ARG "" "" "LINK;SOURCES" ${ARGN})
  add_executable(${name}_fuzz ${name}_fuzz.cc ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_LINK} mezzotint_warnings)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()

# Tests that are more than an executable of this tree: linters, sanitizers, a short fuzz, and the
# example built against an installed copy. Steps that build are CTest fixtures of those that run, and
# take all processors, so that two compilers never compete.
include_guard()
include(ProcessorCount)
ProcessorCount(processors)
if(processors EQUAL 0)
  set(processors 1)
endif()
set(MEZZOTINT_FUZZ_SECONDS 20 CACHE STRING "How long ctest runs each fuzz target")

# Through cmake, so that ctest does not look for the program before a fixture has built it.
set(run ${CMAKE_COMMAND} -E env)

# mezzotint_check(NAME LABEL label [SETUP fixture] [REQUIRE fixture] [HEAVY | COST number] COMMAND ...)
# ctest starts what costs most first: what builds, so that it never waits for a last build, then whole
# executables in one test, so that none of them ends alone.
function(mezzotint_check name)
  cmake_parse_arguments(ARG "HEAVY" "LABEL;SETUP;REQUIRE;COST" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 3000
    ENVIRONMENT "${MEZZOTINT_TEST_ENVIRONMENT}"
    FIXTURES_SETUP "${ARG_SETUP}" FIXTURES_REQUIRED "${ARG_REQUIRE}")
  if(ARG_HEAVY)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${processors} RESOURCE_LOCK compilers
      COST 1000)
  elseif(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()

# Lint.
mezzotint_check(lint.format LABEL lint COMMAND scripts/check_format.sh)
mezzotint_check(lint.tidy LABEL lint HEAVY
  COMMAND scripts/check_tidy.sh ${PROJECT_BINARY_DIR} ${processors})

# mezzotint_sanitizer(PRESET target ...): builds executables in another tree, all as one ctest test.
function(mezzotint_sanitizer preset)
  mezzotint_check(${preset}.configure LABEL sanitizer SETUP ${preset}_configured
    COMMAND ${CMAKE_COMMAND} --preset ${preset})
  mezzotint_check(${preset}.build LABEL sanitizer HEAVY
    SETUP ${preset}_built REQUIRE ${preset}_configured
    COMMAND ${CMAKE_COMMAND} --build --preset ${preset} --target ${ARGN})
endfunction()

# mezzotint_sanitized(PRESET test ...): runs each there as one ctest test.
function(mezzotint_sanitized preset)
  foreach(test IN LISTS ARGN)
    mezzotint_check(${preset}.${test} LABEL sanitizer REQUIRE ${preset}_built COST 500
      COMMAND ${run} ${PROJECT_SOURCE_DIR}/build/${preset}/bin/${test} --gtest_brief=1)
  endforeach()
endfunction()

get_property(unit_tests GLOBAL PROPERTY MEZZOTINT_UNIT_TESTS)
get_property(thread_tests GLOBAL PROPERTY MEZZOTINT_THREAD_TESTS)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cc)
set(fuzz_targets ${fuzz_sources})
list(TRANSFORM fuzz_targets REPLACE "^.*/([^/]+)\\.cc$" "\\1")
mezzotint_sanitizer(asan ${unit_tests} ${fuzz_targets})
mezzotint_sanitized(asan ${unit_tests})
mezzotint_sanitizer(tsan ${thread_tests})
mezzotint_sanitized(tsan ${thread_tests})

# Each fuzz target for some seconds, from its seeds. What it finds beyond them stays in the asan tree.
# scripts/fuzz.sh runs one for longer.
foreach(target IN LISTS fuzz_targets)
  string(REGEX REPLACE "_fuzz$" "" name ${target})
  mezzotint_check(fuzz.${name} LABEL fuzz REQUIRE asan_built COST ${MEZZOTINT_FUZZ_SECONDS}
    COMMAND scripts/fuzz.sh --no-build ${name} ${MEZZOTINT_FUZZ_SECONDS})
endforeach()

# The example, as a stranger would build it: from an installed copy, with find_package alone.
set(example_tree ${PROJECT_BINARY_DIR}/example)
mezzotint_check(example.install LABEL example SETUP example_installed
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${example_tree}/prefix)
mezzotint_check(example.configure LABEL example SETUP example_configured REQUIRE example_installed
  COMMAND ${CMAKE_COMMAND} -G Ninja -S ${PROJECT_SOURCE_DIR}/examples/generate -B ${example_tree}/build
          -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${example_tree}/prefix)
mezzotint_check(example.build LABEL example HEAVY SETUP example_built REQUIRE example_configured
  COMMAND ${CMAKE_COMMAND} --build ${example_tree}/build)
mezzotint_check(example.run LABEL example REQUIRE example_built
  COMMAND ${run} ${example_tree}/build/generate models/demo-brain32
          models/demo-brain32/masks/tumour-large.nii.gz ${example_tree}/brain.nii.gz)

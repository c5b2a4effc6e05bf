# What `cmake --install` lays down: the program, the public headers, one static library with all rooms
# but the program's own, and the package that find_package(Mezzotint) finds.
include_guard()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY MEZZOTINT_ROOMS)
list(REMOVE_ITEM rooms cli)
get_property(third_party GLOBAL PROPERTY MEZZOTINT_THIRD_PARTY)
list(REMOVE_DUPLICATES third_party)
# Header-only, and seen by no public header: whoever links the library does not need them.
list(REMOVE_ITEM third_party CLI11::CLI11 nlohmann_json::nlohmann_json hwy::hwy)

add_library(mezzotint_library STATIC)
foreach(room IN LISTS rooms)
  target_sources(mezzotint_library PRIVATE $<TARGET_OBJECTS:mezzotint_${room}>)
endforeach()
set_target_properties(mezzotint_library PROPERTIES
  OUTPUT_NAME mezzotint EXPORT_NAME mezzotint LINKER_LANGUAGE CXX)
target_compile_features(mezzotint_library INTERFACE cxx_std_20)
target_link_libraries(mezzotint_library PRIVATE ${third_party})

install(TARGETS mezzotint_library EXPORT MezzotintTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET mezzotint)
  install(TARGETS mezzotint RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mezzotint
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Mezzotint)
install(EXPORT MezzotintTargets NAMESPACE Mezzotint:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/MezzotintConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MezzotintConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MezzotintConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MezzotintConfig.cmake
  ${PROJECT_BINARY_DIR}/MezzotintConfigVersion.cmake DESTINATION ${package_folder})

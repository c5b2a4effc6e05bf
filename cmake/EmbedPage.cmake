# The report's page becomes part of the library: its files from src/report/html/, and the parts of
# Debian's Vega (libjs-vega) as one script. Sets MEZZOTINT_PAGE_SOURCE, an assembler file that holds
# their bytes, and MEZZOTINT_PAGE_FILES, what it is made of.
include_guard()
find_path(MEZZOTINT_VEGA vega-parser.min.js PATHS /usr/share/javascript/vega NO_DEFAULT_PATH)
if(NOT MEZZOTINT_VEGA)
  message(FATAL_ERROR "Vega's files are missing: install the Debian package libjs-vega, or pass "
    "-DMEZZOTINT_VEGA=FOLDER with its vega-*.min.js")
endif()

# What charts without maps need; each after those it asks for.
set(vega_parts util canvas time format loader statistics dataflow scale scenegraph expression selection
  functions event-selector parser runtime view transforms view-transforms encode hierarchy interpreter)
set(page_folder ${PROJECT_SOURCE_DIR}/src/report/html)
set(vega_script ${PROJECT_BINARY_DIR}/page/vega.js)

file(READ ${page_folder}/vega_begin.js script)
foreach(part IN LISTS vega_parts)
  file(READ ${MEZZOTINT_VEGA}/vega-${part}.min.js source)
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" source "${source}")
  string(APPEND script "(function (exports, module) {\n${source}\n})(modules['vega-${part}'] = {}, {});\n")
endforeach()
file(READ ${page_folder}/vega_end.js end)
string(APPEND script "${end}")
file(CONFIGURE OUTPUT ${vega_script} CONTENT "@script@" @ONLY)

set(MEZZOTINT_PAGE_SOURCE ${PROJECT_BINARY_DIR}/page/page.S)
configure_file(${page_folder}/page.S.in ${MEZZOTINT_PAGE_SOURCE} @ONLY)
file(GLOB MEZZOTINT_PAGE_FILES CONFIGURE_DEPENDS ${page_folder}/*.html ${page_folder}/*.css ${page_folder}/*.js)
list(APPEND MEZZOTINT_PAGE_FILES ${vega_script})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${page_folder}/vega_begin.js ${page_folder}/vega_end.js)

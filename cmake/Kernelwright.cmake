# What every target of the project shares, and the three helpers the folders use:
#   kw_library(NAME [PUBLIC libs...])   a static library of every .cc beside the calling CMakeLists.txt
#   kw_test(NAME [LIBS libs...])        a GoogleTest program of every *_test.cc beside the calling CMakeLists.txt
# Include paths are the project's root (and emulator/include), so every include names its folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
find_package(GTest REQUIRED)
include(GoogleTest)

add_library(kw_flags INTERFACE)
# -ffp-contract=off: a*b+c must stay two roundings where the code says so (references, the emulator).
option(KW_FUZZ "libFuzzer's targets; needs Clang" OFF)
target_compile_options(kw_flags INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:${KW_FUZZ}>>:-Werror> -ffp-contract=off)
target_include_directories(kw_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/emulator/include)
target_link_libraries(kw_flags INTERFACE Threads::Threads)

function(kw_library name)
    cmake_parse_arguments(ARG "" "" "PUBLIC" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC kw_flags ${ARG_PUBLIC})
endfunction()

function(kw_test name)
    cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE kw_flags GTest::gtest GTest::gmock GTest::gtest_main ${ARG_LIBS})
    target_compile_definitions(${name} PRIVATE KW_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KW_BINARY_DIR="${CMAKE_BINARY_DIR}")
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

# SPDX-License-Identifier: BSD-2-Clause
# abd_settings: how every target of ours is compiled. None of it reaches programs that link the library.
add_library(abd_settings INTERFACE)
target_compile_definitions(abd_settings INTERFACE _GNU_SOURCE ABD_CHECKED=$<BOOL:${ABD_CHECKED}>)
target_compile_options(abd_settings INTERFACE -fvisibility=hidden -fno-semantic-interposition)

# Without a build type our targets are Release, in a host's project too: at -O0 sums take 10 to 30 times as long.
target_compile_options(abd_settings INTERFACE $<$<CONFIG:>:-O3>)
target_compile_definitions(abd_settings INTERFACE $<$<CONFIG:>:NDEBUG>)

# Shipped files have the same bytes whatever folder they were built in: no library path and no debug information names that folder.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(NOT ABD_BUILD_TESTS)
	target_compile_options(abd_settings INTERFACE
		-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
endif()

if(PROJECT_IS_TOP_LEVEL)
	# Constants are enumerators here, in sums of floating-point numbers too, of which clang 19 warns.
	target_compile_options(abd_settings INTERFACE
		-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion>
		$<$<BOOL:${ABD_WERROR}>:-Werror>)
else()
	# A host project's flags include its warnings, which are meant for its own code: none of them may end our build.
	target_compile_options(abd_settings INTERFACE -w)
endif()
if(ABD_SANITIZE)
	# No recovery: a test runner would otherwise carry on and exit 0.
	target_compile_options(abd_settings INTERFACE
		-fsanitize=${ABD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(abd_settings INTERFACE -fsanitize=${ABD_SANITIZE})
	if(ABD_SANITIZE MATCHES "integer") # only clang's
		# The file's name contains its hash, so that builds and ccache see a change.
		set(ignore ${PROJECT_SOURCE_DIR}/cmake/ubsan.ignore)
		file(MD5 ${ignore} content)
		configure_file(${ignore} ${PROJECT_BINARY_DIR}/ubsan-${content}.ignore COPYONLY)
		target_compile_options(abd_settings INTERFACE
			-fsanitize-ignorelist=${PROJECT_BINARY_DIR}/ubsan-${content}.ignore)
	endif()
endif()
if(ABD_FUZZ)
	# The library's branches guide the fuzzers, as the fuzz targets' own do.
	target_compile_options(abd_settings INTERFACE -fsanitize=fuzzer-no-link)
	target_link_options(abd_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ABD_COVERAGE)
	target_compile_definitions(abd_settings INTERFACE ABD_COVERAGE) # for tests that measure time
	# __gcov_dump() is for children of fork() in tests, which end without handlers.
	target_link_options(abd_settings INTERFACE --coverage LINKER:-u,__gcov_dump)
endif()

# What the library is linked to, where its objects need options of ours to be linked. Nothing else: a host that exports what links us
# would have to export abd_settings, too.
set(abd_instruments "")
if(ABD_SANITIZE OR ABD_COVERAGE OR ABD_FUZZ)
	set(abd_instruments abd_settings)
endif()

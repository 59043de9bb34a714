# SPDX-License-Identifier: BSD-2-Clause
# The calls of vcpkg that our port makes, done in small, so that the port runs where vcpkg can't be had:
# cmake -D PORT=FOLDER -D WORK=FOLDER -P vcpkg.cmake
cmake_policy(VERSION 3.25)
set(CURRENT_PACKAGES_DIR ${WORK}/packages)
# As a user gets it who names no features.
file(READ ${PORT}/vcpkg.json manifest)
string(JSON FEATURES GET ${manifest} default-features)
string(REGEX MATCHALL "[a-z]+" FEATURES ${FEATURES})

function(run)
	execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(vcpkg_check_features)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
	set(options "")
	while(arg_FEATURES)
		list(POP_FRONT arg_FEATURES feature option)
		if(feature IN_LIST FEATURES)
			list(APPEND options -D${option}=ON)
		else()
			list(APPEND options -D${option}=OFF)
		endif()
	endwhile()
	set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
	run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
		-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
	run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
	run(${CMAKE_COMMAND} --install ${WORK}/build)
endfunction()

# What vcpkg would move or rewrite has to be where the port says it is.
function(vcpkg_cmake_config_fixup)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
	if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/abd-config.cmake)
		message(FATAL_ERROR "no package config in ${arg_CONFIG_PATH}")
	endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
	if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/abd.pc)
		message(FATAL_ERROR "no abd.pc")
	endif()
endfunction()

function(vcpkg_install_copyright)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
	if(NOT EXISTS ${arg_FILE_LIST})
		message(FATAL_ERROR "no ${arg_FILE_LIST}")
	endif()
endfunction()

include(${PORT}/portfile.cmake)

# The manifest: valid, of this version, and of the features that the port asks for.
string(JSON version GET ${manifest} version)
file(STRINGS ${PORT}/../../../CMakeLists.txt project REGEX "^project")
if(NOT project MATCHES "VERSION ${version} ")
	message(FATAL_ERROR "vcpkg.json is of version ${version}: ${project}")
endif()
foreach(feature jemalloc arc uring)
	string(JSON description GET ${manifest} features ${feature} description)
endforeach()

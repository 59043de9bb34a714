# SPDX-License-Identifier: BSD-2-Clause
# abd_layer(NAME SEES lower... SOURCES file... AGAIN "kernel set..."): one object library per layer. Its folder is visible to itself and to layers
# that name it in SEES, so that an upward include does not compile (tests/layers shows it).
#
# A layer's kernels lie in NAME/generic/ and in the folder of the machine, NAME/${ABD_KERNELS}/; every source there is built. Only the
# layer itself and its tests see these folders. A file whose name ends in an instruction set's is compiled for it; those in AGAIN also
# for each set that is named there, with ABD_FOR_<SET> defined.
set(ABD_LAYERS "" CACHE INTERNAL "")

set(abd_options_avx2 -mavx2 -mbmi -mbmi2)
set(abd_options_avx512 ${abd_options_avx2} -mavx512f -mavx512bw -mavx512vl)
set(abd_options_pclmul -msse4.2 -mpclmul)
set(abd_options_vpclmul ${abd_options_avx512} ${abd_options_pclmul} -mvpclmulqdq)

function(abd_layer name)
	cmake_parse_arguments(layer "" "" "SEES;SOURCES;AGAIN" ${ARGN})
	set(target abd_layer_${name})
	set(own ${name} ${name}/generic ${name}/${ABD_KERNELS})
	file(GLOB kernels RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${name}/generic/*.c ${name}/${ABD_KERNELS}/*.c)
	foreach(again IN LISTS layer_AGAIN)
		string(REPLACE " " ";" sets ${again})
		list(POP_FRONT sets kernel)
		string(REGEX REPLACE "_[^_]*$" "" stem ${kernel})
		foreach(set IN LISTS sets)
			set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}/${stem}_${set}.c)
			file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${kernel}\" // NOLINT(bugprone-suspicious-include)\n")
			string(TOUPPER ${set} upper)
			set_property(SOURCE ${file} PROPERTY COMPILE_DEFINITIONS ABD_FOR_${upper})
			list(APPEND kernels ${file})
		endforeach()
	endforeach()
	foreach(kernel IN LISTS kernels)
		string(REGEX REPLACE ".*_(.*)\\.c" "\\1" set ${kernel})
		set_source_files_properties(${kernel} PROPERTIES COMPILE_OPTIONS "${abd_options_${set}}")
	endforeach()
	add_library(${target} OBJECT ${layer_SOURCES} ${kernels})
	target_link_libraries(${target} PRIVATE abd_settings Threads::Threads)
	if(ABD_COVERAGE) # of the library alone: tests that count take twice the time
		target_compile_options(${target} PRIVATE --coverage -fprofile-abs-path -fprofile-update=atomic)
	endif()
	if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT ABD_SANITIZE)
		target_compile_options(${target} PRIVATE -Wframe-larger-than=8192) # buffer.h promises it; checkers' frames are larger
	endif()
	set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	foreach(folder IN LISTS own layer_SEES)
		if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
			target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
		endif()
	endforeach()
	target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
	set(ABD_LAYERS ${ABD_LAYERS} ${target} CACHE INTERNAL "")
endfunction()

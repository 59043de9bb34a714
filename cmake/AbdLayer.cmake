# SPDX-License-Identifier: BSD-2-Clause
# abd_layer(NAME SEES lower... SOURCES file...): one object library per layer. Its folder is visible to itself and to layers
# that name it in SEES, so that an upward include does not compile (tests/layers shows it).
set(ABD_LAYERS "" CACHE INTERNAL "")

function(abd_layer name)
	cmake_parse_arguments(layer "" "" "SEES;SOURCES" ${ARGN})
	set(target abd_layer_${name})
	add_library(${target} OBJECT ${layer_SOURCES})
	target_link_libraries(${target} PRIVATE abd_settings Threads::Threads)
	set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_include_directories(${target} PRIVATE
		${CMAKE_CURRENT_SOURCE_DIR}/${name}
		${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
	foreach(lower IN LISTS layer_SEES)
		target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${lower})
	endforeach()
	set(ABD_LAYERS ${ABD_LAYERS} ${target} CACHE INTERNAL "")
endfunction()

# SPDX-License-Identifier: BSD-2-Clause
# What is installed: libraries, headers, the CMake package abd (abd::abd, abd::jemalloc), abd.pc and abd-jemalloc.pc. Nothing in it says where it was built or
# installed, so a moved prefix still works (tests/consumer moves one).
# Components: abd_runtime (what programs load), abd_development (what they are built with).
include(CMakePackageConfigHelpers)

set(abd_installed abd)
if(ABD_WITH_JEMALLOC)
	list(APPEND abd_installed abd_jemalloc abd_asks_jemalloc)
	set_target_properties(abd_asks_jemalloc PROPERTIES EXPORT_NAME jemalloc)
endif()
set(abd_rule "")
if(NOT ABD_INSTALL)
	# A host that exports a target which links abd::abd needs it in an export set, though the host installs none of it.
	set(abd_rule EXCLUDE_FROM_ALL)
endif()
install(TARGETS ${abd_installed} EXPORT abd-targets
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT abd_runtime NAMELINK_COMPONENT abd_development ${abd_rule}
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT abd_development ${abd_rule})
set(abd_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/abd)
install(EXPORT abd-targets NAMESPACE abd:: DESTINATION ${abd_package_dir} COMPONENT abd_development ${abd_rule})
if(NOT abd_instruments)
	export(EXPORT abd-targets NAMESPACE abd:: FILE ${PROJECT_BINARY_DIR}/abd-targets.cmake)
endif()
if(NOT ABD_INSTALL)
	return()
endif()
set(abd_absent "")
foreach(option ARC URING)
	if(NOT ABD_WITH_${option})
		string(TOLOWER ${option}.h header)
		list(APPEND abd_absent PATTERN ${header} EXCLUDE)
	endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/abd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	COMPONENT abd_development FILES_MATCHING PATTERN *.h PATTERN *.hpp ${abd_absent})
install(FILES ${PROJECT_BINARY_DIR}/include/abd/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/abd
	COMPONENT abd_development)

# The CMake package.
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/abd-config.cmake.in ${PROJECT_BINARY_DIR}/abd-config.cmake
	INSTALL_DESTINATION ${abd_package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what links it.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/abd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/abd-config.cmake ${PROJECT_BINARY_DIR}/abd-config-version.cmake
	DESTINATION ${abd_package_dir} COMPONENT abd_development)

# For hosts under ThreadSanitizer.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/abd COMPONENT abd_development)

# abd.pc. Its prefix is relative to the file itself.
file(RELATIVE_PATH abd_pc_prefix
	${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" abd_pc_prefix "${abd_pc_prefix}")
# Folders that were given as absolute paths stay where they are.
foreach(folder libdir includedir)
	string(TOUPPER CMAKE_INSTALL_${folder} variable)
	set(abd_pc_${folder} ${${variable}})
	if(NOT IS_ABSOLUTE "${${variable}}")
		string(PREPEND abd_pc_${folder} "\${prefix}/")
	endif()
endforeach()
set(abd_pc_libs -labd)
set(abd_pc_private "")
foreach(folder IN LISTS ABD_LZ4_LIBRARY_DIRS ABD_URCU_LIBRARY_DIRS ABD_URING_LIBRARY_DIRS)
	string(APPEND abd_pc_private " -L${folder}")
endforeach()
foreach(library IN LISTS ABD_LZ4_LIBRARIES ABD_URCU_LIBRARIES ABD_URING_LIBRARIES)
	string(APPEND abd_pc_private " -l${library}")
endforeach()
string(APPEND abd_pc_private " ${CMAKE_THREAD_LIBS_INIT}")
string(STRIP "${abd_pc_private}" abd_pc_private)
if(NOT BUILD_SHARED_LIBS)
	# Only the archive is built: it needs these libraries without --static too.
	string(APPEND abd_pc_libs " ${abd_pc_private}")
	# A plugin that holds the archive stays mapped; see lib/CMakeLists.txt. Programs ignore it.
	string(APPEND abd_pc_libs " -Wl,-z,nodelete")
endif()
set(abd_pc abd)
if(ABD_WITH_JEMALLOC)
	list(APPEND abd_pc abd-jemalloc)
endif()
foreach(name IN LISTS abd_pc)
	configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT abd_development)
endforeach()

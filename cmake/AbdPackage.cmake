# SPDX-License-Identifier: BSD-2-Clause
# Debian packages by CPack: libabd0.1 (what programs load), libabd-dev (what they are built with), abd-tools (programs).
# `cpack -G DEB` in a build tree configured with CMAKE_INSTALL_PREFIX=/usr and the library directory of Debian's
# architecture; tests/gates/package does that, asks lintian, installs, uses and removes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libabd)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(ABD_PACKAGE_CONTACT "The libabd authors <libabd@example.org>" CACHE STRING "Who answers for packages: Name <address>")
set(CPACK_PACKAGE_CONTACT ${ABD_PACKAGE_CONTACT})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(debian_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL abd_runtime abd_development)
if(TARGET abd-perf OR TARGET abd-explain)
	list(APPEND CPACK_COMPONENTS_ALL abd_tools)
endif()

set(runtime_package libabd${ABD_SOVERSION})
set(CPACK_DEBIAN_ABD_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_ABD_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ABD_RUNTIME_PACKAGE_SHLIBDEPS ON)
# CPack 3.25 writes neither of these for libraries that aren't executable files. Before 1.0 a minor version may break the
# ABI, so programs depend on exactly the version they were built with.
set(control ${PROJECT_BINARY_DIR}/control)
set(shlibs "libabd ${ABD_SOVERSION} ${runtime_package} (= ${debian_version})\n")
if(ABD_WITH_JEMALLOC)
	string(APPEND shlibs "libabd_jemalloc ${ABD_SOVERSION} ${runtime_package} (= ${debian_version})\n")
endif()
file(CONFIGURE OUTPUT ${control}/shlibs @ONLY CONTENT "@shlibs@")
file(CONFIGURE OUTPUT ${control}/triggers @ONLY CONTENT "activate-noawait ldconfig\n")
file(CHMOD ${control}/shlibs ${control}/triggers PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(CPACK_DEBIAN_ABD_RUNTIME_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
set(CPACK_COMPONENT_ABD_RUNTIME_DESCRIPTION
"One type over contiguous and scattered memory, lz4 decoded straight from
scattered memory, copies made durable, and an adaptive replacement cache read
under RCU. This package holds the shared library.")

set(CPACK_DEBIAN_ABD_DEVELOPMENT_PACKAGE_NAME libabd-dev)
set(CPACK_DEBIAN_ABD_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_ABD_DEVELOPMENT_PACKAGE_DEPENDS "${runtime_package} (= ${debian_version})")
set(CPACK_COMPONENT_ABD_DEVELOPMENT_DESCRIPTION
"This package holds the headers, the CMake package abd, and abd.pc for
pkg-config.")

set(CPACK_DEBIAN_ABD_TOOLS_PACKAGE_NAME abd-tools)
set(CPACK_DEBIAN_ABD_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_ABD_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib) # libabd itself; named in DEPENDS
set(CPACK_DEBIAN_ABD_TOOLS_PACKAGE_DEPENDS "${runtime_package} (= ${debian_version})")
set(CPACK_DEBIAN_ABD_TOOLS_PACKAGE_SUGGESTS "python3, python3-matplotlib")
set(CPACK_COMPONENT_ABD_TOOLS_DESCRIPTION
"abd-perf measures what single-run buffers, scatter decoding, compare kernels
and flush policies are worth on this machine; abd-explain draws what
operations on buffers do.")

# Debian's policy asks every package for its copyright, our changelog, and the packaging's changelog.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where that is set
set(changelogs ${PROJECT_BINARY_DIR}/changelogs)
file(CONFIGURE OUTPUT ${changelogs}/changelog.Debian @ONLY CONTENT
"libabd (@debian_version@) unstable; urgency=medium

  * Made by CPack from version @PROJECT_VERSION@.

 -- @CPACK_PACKAGE_CONTACT@  @now@
")
file(COPY_FILE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${changelogs}/changelog ONLY_IF_DIFFERENT)
install(CODE "execute_process(COMMAND gzip -9nkf changelog changelog.Debian
	WORKING_DIRECTORY \"${changelogs}\" COMMAND_ERROR_IS_FATAL ANY)" ALL_COMPONENTS EXCLUDE_FROM_ALL)
# And the notices of what is inside: xxhash's header in the library, jemalloc's archive in its companion.
file(READ ${PROJECT_SOURCE_DIR}/LICENSE copyright)
set(inside xxhash)
if(ABD_WITH_JEMALLOC)
	list(APPEND inside jemalloc)
endif()
foreach(name IN LISTS inside)
	set(notice /usr/share/doc/lib${name}-dev/copyright)
	if(EXISTS ${notice})
		file(READ ${notice} text)
		string(APPEND copyright "\n--- ${name}, of which this contains a part:\n\n${text}")
	endif()
endforeach()
file(WRITE ${control}/copyright "${copyright}")
function(abd_package_documents component package)
	set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
	install(FILES ${control}/copyright DESTINATION ${folder}
		COMPONENT ${component} EXCLUDE_FROM_ALL)
	install(FILES ${changelogs}/changelog.gz ${changelogs}/changelog.Debian.gz DESTINATION ${folder}
		COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
abd_package_documents(abd_runtime ${runtime_package})
abd_package_documents(abd_development libabd-dev)
abd_package_documents(abd_tools abd-tools)

include(CPack)

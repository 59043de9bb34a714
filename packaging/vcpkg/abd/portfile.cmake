# SPDX-License-Identifier: BSD-2-Clause
# An overlay port, built from the tree it lies in: vcpkg install abd --overlay-ports=packaging/vcpkg
set(SOURCE_PATH ${CMAKE_CURRENT_LIST_DIR}/../../..)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
	jemalloc ABD_WITH_JEMALLOC
	arc ABD_WITH_ARC
	uring ABD_WITH_URING)
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH}
	OPTIONS ${features} -DABD_BUILD_TESTS=OFF -DABD_BUILD_PERF=OFF -DABD_BUILD_EXAMPLES=OFF
		-DABD_BUILD_EXPLAIN=OFF -DABD_BUILD_DOCS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/abd)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)

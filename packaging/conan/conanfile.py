# SPDX-License-Identifier: BSD-2-Clause
"""Conan 2 recipe. From the tree: conan create packaging/conan --build=missing

lz4, xxhash, liburcu, liburing and, where it is asked for, jemalloc come from the system: libabd needs just what their packages there
offer (see docs/use/install.md, "jemalloc never becomes your program's malloc").
"""
import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt


class AbdConan(ConanFile):
    name = "abd"
    license = "BSD-2-Clause"
    description = "ZFS-style linear, scatter and gang buffers in userspace"
    topics = ("storage", "buffers", "zfs", "lz4", "cache")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "with_jemalloc": [True, False], "with_arc": [True, False],
               "with_uring": [True, False]}
    default_options = {"shared": True, "with_jemalloc": False, "with_arc": True, "with_uring": True}
    languages = ["C"]

    _top = pathlib.Path(__file__).resolve().parents[2]

    def set_version(self):
        text = (self._top / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(abd VERSION (\S+)", text).group(1)

    def export_sources(self):
        for folder in ("cmake", "include", "lib"):
            copy(self, f"{folder}/*", self._top, self.export_sources_folder)
        for name in ("CMakeLists.txt", "LICENSE", "CHANGELOG.md"):
            copy(self, name, self._top, self.export_sources_folder)

    def system_requirements(self):
        packages = ["liblz4-dev", "libxxhash-dev"]
        packages += ["libjemalloc-dev"] if self.options.with_jemalloc else []
        packages += ["liburcu-dev"] if self.options.with_arc else []
        packages += ["liburing-dev"] if self.options.with_uring else []
        Apt(self).install(packages)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "PERF", "EXAMPLES", "EXPLAIN", "DOCS"):
            toolchain.cache_variables[f"ABD_BUILD_{part}"] = False
        for name in ("jemalloc", "arc", "uring"):
            toolchain.cache_variables[f"ABD_WITH_{name.upper()}"] = bool(self.options.get_safe(f"with_{name}"))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")

    def package_info(self):
        # The package's own config says everything, including the order of libraries, which a generated config would lose.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/abd"]

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The libraries that libabd needs, of another architecture, in build/sysroot/ARCH: Debian's packages, fetched by apt with lists of
# its own below build/sysroot and unpacked there. Nothing is installed, no architecture is added, no root is needed.
# The kernel's headers are for compilers that bring none (musl-gcc); the others have their own package of them.
# usage: tools/sysroot.sh ARCH        a Debian architecture: arm64, armhf, i386, s390x, amd64 ...
set -eu

arch=$1
cd "$(dirname "$0")/.."
root=$PWD/build/sysroot/$arch
packages="liblz4-dev liblz4-1 libxxhash-dev liburcu-dev liburcu8 liburing-dev linux-libc-dev"
# A sysroot with other packages is made anew.
[ "$(cat "$root/complete" 2>/dev/null || :)" != "$packages" ] || exit 0
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/deb"
: >"$root/apt/status"

apt() {
	apt-get -q -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$root/apt" \
		-o "Dir::State::lists=$root/apt/lists" -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt/cache" \
		-o "Acquire::Languages=none" -o "APT::Sandbox::User=" "$@"
}

# A list that can't be had (of security updates, for instance) is no failure; a package that can't, is.
apt update || :
# shellcheck disable=SC2086
(cd "$root/deb" && apt download $packages)
for package in "$root"/deb/*.deb; do
	dpkg-deb -x "$package" "$root"
done
rm -rf "$root/deb" "$root/apt"
printf '%s\n' "$packages" >"$root/complete"

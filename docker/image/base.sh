#!/bin/bash
# base.sh OUT.tar: the first layer of every image, the part of Debian 12 that a CPU tritonserver needs. Needs root and mmdebstrap.
# The same packages give the same bytes: times are clamped, nothing is configured, bytecode carries a hash in place of a time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export SOURCE_DATE_EPOCH=1700000000
# libicudata, libxml2 and the like come with the server itself (nvidia_pytriton.libs).
exec mmdebstrap --quiet --variant=extract \
  --include=base-files,libc6,libgcc-s1,libstdc++6,zlib1g,python3.11-minimal,libpython3.11,bash,busybox-static,tini \
  --dpkgopt='path-exclude=/usr/share/*' --dpkgopt='path-exclude=*/pydoc_data/*' --dpkgopt='path-exclude=*/gconv/*' \
  --extract-hook="$here/base-hook.sh" bookworm "$1"

"""image.py SITE PACKAGES BASE.tar OUT.tar VERSION [OPTION…]: an image of a CPU tritonserver, as a docker-archive.

SITE is the unpacked wheel of the server, PACKAGES the folder of the models' Python packages, BASE.tar what base.sh made. Run by the
CPython that the image has (3.11), which compiles the packages. Prints the image's id: the digest of its configuration, and so
the same for the same parts.

--container RELEASE      NVIDIA's container with this server, as 24.10
--tensorrt-llm RELEASE   adds the metadata of that package, and nothing of the package: what tells an engine of another release apart reads no more
--libraries FOLDER --front-ends RELEASE
                         of a newer core behind older front ends: the C library that it needs, in the place of Debian 12's, and whose they are
"""

import argparse
import compileall
import hashlib
import io
import json
import os
import py_compile
import shutil
import sys
import tarfile
import tempfile

TIME = 1700000000
TIME_TEXT = "2023-11-14T22:13:20Z"
SERVER = "opt/tritonserver"
PYTHON = "usr/local/lib/python3.11/dist-packages"
REAL = ".real"
PATH = "/opt/tritonserver/bin:/usr/local/bin:/usr/bin:/sbin:/bin"


class Layer:
    """A tar with sorted entries, one owner and one time."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.GNU_FORMAT)
        self.folders = set()

    def entry(self, name, kind, mode):
        parent = os.path.dirname(name)
        if parent and parent not in self.folders:
            self.folder(parent)
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.mtime = kind, mode, TIME
        return info

    def folder(self, name):
        if name in self.folders:
            return
        info = self.entry(name, tarfile.DIRTYPE, 0o755)
        self.folders.add(name)
        self.tar.addfile(info)

    def link(self, name, target):
        info = self.entry(name, tarfile.SYMTYPE, 0o777)
        info.linkname = target
        self.tar.addfile(info)

    def file(self, name, data, executable=False):
        info = self.entry(name, tarfile.REGTYPE, 0o755 if executable else 0o644)
        info.size = len(data)
        self.tar.addfile(info, io.BytesIO(data))

    def copy(self, name, path, executable=False):
        with open(path, "rb") as file:
            self.file(name, file.read(), executable)

    def tree(self, name, path, skip=lambda name: False):
        for folder, folders, files in os.walk(path):
            folders.sort()
            for leaf in sorted(files):
                whole = os.path.join(folder, leaf)
                if not skip(leaf):
                    self.copy(os.path.join(name, os.path.relpath(whole, path)), whole, os.access(whole, os.X_OK))

    def finish(self):
        self.tar.close()
        return self.bytes.getvalue()


def program(path):
    """Of a newer core the program itself, not the script that starts it on another host's C library: here it is the image's own."""
    return path + REAL if os.path.exists(path + REAL) else path


def server(site, version):
    layer = Layer()
    root = os.path.join(site, "pytriton", "tritonserver")
    layer.copy(f"{SERVER}/bin/tritonserver", program(f"{root}/bin/tritonserver"), True)
    # A Python that no stub of this image is linked with.
    layer.tree(f"{SERVER}/lib", f"{site}/nvidia_pytriton.libs", lambda leaf: leaf.startswith("libpython"))
    for leaf in sorted(os.listdir(f"{root}/backends/python")):
        path = f"{root}/backends/python/{leaf}"
        if os.path.isfile(path) and not leaf.endswith(REAL):
            layer.copy(f"{SERVER}/backends/python/{leaf}", program(path), leaf.endswith("_stub"))
    layer.tree(f"{SERVER}/caches", f"{root}/caches")
    layer.file(f"{SERVER}/TRITON_VERSION", f"{version}\n".encode())
    # Where the RPATH of the Python backend and of its stub leads from here.
    layer.link("nvidia_pytriton.libs", f"{SERVER}/lib")
    return layer.finish()


def packages(folder):
    layer = Layer()
    with tempfile.TemporaryDirectory() as temporary:
        copy = os.path.join(temporary, "packages")
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        # Read-only mounts and users other than root could not write bytecode at the first import.
        compileall.compile_dir(
            copy, quiet=2, stripdir=copy, prependdir=f"/{PYTHON}", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        layer.tree(PYTHON, copy)
    return layer.finish()


def libraries(folder):
    """What is here is newer than Debian 12's under the same name, and takes its place."""
    layer = Layer()
    for leaf in sorted(os.listdir(folder)):
        path, name = os.path.join(folder, leaf), f"lib/x86_64-linux-gnu/{leaf}"
        if os.path.islink(path):
            layer.link(name, os.readlink(path))
        else:
            layer.copy(name, path, os.access(path, os.X_OK))
    return layer.finish()


def metadata(release):
    layer = Layer()
    layer.file(f"{PYTHON}/tensorrt_llm-{release}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: tensorrt_llm\nVersion: {release}\n".encode())
    return layer.finish()


def main():
    parser = argparse.ArgumentParser()
    for name in ("site", "packages", "base", "out", "version"):
        parser.add_argument(name)
    for name in ("--container", "--tensorrt-llm", "--libraries", "--front-ends"):
        parser.add_argument(name)
    given = parser.parse_args()
    version, tag = given.version, given.version
    with open(given.base, "rb") as file:
        layers = [("Debian", file.read()), ("packages", packages(given.packages))]
    environment = [f"PATH={PATH}", f"TRITON_SERVER_VERSION={version}"]
    labels = {"com.nvidia.tritonserver.version": version, "lockstep.image": "triton-cpu"}
    if given.container is not None:
        environment.append(f"NVIDIA_TRITON_SERVER_VERSION={given.container}")
    if given.libraries is not None:
        layers.append(("Debian 13's libraries", libraries(given.libraries)))
        labels["lockstep.front-ends"] = given.front_ends
        tag = f"{tag}-behind-{given.front_ends}"
    layers.append((f"tritonserver {version}", server(given.site, version)))
    if given.tensorrt_llm is not None:
        layers.append((f"metadata of tensorrt_llm {given.tensorrt_llm}", metadata(given.tensorrt_llm)))
        tag = f"{tag}-trtllm-{given.tensorrt_llm}"
    ids = [hashlib.sha256(data).hexdigest() for _, data in layers]
    configuration = {
        "architecture": "amd64",
        "os": "linux",
        "created": TIME_TEXT,
        "config": {
            "Env": environment,
            "Labels": labels,
            "ExposedPorts": {"8000/tcp": {}, "8001/tcp": {}, "8002/tcp": {}},
            "WorkingDir": f"/{SERVER}",
        },
        "history": [{"created": TIME_TEXT, "created_by": name} for name, _ in layers],
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in ids]},
    }
    text = json.dumps(configuration, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    manifest = [{"Config": f"{digest}.json", "RepoTags": [f"lockstep-triton-cpu:{tag}"], "Layers": [f"{name}/layer.tar" for name in ids]}]
    with tarfile.open(given.out, "w") as archive:

        def put(name, data):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), TIME
            archive.addfile(info, io.BytesIO(data))

        put(f"{digest}.json", text)
        for name, (_, data) in zip(ids, layers):
            put(f"{name}/layer.tar", data)
        put("manifest.json", json.dumps(manifest).encode())
    print(f"sha256:{digest}")


main()

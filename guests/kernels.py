# SPDX-License-Identifier: GPL-2.0-only
"""The kernel matrix (kernels.toml), and the cache of images it leads to.

python3 -m guests.kernels fetch     have every kernel's image and headers, or those of SERIES...;
                                    flavours are only had when they are named
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guests.command import call, ended_with_us
from guests.report import ROOT, ToolError, main_guard, say

MATRIX = ROOT / "kernels.toml"
# The built kernel that tests need; others are only had when they are named.
DEBUG = "debug"
# What KASAN instruments, as --param of gcc.
KASAN_PARTS = ("instrument-reads", "instrument-writes", "stack", "globals", "memintrin")
# What a flavour may come to; kernels.toml says what each word means.
OUTCOMES = ("works", "refused", "unknown")


def cache_dir() -> Path:
    """Where images, sources and tools are kept, outside the checkout."""
    named = os.environ.get("LIVEMM_CACHE")
    path = Path(named) if named else Path.home() / ".cache" / "livemm"
    if not path.is_absolute():
        raise ToolError(f"LIVEMM_CACHE={named}: must be an absolute path")
    return path


@dataclass(frozen=True)
class Kernel:
    """A row of the matrix."""

    series: str
    image: str
    headers: str
    compiler: str
    suite: str
    buildroot: bool = False
    base: str = ""
    pick: str = "newest"
    policies: dict[str, str] = field(default_factory=dict)

    @property
    def record(self) -> Path:
        """What the meta packages resolved to when they were last fetched."""
        return cache_dir() / "kernels" / f"{self.series}.json"

    @property
    def root(self) -> Path | None:
        """The folder that builds for this kernel, where the host cannot."""
        return cache_dir() / "roots" / self.base if self.buildroot else None

    def like_series(self, package: str) -> bool:
        """Whether a package is of this series."""
        return f"-{self.series}." in package

    def release(self) -> str:
        """The kernel release fetched for this series."""
        try:
            data = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ToolError(f"kernel {self.series} is not fetched; run `make setup`") from error
        return str(data["release"])


@dataclass(frozen=True)
class Flavour(Kernel):
    """Another build of a kernel, or a kernel that is not in the matrix."""

    like: str = ""
    outcome: str = ""

    def like_series(self, package: str) -> bool:
        """Whether a package is of the series that the flavour is compared with."""
        return self.outcome == "unknown" or f"-{self.like}." in package


@dataclass(frozen=True)
class Image:
    """Something that boots: a stock kernel or a built one."""

    name: str
    release: str
    vmlinuz: Path
    modules: Path
    kdir: Path
    compiler: str
    root: Path | None = None
    built: bool = False  # from sources, by guests.kernel_build
    debug: bool = False  # with checkers: slow, and complains
    kargs: tuple[str, ...] = ()  # more arguments of the kernel


@dataclass(frozen=True)
class Built:
    """A kernel of the matrix that is built from sources."""

    name: str
    source: str
    configs: tuple[str, ...]
    compiler: str
    checkers: bool = False
    unchecked: tuple[str, ...] = ()
    make: tuple[str, ...] = ()
    kargs: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """More words of the make line."""
        if not self.unchecked:
            return [*self.make]
        # Kbuild puts CFLAGS_KERNEL behind the flags of KASAN, and gcc has no flag that takes these
        # back: what KASAN would instrument is switched off one by one.
        inside = " ".join(f"{folder}/%" for folder in self.unchecked)
        off = "".join(f" --param asan-{what}=0" for what in KASAN_PARTS)
        return [*self.make, f"CFLAGS_KERNEL=$(if $(filter {inside},$(obj)/),-g0{off})"]

    @property
    def config(self) -> str:
        """The lines of its configuration."""
        return "".join((ROOT / name).read_text(encoding="utf-8") for name in self.configs)

    @property
    def tree(self) -> Path:
        """Its place in the cache."""
        return cache_dir() / self.name / cache_key(self)


def with_tuples(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose lists cannot be changed."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def load() -> tuple[list[Kernel], dict[str, Built]]:
    """Read kernels.toml; a wrong key or type is refused by name."""
    try:
        data = tomllib.loads(MATRIX.read_text(encoding="utf-8"))
        kernels = [Kernel(**row) for row in data["kernel"]]
        rows = [Built(**with_tuples(row)) for row in data["built"]]
    except (tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise ToolError(f"{MATRIX.name}: {error}") from error
    for kernel in kernels:
        if kernel.buildroot and not kernel.base:
            raise ToolError(f"{MATRIX.name}: {kernel.series}: buildroot needs base")
    built = {row.name: row for row in rows}
    if DEBUG not in built or len(built) < len(rows):
        raise ToolError(f"{MATRIX.name}: built: one row a name, and one of them {DEBUG}")
    return kernels, built


def flavours() -> list[Flavour]:
    """Read the rows [[flavour]] of kernels.toml; a wrong key or word is refused by name."""
    known = {kernel.series for kernel in load()[0]}
    try:
        data = tomllib.loads(MATRIX.read_text(encoding="utf-8"))
        rows = [Flavour(**row) for row in data["flavour"]]
    except (tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise ToolError(f"{MATRIX.name}: flavour: {error}") from error
    for row in rows:
        where = f"{MATRIX.name}: flavour {row.series}"
        if row.outcome not in OUTCOMES:
            raise ToolError(f"{where}: outcome {row.outcome}: not in {', '.join(OUTCOMES)}")
        if row.like not in known:
            raise ToolError(f"{where}: like {row.like}: not a series of the matrix")
        if row.pick not in ("newest", "oldest"):
            raise ToolError(f"{where}: pick {row.pick}: neither newest nor oldest")
        if row.buildroot and not row.base:
            raise ToolError(f"{where}: buildroot needs base")
    names = [row.series for row in rows]
    if len(set(names)) < len(names) or known & set(names):
        raise ToolError(f"{MATRIX.name}: two kernels of one name")
    return rows


def stock_image(kernel: Kernel) -> Image:
    """The fetched image of a row."""
    release = kernel.release()
    tree = cache_dir() / "kernels" / release
    modules = tree / "lib" / "modules" / release
    # The packages of 7.2 have it among the modules, to be copied when they are installed.
    places = [tree / "boot" / f"vmlinuz-{release}", modules / "vmlinuz"]
    vmlinuz = next((place for place in places if place.exists()), places[0])
    kdir = (Path("/lib/modules") / release / "build" if kernel.root else
            headers_tree(release) / "usr/src" / f"linux-headers-{release}")
    return Image(kernel.series, release, vmlinuz, modules, kdir, kernel.compiler, kernel.root)


def headers_tree(release: str) -> Path:
    """Where the headers of a kernel are unpacked that the host builds for."""
    return cache_dir() / "headers" / release


def source_version(package: str) -> str:
    """The version of the installed source package."""
    status, text = call(["dpkg-query", "-W", "-f", "${Version}", package], check=False)
    if status != 0 or not text:
        raise ToolError(f"{package} is not installed; `make setup` or `make kernel` installs it")
    return text.strip()


def cache_key(row: Built) -> str:
    """Configuration, source version, compiler and words of make decide; nothing else does."""
    _, compiler = call([row.compiler, "--version"])
    digest = hashlib.sha256()
    for part in (row.config, source_version(row.source), compiler, *row.words):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


def built_image(name: str = DEBUG) -> Image:
    """A built kernel, as guests.kernel_build left it."""
    row = load()[1][name]
    tree = row.tree
    done = tree / ".done"
    if not done.exists():
        raise ToolError(f"the {name} kernel is not built; run `make kernel NAME={name}`")
    release = done.read_text(encoding="utf-8").strip()
    return Image(name, release, tree / "boot" / f"vmlinuz-{release}",
                 tree / "lib" / "modules" / release, tree / "build", row.compiler, built=True,
                 debug=row.checkers, kargs=row.kargs)


def with_checkers() -> list[str]:
    """The names of all kernels that are built with checkers."""
    return [row.name for row in load()[1].values() if row.checkers]


def images(wanted: str | None = None) -> list[Image]:
    """Every image that is tested, or the one called `wanted`.

    That is a series, a release, a built kernel or a flavour.
    """
    kernels, built = load()
    if wanted is None:
        return [*(stock_image(kernel) for kernel in kernels), built_image()]
    if wanted in built:
        return [built_image(wanted)]
    rows = [*kernels, *flavours()]
    for kernel in rows:
        if wanted == kernel.series or kernel.record.exists() and wanted == kernel.release():
            return [stock_image(kernel)]
    known = ", ".join([*(kernel.series for kernel in rows), *built])
    raise ToolError(f"kernel {wanted}: not in {MATRIX.name} ({known})")


def in_root(kernel: Kernel, argv: list[str]) -> list[str]:
    """The same command, in the kernel's own folder where it has one."""
    return ["chroot", str(kernel.root), *argv] if kernel.root else argv


def concrete(kernel: Kernel, meta: str) -> str:
    """The package a meta package depends on now: linux-image-amd64 -> ...-6.1.0-56-amd64."""
    stem = re.match(r"linux-(image|headers)", meta)
    if stem is None:
        raise ToolError(f"{MATRIX.name}: {meta}: neither linux-image-* nor linux-headers-*")
    if "*" in meta:
        return matching(kernel, meta)
    status, text = call(in_root(kernel, ["apt-cache", "depends", meta]), check=False)
    found = re.search(rf"Depends: ({stem.group(0)}-\d\S+)", text)
    if status != 0 or found is None:
        raise ToolError(f"{meta}: apt knows no such package; is {kernel.suite} in its sources?")
    return found.group(1)


def matching(kernel: Kernel, pattern: str) -> str:
    """The latest package whose name has anything but a dash where the pattern has a star.

    Or the earliest, where the row says so.
    """
    _, text = call(in_root(kernel, ["apt-cache", "pkgnames", pattern.partition("*")[0]]))
    wanted = re.compile(re.escape(pattern).replace(r"\*", "[^-]*"))
    found = [name for name in text.split() if wanted.fullmatch(name)]
    if not found:
        raise ToolError(f"{pattern}: apt knows none; does {kernel.suite} still have any?")
    found.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    return found[-1 if kernel.pick == "newest" else 0]


def candidate(kernel: Kernel, package: str) -> str:
    """The version apt would fetch."""
    _, text = call(in_root(kernel, ["apt-cache", "policy", package]))
    found = re.search(r"Candidate: (\S+)", text)
    if found is None or found.group(1) == "(none)":
        raise ToolError(f"{package}: apt has no version of it")
    return found.group(1)


def installed(kernel: Kernel, package: str) -> bool:
    """Whether dpkg has the package configured."""
    argv = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    status, text = call(in_root(kernel, argv), check=False)
    return status == 0 and text.strip() == "installed"


def mirror() -> str:
    """Where this machine's apt has Debian's own packages from."""
    wanted = "$(REPO_URI) $(ORIGIN) $(LABEL)"
    _, text = call(["apt-get", "indextargets", "--format", wanted, "Created-By: Packages"])
    for line in text.splitlines():
        uri, _, rest = line.partition(" ")
        if rest == "Debian Debian" and uri.startswith(("http://", "https://", "file:")):
            return uri
    raise ToolError("apt has no Debian mirror configured, or no lists of it yet: apt-get update")


def make_root(kernel: Kernel) -> None:
    """Debootstrap the folder of a kernel whose compiler the host does not have."""
    root = kernel.root
    if root is None:
        return
    if not (root / ".done").exists():
        say(f"    {kernel.base}: making a folder to build kernel {kernel.series} in")
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        call(["debootstrap", "--variant=minbase", kernel.base, root, mirror()])
        (root / ".done").touch()
    add_suite(kernel, root)


def add_suite(kernel: Kernel, root: Path) -> None:
    """Have apt in the folder know the suite: kernels of several suites may share a folder."""
    sources = [root / "etc/apt/sources.list", *(root / "etc/apt/sources.list.d").glob("*.list")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources if path.exists())
    if f" {kernel.suite} " in text:
        return
    place = root / f"etc/apt/sources.list.d/{kernel.suite}.list"
    place.write_text(f"deb {mirror()} {kernel.suite} main\n", encoding="utf-8")
    try:
        refresh(kernel)
    except ToolError:
        place.unlink()
        raise


def refresh(kernel: Kernel) -> None:
    """Have apt know the packages of today."""
    call(in_root(kernel, ["apt-get", "-qq", "update"]))


def dependencies(kernel: Kernel, package: str, kinds: str) -> list[str]:
    """Those packages linux-KIND-... that a package depends on."""
    _, text = call(in_root(kernel, ["apt-cache", "depends", package]))
    return re.findall(rf"Depends: (linux-(?:{kinds})-\S+)", text)


def have_headers(kernel: Kernel, package: str) -> None:
    """Headers: installed in a kernel's own folder, else unpacked into the cache."""
    if kernel.root:
        install_in_root(kernel, package)
        return
    release = package.removeprefix("linux-headers-")
    tree = headers_tree(release)
    # Installed headers of 6.12 and later would bring the image, and the image a boot entry.
    packages = [package, *dependencies(kernel, package, "headers|kbuild")]
    wanted = "".join(f"{name}={candidate(kernel, name)}\n" for name in packages)
    stamp = tree / ".packages"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    say(f"    fetching {package}")
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in packages:
        download_and_unpack(kernel, name, tree)
    makefile = tree / "usr/src" / package / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    makefile.write_text(text.replace("/usr/src/", f"{tree}/usr/src/"), encoding="utf-8")
    stamp.write_text(wanted, encoding="utf-8")


def install_in_root(kernel: Kernel, package: str) -> None:
    """Headers and the compiler, in a folder of its own.

    With W=1, make runs kernel-doc, which was a script of perl on 6.12.
    """
    missing = [name for name in (package, kernel.compiler, "make", "perl")
               if not installed(kernel, name)]
    if not missing:
        return
    say(f"    installing {' '.join(missing)} in {kernel.root}")
    call(in_root(kernel, ["apt-get", "-qq", "-y", "--no-install-recommends", "-t", kernel.suite,
                          "install", *missing]), env={"DEBIAN_FRONTEND": "noninteractive"})
    call(in_root(kernel, ["apt-get", "clean"]))


def parts(kernel: Kernel, package: str, release: str) -> list[str]:
    """The image package, and those of its release that it was split into (from 7.2 on)."""
    named = dependencies(kernel, package, "base|binary|modules")
    return [package, *(name for name in named if name.endswith(release))]


def fetch_image(kernel: Kernel, package: str) -> None:
    """Unpack the image package and its parts into the cache; nothing is installed on the host."""
    release = package.removeprefix("linux-image-")
    version = candidate(kernel, package)
    tree = cache_dir() / "kernels" / release
    stamp = tree / ".package"
    wanted = f"{package}={version}\n"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        say(f"    fetching {package} {version}")
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        for part in parts(kernel, package, release):
            download_and_unpack(kernel, part, tree)
        if not (tree / "lib").exists():
            (tree / "lib").symlink_to("usr/lib")  # packages made for a merged /usr
        call(["depmod", "-b", tree, release])
        stamp.write_text(wanted, encoding="utf-8")
    record = {"release": release, "image": package, "version": version}
    kernel.record.write_text(json.dumps(record) + "\n", encoding="utf-8")


def download_and_unpack(kernel: Kernel, package: str, tree: Path) -> None:
    """apt-get download where the package's suite is known, dpkg-deb -x in the tree."""
    parent = kernel.root / "var/tmp" if kernel.root else cache_dir()
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        fetch = "apt-get -qq -o APT::Sandbox::User=root download " + package
        if kernel.root:
            inner = "/" + str(Path(folder).relative_to(kernel.root))
            call(in_root(kernel, ["sh", "-c", f"cd {inner} && {fetch}"]))
        else:
            call(["sh", "-c", fetch], cwd=Path(folder))
        found = list(Path(folder).glob("*.deb"))
        if len(found) != 1:
            raise ToolError(f"{package}: apt-get download left {len(found)} packages")
        call(["dpkg-deb", "-x", found[0], tree])


def fetch_one(kernel: Kernel) -> None:
    """Have the image and the headers of a row."""
    (cache_dir() / "kernels").mkdir(parents=True, exist_ok=True)
    make_root(kernel)
    headers, image = concrete(kernel, kernel.headers), concrete(kernel, kernel.image)
    for package in (headers, image):
        # A meta package follows the release of the host's Debian.
        if not kernel.like_series(package):
            raise ToolError(f"kernel {kernel.series}: {kernel.suite} gives {package} here, which "
                            "is another series; livemm is developed on Debian 12")
    have_headers(kernel, headers)
    fetch_image(kernel, image)
    say(f"    kernel {kernel.series}: {kernel.release()}")


def fetch(wanted: list[str]) -> int:
    """Have images and headers of the whole matrix, or of the series and flavours named."""
    kernels, _ = load()
    rows = {kernel.series: kernel for kernel in [*kernels, *flavours()]}
    if unknown := set(wanted) - rows.keys():
        raise ToolError(f"{', '.join(sorted(unknown))}: not in {MATRIX.name}")
    chosen = [rows[name] for name in wanted] or kernels
    # A folder has an apt of its own, which need not wait for the host's.
    apart = [kernel for kernel in chosen if kernel.buildroot]
    beside = apart if len(apart) == 1 and len(chosen) > 1 else []
    with ExitStack() as stack:
        others = [stack.enter_context(ended_with_us(subprocess.Popen(
            [sys.executable, "-m", "guests.kernels", "fetch", kernel.series], cwd=ROOT, text=True)))
            for kernel in beside]
        for kernel in chosen:
            if kernel in beside:
                continue
            try:
                fetch_one(kernel)
            except ToolError as error:
                # Its suite drops what has been replaced; whatever needs it will say so.
                if not kernel.buildroot:
                    raise
                say(f"    kernel {kernel.series} is left out: {error}")
        if any([other.wait() for other in others]):
            raise ToolError("a kernel could not be fetched")
    return 0


def main() -> int:
    if sys.argv[1:2] != ["fetch"]:
        raise ToolError("usage: python3 -m guests.kernels fetch [SERIES...]")
    return fetch(sys.argv[2:])


if __name__ == "__main__":
    main_guard(main)

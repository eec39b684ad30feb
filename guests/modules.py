# SPDX-License-Identifier: GPL-2.0-only
"""Build the modules for kernels: python3 -m guests.modules [--kernel K] [--variants K]

The sources are copied to build/RELEASE, so that kernels do not share objects,
and built there with W=1 and every warning an error.  build/RELEASE/modroot
is a tree for modprobe: the kernel's own modules and ours.
"""

import argparse
import os
import re
import shutil
from functools import partial
from pathlib import Path

from guests.command import call, tail
from guests.kernels import Image, images, load
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say

SOURCES = ["module", "kunit", "tests/kmod"]
# The modules of the package; livemm.ko has the livepatches loaded, `livemmctl record` the recorder.
MODULES = ("livemm", "livemm_klp_lists", "livemm_klp_giveback", "livemm_klp_fallback",
           "livemm_record")
# Builds of livemm.ko that must be refused, by the make variable that spoils them.
VARIANTS = {
    "break-drain": "LMM_BREAK=drain",
    "break-drain_list": "LMM_BREAK=drain_list",
    "break-page_free": "LMM_BREAK=page_free",
    "break-high_fraction": "LMM_BREAK=percpu_pagelist_high_fraction",
    "break-drain_pages_zone": "LMM_BREAK=drain_pages_zone",
    "other-release": "LMM_BUILT_FOR=6.1.0-0-other",
    "other-build": "LMM_BUILT_VERSION=Debian 6.1.38-2",
    "other-vendor": "LMM_VENDOR=Ubuntu",
}
# With the same words make compiles nothing anew: sparse reads what modules has built.
WORDS = ["W=1", "KCFLAGS=-Werror", "LMM_TESTS=1"]
_COMPLAINT = re.compile(r"\b(warning|error)\b", re.IGNORECASE)


def sync(folder: Path) -> None:
    """Make folder hold the sources of the checkout, and none that are gone.

    A file that is as before keeps its time, which make goes by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    call(["rsync", "--recursive", "--checksum", "--relative", "--delete", "--exclude=*.mod.c",
          "--include=*/", "--include=*.[chS]", "--include=/Kbuild", "--exclude=*",
          "Kbuild", *SOURCES, f"{folder}/"], cwd=ROOT)


def make_argv(image: Image, folder: Path, words: list[str]) -> list[str]:
    """The make line, inside the kernel's own folder where it has one."""
    inner = "/mnt" if image.root else str(folder)
    argv = ["make", "-C", str(image.kdir), f"M={inner}", f"CC={image.compiler}",
            f"-j{os.cpu_count() or 1}", *words, *(["LMM_ANY_KERNEL=1"] if image.built else []),
            "modules"]
    if image.root is None:
        return argv
    # objtool looks at its own limits in /proc.
    text = ('mount --bind "$1" "$2/mnt" && mount --bind /proc "$2/proc" && cd / && r=$2 && '
            'shift 2 && exec chroot "$r" "$@"')
    return ["unshare", "-m", "sh", "-c", text, "sh", str(folder), str(image.root), *argv]


def complaints(text: str) -> str:
    """Lines of a make's output that warn, whatever its status."""
    return "\n".join(line for line in text.splitlines() if _COMPLAINT.search(line))


def merge_modroot(image: Image, folder: Path) -> None:
    """A tree for modprobe in which the kernel's modules and ours are one."""
    root = folder / "modroot"
    shutil.rmtree(root, ignore_errors=True)
    tree = root / "lib" / "modules" / image.release
    ours = tree / "updates"
    ours.mkdir(parents=True)
    (tree / "kernel").symlink_to(image.modules / "kernel")
    for path in image.modules.glob("modules.*"):
        if path.name.startswith(("modules.order", "modules.builtin")):
            shutil.copy2(path, tree / path.name)
    for path in sorted(folder.glob("*.ko")):
        # As DKMS does: with what debuggers want livemm.ko has 11 MB, which every modprobe reads.
        call(["strip", "--strip-debug", "-o", ours / path.name, path])
    call(["depmod", "-b", root, image.release])


def build_variants(image: Image, folder: Path) -> str:
    """Build what must be refused, before the real one: each differs in one object.

    Return what is wrong, or "".
    """
    variants = folder / "variants"
    shutil.rmtree(variants, ignore_errors=True)
    variants.mkdir()
    for name, spoiled in VARIANTS.items():
        log = BUILD / "log" / f"modules-{image.name}-{name}.log"
        status, text = call(make_argv(image, folder, [*WORDS, spoiled]), log=log, check=False)
        built = folder / "livemm.ko"
        if status != 0 or not built.exists():
            return f"variant {name} ({spoiled}): make: status {status}\n{tail(text)}"
        shutil.copy2(built, variants / f"livemm-{name}.ko")
        built.unlink()
    return ""


def leaves(text: str) -> list[str]:
    """Wrappers that jump to other code, in what objdump -dr says.

    Before a livepatch goes, and before another livepatch of the same function is in force, the
    kernel looks for tasks whose stack has a wrapper (klp_check_stack_func()).  A task that a
    wrapper has jumped with, to another part or to the kernel's own code, is not found.  A jump to
    another section, or out of the module, has a relocation in the next line.
    """
    heads = set(re.findall(r"^[0-9a-f]+ <([\w.]+)>:", text, re.M))
    if not any(head.startswith("wrap_") for head in heads):
        return ["no wrapper is there"]
    found, wrapper = [], ""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if head := re.match(r"[0-9a-f]+ <([\w.]+)>:", line):
            wrapper = head[1] if head[1].startswith("wrap_") else ""
        jump = re.search(r"\sj\w+\s+[0-9a-f]+ <([\w.]+)", line)
        if not wrapper or not jump:
            continue
        outside = re.search(r"R_X86_64_\w+\s+([\w.]+)", following)
        target = outside[1] if outside else jump[1]
        if target == wrapper:
            continue
        if target in heads or target.startswith((".text", "__SCT__")):
            found.append(f"{wrapper} jumps to {target}")
    return found


def build(image: Image, variants: bool = False, tests: bool = True) -> str:
    """Build for one kernel, on demand its variants too; return what is wrong, or "".

    Without tests: the modules of the package alone, as a user builds them.
    """
    folder = BUILD / image.release
    sync(folder)
    for path in folder.glob("*.ko"):
        path.unlink()
    if variants and (wrong := build_variants(image, folder)):
        return wrong
    status, text = call(make_argv(image, folder, WORDS if tests else []), check=False,
                        log=BUILD / "log" / f"modules-{image.name}.log")
    if status != 0:
        return f"make: status {status}\n{complaints(text) or tail(text)}"
    if complaints(text):
        return complaints(text)
    wanted = {f"{name}.ko" for name in (*MODULES, *(["livemm_kunit"] if image.debug else []))}
    missing = wanted - {path.name for path in folder.glob("*.ko")}
    if missing:
        return f"not built: {', '.join(sorted(missing))}"
    for path in folder.glob("livemm_klp_*.ko"):
        if found := leaves(call(["objdump", "-dr", "--no-show-raw-insn", path])[1]):
            return f"{path.name}: {', '.join(found)}: a wrapper must be in one piece"
    merge_modroot(image, folder)
    return ""


def build_named(name: str, variants: bool) -> str:
    """build() for a kernel by its name."""
    return build(images(name)[0], variants)


def sparse(image: Image) -> str:
    """Check with sparse; return its complaints of our files."""
    if image.root is not None:
        return "sparse does not run in a build folder"
    folder = BUILD / image.release
    sync(folder)
    status, text = call(make_argv(image, folder, [*WORDS, "C=2"]), check=False,
                        log=BUILD / "log" / f"sparse-{image.name}.log")
    if status != 0:
        return f"make: status {status}\n{complaints(text) or tail(text)}"
    ours = re.compile(rf"(?:{re.escape(str(folder))}/)?(?:module|kunit|tests)/\S+:\d+:\d+: ")
    return "\n".join(line for line in text.splitlines() if ours.match(line))


def names_or(wanted: str | None) -> list[str]:
    """One name, or all of them; the debug kernel only if it was built."""
    if wanted:
        return [wanted]
    names = [kernel.series for kernel in load()[0]]
    try:
        images("debug")
    except ToolError as error:
        say(f"    left out: {error}")
        return names
    return [*names, "debug"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="guests.modules", description="build the modules")
    parser.add_argument("--kernel", help="a series, a release, or a name of kernels.toml")
    parser.add_argument("--variants", metavar="KERNEL",
                        help="for this kernel, modules too that must be refused")
    args = parser.parse_args()
    stage = Stage("modules")
    for name in names_or(args.kernel):
        say(f"    building for {name}")
        stage.run(f"builds for {name} without a warning",
                  partial(build_named, name, name == args.variants))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)

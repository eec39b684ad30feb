# SPDX-License-Identifier: GPL-2.0-only
"""make dkms: add, build, install, modprobe in a guest and remove, from a clean tree.

python3 -m tests.dkms [SERIES]    on one stock kernel alone

All of DKMS runs in a mount namespace of its own in which /usr/src,
/var/lib/dkms and /lib/modules are folders of build/: the host stays as it is.
"""

import argparse
import shutil
from concurrent.futures import as_completed
from pathlib import Path

from guests.boot import Guest, boot, guest_pool
from guests.command import complaint
from guests.kernels import Image, Kernel, load, stock_image
from guests.modules import MODULES, merge_modroot
from guests.report import BUILD, ROOT, Stage, ToolError, main_guard, say
from tests.matrix import versions
from tests.repo_rules import tracked

WORK = BUILD / "dkms"


def clean_tree(top: Path) -> Path:
    """A checkout as git would give it, without what builds leave behind."""
    tree = top / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for path in tracked():
        target = tree / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    return tree


def lay_out(image: Image) -> Path:
    """The folders that stand in for the host's; /lib/modules has the one kernel."""
    top = WORK / image.release
    shutil.rmtree(top, ignore_errors=True)
    merge_modroot(image, top)
    tree = top / "modroot" / "lib" / "modules" / image.release
    shutil.rmtree(tree / "updates")
    (tree / "build").symlink_to(image.kdir)
    (top / "src").mkdir()
    (top / "state").mkdir()
    return top


def inside(top: Path, tree: Path, *make: str) -> str:
    """Run make in the clean tree with the host's DKMS folders replaced; complain if it fails."""
    text = """
set -eu
top=$1 tree=$2
shift 2
mount --bind "$top/src" /usr/src
mkdir -p /var/lib/dkms /lib/modules
mount --bind "$top/state" /var/lib/dkms
mount --bind "$top/modroot/lib/modules" /lib/modules
cd "$tree"
exec make "$@"
"""
    log = top / f"make-{make[0]}.log"
    argv = ["unshare", "-m", "sh", "-c", text, "sh", str(top), str(tree), *make]
    return complaint(argv, log=log, timeout=1200)


def leftovers(top: Path, image: Image) -> str:
    """What uninstall left behind."""
    tree = top / "modroot" / "lib" / "modules" / image.release
    found = [path for path in tree.rglob("livemm*") if path.is_file()]
    found += list((top / "src").glob("livemm*"))
    found += list((top / "state").glob("livemm*"))
    return "\n".join(f"left behind: {path.relative_to(top)}" for path in found)


def one(stage: Stage, kernel: Kernel) -> None:
    """The whole life of the package on one kernel."""
    image = stock_image(kernel)
    top = lay_out(image)
    tree = clean_tree(top)
    modules = top / "modroot" / "lib" / "modules" / image.release
    say(f"    DKMS on {kernel.series}")

    def installed() -> str:
        names = {path.name.split(".")[0] for path in (modules / "updates").rglob("*.ko*")}
        missing = set(MODULES) - names
        return f"not installed: {', '.join(sorted(missing))}" if missing else ""

    def make_uninstall() -> str:
        # What the host may have loaded is not ours to unload.
        return inside(top, tree, "uninstall", "UNLOAD=:") or leftovers(top, image)

    if stage.run(f"{kernel.series}: add, build, install",
                 lambda: inside(top, tree, "install", f"KVER={image.release}")):
        stage.run(f"{kernel.series}: all modules are installed", installed)
        guest = Guest(
            f"dkms-{kernel.series}", image, ROOT / "tests/dkms_guest.sh",
            args=[versions()[1]], modroot=top / "modroot",
        )
        boot(guest).count(stage, f"{kernel.series}: ")
    stage.run(f"{kernel.series}: remove leaves nothing", make_uninstall)


def host_state() -> set[str]:
    """The names that DKMS would add to or take from on the host."""
    patterns = ("usr/src/*", "var/lib/dkms/*", "lib/modules/*/*", "lib/modules/*/updates/**/*")
    return {str(path) for pattern in patterns for path in Path("/").glob(pattern)}


def main() -> int:
    kernels = {kernel.series: kernel for kernel in load()[0] if not kernel.buildroot}
    parser = argparse.ArgumentParser(prog="tests.dkms", description="the package from a clean tree")
    parser.add_argument("series", nargs="?", choices=[*kernels], help="a kernel (default all)")
    wanted = parser.parse_args().series
    stage = Stage("dkms" if wanted else "dkms-all")
    before = host_state()
    # Each has its own folders and half of its time is one busy core: side by side.
    with guest_pool(2) as pool:
        pending = {pool.submit(one, stage, kernel): kernel for series, kernel in kernels.items()
                   if wanted in (None, series)}
        for future in as_completed(pending):
            try:
                future.result()
            except (ToolError, OSError) as error:
                stage.add(f"{pending[future].series}: package", False, str(error))
    changed = before ^ host_state()
    stage.add("the host is as it was", not changed, "changed: " + ", ".join(sorted(changed)))
    return stage.finish()


if __name__ == "__main__":
    main_guard(main)

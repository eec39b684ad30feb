# SPDX-License-Identifier: GPL-2.0-only
"""Keep dkms.conf and docs/kernels.md in step with kernels.toml: python3 -m tests.matrix --write"""

import re
import sys

from guests.kernels import Kernel, flavours, load
from guests.report import ROOT, ToolError, main_guard
from tests.tables import policies

DKMS = ROOT / "dkms.conf"
PAGE = ROOT / "docs/kernels.md"
HEADER = ROOT / "module" / "livemm.h"
BEGIN = "<!-- kernels.toml: begin -->"
END = "<!-- kernels.toml: end -->"
_RULE = re.compile(r'^BUILD_EXCLUSIVE_KERNEL=.*$', re.MULTILINE)


def rule(kernels: list[Kernel]) -> str:
    """dkms.conf's line that keeps the package off every other kernel."""
    series = "|".join(re.escape(kernel.series) for kernel in kernels)
    # Debian's names: 6.1.0-57-amd64, 6.12.117+deb12-cloud-amd64, 6.12.25-amd64.
    build = r"[0-9]+(-[0-9]+|\+[a-z]+[0-9]*)?(-cloud|-rt)?-amd64$"
    return f'BUILD_EXCLUSIVE_KERNEL="^({series})\\.{build}"'


def builds(kernel: Kernel, outcome: str) -> str:
    """The other builds of a series that come to an outcome."""
    like = (row for row in flavours() if row.like == kernel.series)
    return " ".join(f"`{row.series}`" for row in like if row.outcome == outcome) or "-"


def table(kernels: list[Kernel]) -> str:
    """The page's table: a row a policy, a column a kernel."""
    for kernel in kernels:
        if differ := set(kernel.policies) ^ set(policies()):
            raise ToolError(f"kernels.toml: {kernel.series}: {', '.join(sorted(differ))}: "
                            "not both in this row and in enum lmm_policy_id of module/livemm.h")
    heads = [f"{kernel.series} ({kernel.suite})" for kernel in kernels]
    rows = [["policy", *heads], ["---"] * (len(heads) + 1)]
    for policy in kernels[0].policies:
        rows.append([f"`{policy}`", *(kernel.policies[policy] for kernel in kernels)])
    rows.append(["built with", *(kernel.compiler for kernel in kernels)])
    rows.append(["packages", *(f"`{kernel.image}` `{kernel.headers}`" for kernel in kernels)])
    rows.append(["also works on", *(builds(kernel, "works") for kernel in kernels)])
    rows.append(["refuses", *(builds(kernel, "refused") for kernel in kernels)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def dkms_text(kernels: list[Kernel]) -> str:
    """dkms.conf as it should be."""
    text = DKMS.read_text(encoding="utf-8")
    if len(_RULE.findall(text)) != 1:
        raise ToolError(f"{DKMS.name}: wants exactly one BUILD_EXCLUSIVE_KERNEL line")
    return _RULE.sub(lambda _: rule(kernels), text)


def page_text(kernels: list[Kernel]) -> str:
    """docs/kernels.md as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ToolError(f"{PAGE.name}: wants the table between {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table(kernels)}\n{END}{after}"


def versions() -> tuple[str, str]:
    """The package's version as dkms.conf and as the module say it."""
    conf = re.search(r'^PACKAGE_VERSION="(.+)"$', DKMS.read_text(encoding="utf-8"), re.MULTILINE)
    head = re.search(r'^#define LMM_VERSION\s+"(.+)"$', HEADER.read_text(encoding="utf-8"),
                     re.MULTILINE)
    if conf is None or head is None:
        raise ToolError("no version in dkms.conf or module/livemm.h")
    return conf[1], head[1]


def check() -> str:
    """What disagrees, in words, or ""."""
    kernels, _ = load()
    wrong = []
    if DKMS.read_text(encoding="utf-8") != dkms_text(kernels):
        wrong.append(f"{DKMS.name} disagrees with kernels.toml; it wants {rule(kernels)}")
    if PAGE.read_text(encoding="utf-8") != page_text(kernels):
        wrong.append(f"{PAGE.name}: the table disagrees with kernels.toml")
    conf, head = versions()
    if conf != head:
        wrong.append(f"{DKMS.name} says version {conf}, {HEADER.name} says {head}")
    if wrong:
        wrong.append("mend it with: python3 -m tests.matrix --write")
    return "\n".join(wrong)


def write() -> None:
    """Bring both files up to date; livemm.h is the one place of the version."""
    kernels, _ = load()
    _, head = versions()
    text = re.sub(r'^PACKAGE_VERSION=.*$', f'PACKAGE_VERSION="{head}"', dkms_text(kernels),
                  flags=re.MULTILINE)
    DKMS.write_text(text, encoding="utf-8")
    PAGE.write_text(page_text(kernels), encoding="utf-8")


def main() -> int:
    if sys.argv[1:] != ["--write"]:
        raise ToolError("usage: python3 -m tests.matrix --write")
    write()
    return 0


if __name__ == "__main__":
    main_guard(main)

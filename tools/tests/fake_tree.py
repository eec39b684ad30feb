# SPDX-License-Identifier: GPL-2.0-only
"""A host as files, with livemm loaded or not, whose kernel judges writes as livemm does.

Made from debugfs-docs/ and the module's own tables, so it has what the module has.
The files are real: `FakeHost.root` can be given to a real process as --root, which can
then read all of it; only writes need this class.

    host = FakeHost.make(tmp_path)             # loaded, everything off
    host = FakeHost.make(tmp_path, lockdown=True)
    host.kernel.bump("pcp", drains=5)          # count
    host.kernel.refuse["pcp"] = (errno.EOPNOTSUPP, "hook drain: ...")
    host.answers["modprobe"] = Ran(1, "", "words")
"""

import errno
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import knob_tables
from livemmctl.control import DEBUGFS, MODULE, PARAMETERS, parse_settings
from livemmctl.host import Host, Ran
from livemmctl.modules import MODULES, PATCHES, RECORDER, is_ours

RELEASE = "6.1.0-56-amd64"
#: The livepatches that a policy of the fake needs, and the functions that each replaces.
KLP = {"livemm_klp_giveback": ["drain_pages_zone", "compact_zone"],
       "livemm_klp_lists": ["rmqueue_bulk", "free_pcppages_bulk"]}

HOOKS = """\
refill                           livepatch  rmqueue_bulk                     idle        0 0 -
drain                            livepatch  free_pcppages_bulk               armed       812 0 -
bpf_link                         direct     bpf_trampoline_link_prog         armed       0 0 -
page_alloc                       tracepoint mm_page_alloc                    idle        0 0 -
buffer                           call       __getblk_gfp                     unavailable 0 0 \
not found; lost: buffers are movable
"""
CENSUS = """\
# node zone     type          blocks     pure    mixed  neutral   absent     held
0      DMA32    movable          900      700       50      150        0       90
"""
STATE = """\
# refills: livepatch
# held 0 DMA 0
# held 0 DMA32 512
node zone     cpu    count    high
0    DMA32    0       186     744
"""

#: What a host has besides livemm; enough for doctor to find nothing wrong.
FILES = {
    "/proc/sys/kernel/osrelease": RELEASE + "\n",
    "/proc/version": f"Linux version {RELEASE}\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n",
    "/proc/sys/kernel/tainted": "0\n",
    "/proc/sys/kernel/numa_balancing": "1\n",
    "/proc/sys/vm/percpu_pagelist_high_fraction": "0\n",
    "/proc/sys/vm/watermark_boost_factor": "15000\n",
    "/proc/sys/kernel/random/boot_id": "5c1d2a4e-0000-4000-8000-000000000001\n",
    "/proc/meminfo": "MemTotal:        2016764 kB\nCmaTotal:              0 kB\n",
    "/proc/vmstat": "nr_free_pages 300000\npgfault 1000\nallocstall_normal 0\noom_kill 0\n"
    "thp_fault_alloc 10\nthp_fault_fallback 0\n",
    "/proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    "/proc/modules": "livemm 229376 0 - Live 0x0000000000000000 (OE)\n",
    "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "/sys/kernel/btf/vmlinux": "\x00",
    "/sys/kernel/security/lockdown": "[none] integrity confidentiality\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/kernel/debug/tracing/enabled_functions": "",
    "/sys/kernel/tracing/enabled_functions": "",
    "/sys/devices/system/node/online": "0-1\n",
    "/sys/devices/system/cpu/online": "0-3\n",
}


def policy_order() -> list[str]:
    return list(knob_tables.knobs())


@dataclass
class FakeKernel:
    """The module's side of the contract."""

    root: Path
    release: tuple[int, int] = (6, 1)
    #: Policy to (errno, words): switching it on is refused so.
    refuse: dict[str, tuple[int, str]] = field(default_factory=dict)
    #: Policies that this kernel cannot run, and why.
    unsupported: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    lease: int = 0
    #: Policy to (state, reason) in `status`, in place of the state that `enabled` shows.
    states: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: Every text that the parameter `policies` was given.
    writes: list[str] = field(default_factory=list)

    def put(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def load(self) -> None:
        """insmod: the defaults, all off."""
        tables = knob_tables.knobs(self.release)
        counters = knob_tables.counters()
        for policy in policy_order():
            self.values[policy] = {"enabled": "0"}
            self.values[policy] |= {knob.name: knob.default for knob in tables[policy]}
            self.counts[policy] = dict.fromkeys(counters[policy], 0)
        self.lease = 0
        self.put(f"{MODULE}/version", "0.1.0\n")
        self.put(f"{MODULE}/srcversion", "0123456789ABCDEF0123456\n")
        self.put(f"{MODULE}/taint", "OE\n")
        for name, text in {"last_error": "\n", "off": "N\n", "livepatch": "Y\n"}.items():
            self.put(f"{PARAMETERS}/{name}", text)
        self.put(f"{DEBUGFS}/version", "livemm 0.1.0 abi 3\n", 0o400)
        self.put(f"{DEBUGFS}/hooks", HOOKS, 0o400)
        self.put(f"{DEBUGFS}/record", "0\n", 0o600)
        for name in knob_tables.documented():
            if name.endswith("/census"):
                self.put(name, CENSUS, 0o400)
        self.show()

    def unload(self) -> None:
        shutil.rmtree(self.root / MODULE.lstrip("/"), ignore_errors=True)
        shutil.rmtree(self.root / DEBUGFS.lstrip("/"), ignore_errors=True)

    def load_klp(self, *names: str) -> None:
        """Load the named livepatches, on; without names, all livepatches."""
        for name in names or KLP:
            self.put(f"{MODULES}/{name}/refcnt", "0\n")
            self.put(f"{PATCHES}/{name}/enabled", "1\n")
            self.put(f"{PATCHES}/{name}/transition", "0\n")
            for function in KLP.get(name, []):
                (self.root / f"{PATCHES}/{name}/vmlinux/{function},1".lstrip("/")).mkdir(
                    parents=True, exist_ok=True)

    def show(self) -> None:
        """Have every file say what the values are."""
        self.put(f"{PARAMETERS}/lease", f"{self.lease}\n", 0o600)
        self.put(f"{DEBUGFS}/lease", f"{self.lease}\n", 0o600)
        error = (self.root / PARAMETERS.lstrip("/") / "last_error").read_text(encoding="utf-8")
        self.put(f"{DEBUGFS}/last_error", error.lstrip("\n"), 0o400)
        rows = []
        for policy, knobs in self.values.items():
            folder = f"{DEBUGFS}/{policy}"
            why = self.unsupported.get(policy, "")
            state = "on" if knobs["enabled"] == "1" else "unsupported" if why else "off"
            word, reason = self.states.get(policy, (state, why))
            rows.append(f"{policy:<9} {word:<11} {knobs.get('mode', '-'):<8} {reason or '-'}\n")
            for key, value in knobs.items():
                self.put(f"{folder}/{key}", value + "\n", 0o600)
            self.put(f"{folder}/config", self.line(policy, " ") + "\n", 0o600)
            self.put(f"{folder}/supported", f"no: {why}\n" if why else "yes\n", 0o400)
            self.put(f"{folder}/state", STATE if state == "on" else "", 0o400)
            counts = "".join(f"{name} {n}\n" for name, n in self.counts[policy].items())
            self.put(f"{folder}/counters", counts, 0o400)
        self.put(f"{DEBUGFS}/status", "".join(rows), 0o400)
        self.put(f"{PARAMETERS}/policies", self.every() + "\n", 0o600)
        self.put(f"{DEBUGFS}/policies", self.every() + "\n", 0o600)

    def set(self, policy: str, **knobs: str) -> None:
        """Have knobs changed by somebody, whatever the values."""
        self.values[policy] |= knobs
        self.show()

    def be(self, policy: str, state: str, reason: str) -> None:
        """Have `status` show a policy in that state, whatever `enabled` is."""
        self.states[policy] = (state, reason)
        self.show()

    def line(self, policy: str, separator: str) -> str:
        """All settings of a policy as the module prints them."""
        return separator.join(f"{key}={value}" for key, value in self.values[policy].items())

    def bump(self, policy: str, **by: int) -> None:
        for name, number in by.items():
            self.counts[policy][name] += number
        self.show()

    def write_policies(self, text: str) -> None:
        """A write to the parameter `policies`; raises OSError as the kernel would."""
        self.writes.append(text)
        number, words = knob_tables.judge(self.every(), text.strip(), self.release)
        if number:
            self._refuse(number, words)
        wanted = parse_settings(words)
        for policy, knobs in wanted.items():
            if knobs["enabled"] == "1" and self.values[policy]["enabled"] == "0":
                self._judge(policy)
        self.values = wanted
        self.show()

    def every(self) -> str:
        return ";".join(f"{policy}:{self.line(policy, ',')}" for policy in self.values)

    def _judge(self, policy: str) -> None:
        """May it be switched on?"""
        number, words = self.refuse.get(policy, (0, ""))
        if policy in self.unsupported:
            number, words = errno.EOPNOTSUPP, self.unsupported[policy]
        if number:
            self._refuse(number, f"{policy}/enabled: 1: {words}")

    def _refuse(self, number: int, words: str) -> NoReturn:
        """Refuse a write: OSError, and the words in last_error."""
        self.put(f"{PARAMETERS}/last_error", words + "\n", 0o400)
        self.show()
        raise OSError(number, os.strerror(number))

    def write_lease(self, text: str) -> None:
        """A write to the lease; raises OSError as the kernel would."""
        if not re.fullmatch(r"\d+", text.strip(), re.A):
            self._refuse(errno.EINVAL, f"lease: {text.strip()}: not a whole number")
        if int(text) > 604800:
            self._refuse(errno.ERANGE, f"lease: {text.strip()}: not in 0..604800")
        self.lease = int(text)
        self.show()

    def expire_lease(self) -> None:
        self.lease = 0
        for knobs in self.values.values():
            knobs["enabled"] = "0"
        self.show()


@dataclass(frozen=True)
class FakeHost(Host):
    """A host below a folder, with a kernel and commands of its own."""

    kernel: FakeKernel = field(default_factory=lambda: FakeKernel(Path("/nonexistent")))
    lockdown: bool = False
    #: Every command that was run.
    ran: list[list[str]] = field(default_factory=list)
    #: What a command answers, by its name or by name and first argument.
    answers: dict[str, Ran] = field(default_factory=dict)
    #: What the kernel's log reads, one time after the other; then, as without, it is empty.
    logs: list[str] = field(default_factory=list)
    #: Effective user id.
    uid: int = 0

    @staticmethod
    def make(
        root: Path, loaded: bool = True, lockdown: bool = False,
        release: tuple[int, int] = (6, 1), uid: int = 0,
    ) -> "FakeHost":
        """A host below `root`, which must be empty or absent."""
        kernel = FakeKernel(root, release)
        host = FakeHost(root, kernel, lockdown, uid=uid)
        for name, text in FILES.items():
            kernel.put(name, text)
        for folder in ("/sys/kernel/livepatch", "/run", "/etc/livemm/profiles"):
            host.path(folder).mkdir(parents=True, exist_ok=True)
        if release != (6, 1):
            kernel.put("/proc/sys/kernel/osrelease", f"{release[0]}.{release[1]}.0-1-amd64\n")
        if lockdown:
            kernel.put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
        if loaded:
            kernel.load()
        return host

    def _closed(self, name: str) -> bool:
        if not self.lockdown or not name.startswith(DEBUGFS):
            return False
        path = self.path(name)
        return path.is_file() and bool(path.stat().st_mode & 0o222)

    def fetch(self, name: str) -> str:
        if self._closed(name):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        return super().fetch(name)

    def store(self, name: str, text: str) -> None:
        if self.lockdown and name.startswith(DEBUGFS):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        if not self.path(name).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        if name == f"{PARAMETERS}/policies":
            self.kernel.write_policies(text)
        elif name == f"{PARAMETERS}/lease":
            self.kernel.write_lease(text)
        elif name.startswith(PATCHES):
            self.switch(name.removesuffix("/enabled"), text.strip())
        else:
            super().store(name, text)

    def switch(self, folder: str, text: str) -> None:
        """A write to the switch of a livepatch: off at once, or not during a transition."""
        moving = [name for name in self.names(PATCHES)
                  if self.read_or(f"{PATCHES}/{name}/transition").strip() == "1"]
        if moving and f"{PATCHES}/{moving[0]}" != folder:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), folder)
        assert text == "0"
        shutil.rmtree(self.path(folder))

    def run(self, argv: list[str], timeout_s: float = 60.0) -> Ran:
        self.ran.append(argv)
        answer = self.answers.get(" ".join(argv[:2])) or self.answers.get(argv[0])
        if answer is not None:
            return answer
        if argv[0] == "modprobe" and argv[1:2] == ["livemm"]:
            self.kernel.load()
        elif argv == ["modprobe", RECORDER]:
            self.kernel.put(f"{MODULES}/{RECORDER}/refcnt", "0\n")
        elif argv[0] == "dmesg":
            return Ran(0, self.logs.pop(0) if self.logs else "", "")
        elif argv[:2] == ["rmmod", "livemm"]:
            self.kernel.unload()
        elif argv[0] == "rmmod" and (is_ours(argv[1]) or argv[1] == RECORDER):
            shutil.rmtree(self.path(f"{MODULES}/{argv[1]}"), ignore_errors=True)
        else:
            return super().run(argv, timeout_s)
        return Ran(0, "", "")

    def user_id(self) -> int:
        return self.uid

# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the kernel: what it is, what it can do, what it allows."""

import re

from livemmctl import modules
from livemmctl.doctor.finding import INSTALL, Finding, Scene, fail, ok, warn
from livemmctl.modules import PATCHES, TAINTS, LivepatchState

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MOK = "/var/lib/dkms/mok.pub"


def kernel(scene: Scene) -> Finding:
    """Is it one that livemm is built for?"""
    release = scene.release
    pattern = scene.dkms_conf.get("BUILD_EXCLUSIVE_KERNEL", "")
    if not pattern:
        if scene.loaded:
            return ok(f"{release}, and livemm is loaded")
        return warn(f"{release}; livemm's sources are not installed: whether the kernel is"
                    " supported cannot be told", INSTALL)
    try:
        supported = re.match(pattern, release) is not None
    except re.error:
        return warn(f"{release}; BUILD_EXCLUSIVE_KERNEL of dkms.conf is no pattern",
                    "reinstall the package livemm-dkms")
    if supported:
        return ok(f"{release}, supported")
    return fail(f"{release} is not supported (dkms.conf: {pattern})",
                "boot a supported kernel, or wait for a newer livemm")


def config(scene: Scene) -> Finding:
    """Is the kernel built with what livemm needs?"""
    path = f"/boot/config-{scene.release}"
    text = scene.line(path)
    wanted = scene.dkms_conf.get("BUILD_EXCLUSIVE_CONFIG", "").split()
    if not text or not wanted:
        return ok("nothing to compare (no config in /boot, or no dkms.conf)")
    options = dict(re.findall(r"^(CONFIG_\w+)=([ym])$", text, re.M))
    wrong = [word for word in wanted if (word.lstrip("!") in options) == word.startswith("!")]
    if wrong:
        return fail(f"{path}: not as livemm needs: {', '.join(wrong)}",
                    "boot a stock Debian kernel that is not a realtime build")
    return ok(f"{len(wanted)} options are as livemm needs")


def btf(scene: Scene) -> Finding:
    """Can hooks be checked against the kernel's own types?"""
    if scene.host.exists("/sys/kernel/btf/vmlinux"):
        return ok("/sys/kernel/btf/vmlinux is there")
    return fail("the kernel has no BTF, so no hook can be verified",
                "boot a kernel with CONFIG_DEBUG_INFO_BTF")


def livepatch(scene: Scene) -> Finding:
    if not scene.host.exists(PATCHES):
        return fail("the kernel cannot livepatch",
                    "boot a kernel with CONFIG_LIVEPATCH: livemm is built for no other")
    if scene.line("/proc/sys/kernel/ftrace_enabled") == "0":
        return fail("kernel.ftrace_enabled is 0: no livepatch and no direct call works",
                    "sysctl kernel.ftrace_enabled=1")
    found = modules.livepatches(scene.host)
    if LivepatchState.TRANSITION in found.values():
        return warn(modules.held_up(scene.host),
                    "wait, or end those tasks: no livepatch, of whomever, can come or go"
                    " meanwhile")
    dead = [name for name, state in found.items() if state is LivepatchState.OFF]
    if dead:
        return warn(f"switched off from outside: {', '.join(dead)}",
                    f"rmmod {' '.join(dead)}, then livemmctl enable POLICY; or livemmctl unload")
    if scene.line("/sys/module/livemm/parameters/livepatch") in ("N", "0"):
        return warn("the module parameter livepatch=0 forbids hooks by livepatch",
                    "echo 1 > /sys/module/livemm/parameters/livepatch, then off and on again")
    return ok(f"supported; on: {', '.join(found)}" if found
              else "supported; none of ours is loaded")


def foreign_livepatches(scene: Scene) -> Finding:
    others = [name for name in scene.host.names(PATCHES) if not modules.is_ours(name)]
    if not others:
        return ok("none")
    if modules.moving(scene.host) in others:
        return warn(modules.held_up(scene.host),
                    "wait, or end those tasks: a policy whose livepatch is not loaded cannot come"
                    " on meanwhile")
    lost = [hook.name for hook in scene.hooks if "livepatch" in hook.reason
            and any(name in hook.reason for name in others)]
    if lost:
        return warn(f"{', '.join(others)} holds what livemm hooks: {', '.join(lost)}",
                    "livemmctl hooks says what is lost; a policy that went off stays off until it"
                    " is enabled again")
    return ok(f"{', '.join(others)}; none holds what livemm hooks")


def traced(scene: Scene) -> dict[str, int] | None:
    """Functions with an ftrace user, and how many; None where it cannot be seen."""
    for folder in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        path = f"{folder}/enabled_functions"
        if scene.host.exists(path):
            rows = re.findall(r"^(\S+)(?: \[\w+\])? \((\d{1,9})\)", scene.line(path), re.M)
            return {name: int(number) for name, number in rows}
    return None


def ftrace_users(scene: Scene) -> Finding:
    """Tracers of others on functions that livemm hooks."""
    users = traced(scene)
    if users is None:
        return ok("cannot be seen (tracefs is not mounted, or closed)")
    replaced = modules.patched(scene.host)
    shared = []
    for hook in scene.hooks:
        if hook.mechanism in ("livepatch", "kprobe", "direct"):
            ours = hook.state == "armed" or hook.symbol in replaced
            if users.get(hook.symbol, 0) > int(ours):
                shared.append(hook.symbol)
    if shared:
        return warn(f"others trace what livemm hooks: {', '.join(dict.fromkeys(shared))}",
                    "each call there costs more; stop tracers and BPF programs to measure")
    return ok(f"{len(users)} functions are traced, none by others where livemm hooks")


def lockdown(scene: Scene) -> Finding:
    if scene.lockdown in ("", "none"):
        return ok("none" if scene.lockdown else "not in this kernel")
    return warn(f"{scene.lockdown}: debugfs cannot be written, unsigned modules are refused",
                "livemmctl uses module parameters by itself; sign the modules (see signing)")


def secure_boot(scene: Scene) -> bool | None:
    """Is Secure Boot on?  None where the firmware does not say."""
    data = scene.host.read_or(SECURE_BOOT)
    # Four bytes of attributes, then the value.
    return data[4] == "\x01" if len(data) >= 5 else None


def signing(scene: Scene) -> Finding:
    """Will the kernel take our modules?"""
    boot = secure_boot(scene)
    enforced = (boot or scene.lockdown not in ("", "none")
                or scene.line("/sys/module/module/parameters/sig_enforce") == "Y")
    said = {True: "Secure Boot is on", False: "Secure Boot is off",
            None: "no Secure Boot"}[boot]
    if not enforced:
        return ok(f"{said}; signatures are not enforced")
    signer = scene.modinfo("signer")
    if not signer:
        module = f"livemm/{scene.dkms_conf.get('PACKAGE_VERSION', 'VERSION')}"
        return fail(f"{said}; signatures are enforced, and livemm has none",
                    f"have DKMS sign livemm: dkms generate_mok, then dkms build --force {module},"
                    f" then dkms install --force {module}, then mokutil --import {MOK} and reboot"
                    " to confirm")
    test = scene.run("mokutil", "--test-key", MOK)
    if test is not None and "is already enrolled" in test.out:
        return ok(f"{said}; signed by {signer}, a key that is enrolled")
    if scene.loaded:
        return ok(f"{said}; signed by {signer}, and the kernel has loaded livemm")
    seen = "whose enrolment cannot be told (no mokutil)" if test is None else "not enrolled"
    return (warn if test is None else fail)(
        f"{said}; signed by {signer}, {seen}",
        f"mokutil --import {MOK}, reboot, and confirm at the console")


def taint(scene: Scene) -> Finding:
    """What the kernel does when it is tainted, which livemm does."""
    mask = re.search(r"(?:^| )panic_on_taint=(?:0x)?([0-9a-fA-F]{1,16})",
                     scene.line("/proc/cmdline"))
    bits = int(mask[1], 16) if mask else 0
    deadly = [words for bit, words in TAINTS.items() if bits >> bit & 1]
    if deadly:
        return fail(f"panic_on_taint: loading {' and '.join(deadly)} panics this kernel",
                    "take these bits out of panic_on_taint= before you load livemm")
    text = scene.line("/proc/sys/kernel/tainted")
    return ok(f"kernel.tainted is {text or 'unknown'}")


def modules_allowed(scene: Scene) -> Finding:
    """May modules be loaded at all?"""
    if scene.line("/proc/sys/kernel/modules_disabled") == "1" and not scene.loaded:
        return fail("kernel.modules_disabled is 1: no module can be loaded until reboot",
                    "load livemm earlier at boot (modules-load.d)")
    return ok("modules can be loaded" if not scene.loaded else "livemm is loaded")

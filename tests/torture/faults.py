# SPDX-License-Identifier: GPL-2.0-only
"""Faults planted in the module on purpose: the torture must find them.

A row replaces texts of sources in a copy of the checkout, where each text must stand exactly once.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from guests.command import call, tail
from guests.kernels import Image
from guests.modules import make_argv, merge_modroot, sync
from guests.report import BUILD, ROOT, ToolError

HANDLERS = "module/policy/zonelock/handlers.c"
HAND = "module/policy/zonelock/hand.c"
DEPOT = "module/policy/zonelock/depot.c"
# Faults are built one after the other in one folder, where make compiles only what differs.
_building = Lock()


@dataclass(frozen=True)
class Fault:
    """A fault.

    what    the harm in words
    file    the source
    texts   each text, and what stands there instead
    kernel  where the fault shows
    nodes   of the guests in which the fault shows, at least
    """

    what: str
    file: str
    texts: tuple[tuple[str, str], ...]
    kernel: str = "6.1"
    nodes: int = 1


FAULTS: dict[str, Fault] = {
    "stored_still_counted": Fault(
        "pages in the depot stay in the count of their list", HANDLERS,
        (("\tpages->count -= cut;\n\tlmm_count(", "\tlmm_count("),)),
    "busy_loses": Fault(
        "pages that a busy depot does not take are lost", HANDLERS,
        (("\t\tlist_splice_tail(batch, &pages->lists[kind]);\n", ""),)),
    "returned_not_counted": Fault(
        "pages on their way back are missing in the count that the drain goes by", HAND,
        (("\t\thand->pages.count += pages;\n", ""),)),
    "wrong_list": Fault(
        "blocks go back by a list of another order", HAND,
        (("&hand->pages.lists[pindex]);\n\t\thand", "&hand->pages.lists[!pindex]);\n\t\thand"),)),
    "depot_unlocked": Fault(
        "two CPUs change a part of the depot at once", DEPOT,
        (("\tif (!spin_trylock(&shard->lock))\n\t\treturn false;\n", ""),
         ("\t\tbatch->count += count;\n\t}\n\tspin_unlock(&shard->lock);\n",
          "\t\tbatch->count += count;\n\t}\n"))),
    "batch_keeps_count": Fault(
        "an emptied batch keeps its count", DEPOT, (("\tbatch->count = 0;\n", ""),)),
    "depots_dropped": Fault(
        "off frees the depots with pages in them", "module/policy/zonelock/policy.c",
        (("\t\tzonelock_return_zone(zone, DEPOT_BY_OFF);\n", "\t\t;\n"),)),
    "refill_lies": Fault(
        "a refill from the depot says one page too many", "module/flow/refill.c",
        (("\treturn refill.got;\n", "\treturn refill.got + refill.stocked;\n"),)),
    "bound_stays": Fault(
        "off leaves the policy's bound in the lists", "module/policy/pcp/lists.c",
        (("if (list->written && lmm_pageset_restore(", "if (0 && lmm_pageset_restore("),)),
    "bound_by_one": Fault(
        "off restores a bound that is one page too high", "module/compat/pageset.h",
        (("if (cmpxchg(&pcp->high, ours, def) != ours)",
          "if (cmpxchg(&pcp->high, ours, def + 1) != ours)"),)),
    "cpu_forgotten": Fault(
        "lists are not restored when their CPU goes", "module/policy/pcp/hotplug.c",
        (("pcp_list_restore(", "0 && pcp_list_restore("),)),
    "hook_stays": Fault(
        "hooks stay armed after off", "module/hook/hook.c",
        (("hook->stuck ? 0 : row_disarm(hook);", "hook->stuck ? 0 : 0;"),)),
    "events_go_on": Fault(
        "events go on after off", "module/flow/deliver.c",
        (("\ttell(id, false);\n", ""),)),
    "config_freed": Fault(
        "settings are freed while somebody reads them", "module/control/change.c",
        (("kfree_rcu(change.want[policy->id], rcu);", "kfree(change.want[policy->id]);"),),
        "debug"),
    "range_unchecked": Fault(
        "a value above its range is accepted", "module/control/knobs.c",
        (("sum < knob->min || sum > knob->max", "sum < knob->min"),)),
    "sleeps": Fault(
        "a handler may sleep under pcp->lock", HANDLERS,
        (("\tWRITE_ONCE(zz->kicked, now);\n", "\tmight_sleep();\n"),),
        "debug"),
    "interrupts_on": Fault(
        "a lock that the timer of the lease takes is taken with interrupts on",
        "module/control/switch.c",
        (("spin_lock_irq(&lmm_state_lock);", "spin_lock(&lmm_state_lock);"),
         ("spin_unlock_irq(&lmm_state_lock);", "spin_unlock(&lmm_state_lock);")), "debug"),
    "mm_forgotten": Fault(
        "an address space that ends stays in the table", "module/policy/numa/policy.c",
        (("MM_EXIT, numa_mm_leave((void *)LMM_PROBED(0)))", "MM_EXIT, ;)"),),
        "debug", nodes=2),
    "lock_kept": Fault(
        "the lock of a list is not released when the list was filled", HANDLERS,
        (("\t}\n\tspin_unlock(&pages->lock);\n",
          "\t}\n\tif (!got)\n\t\tspin_unlock(&pages->lock);\n"),), "6.12"),
    "lease_forgets": Fault(
        "the end of the lease switches nothing off", "module/control/lease.c",
        (("lmm_policies_cut(LMM_ALL_POLICIES);", ";"),)),
}


def misplaced(fault: Fault) -> str:
    """The texts of a fault that do not stand exactly once in the source; or ""."""
    source = (ROOT / fault.file).read_text(encoding="utf-8")
    return "\n".join(f"{fault.file}: {source.count(old)} times: {old.strip()}"
                     for old, _ in fault.texts if source.count(old) != 1)


def build(name: str, image: Image) -> Path:
    """Build the modules with a fault; a folder of the fault, with a tree for modprobe in it."""
    fault = FAULTS[name]
    if wrong := misplaced(fault):
        raise ToolError(f"fault {name}: {wrong}")
    folder = BUILD / "torture/faults" / image.release
    own = BUILD / "torture/faults" / name
    with _building:
        # Sources that another fault has changed come back.
        sync(folder)
        path = folder / fault.file
        text = path.read_text(encoding="utf-8")
        for old, new in fault.texts:
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        status, said = call(make_argv(image, folder, ["LMM_TESTS=1"]), check=False,
                            log=BUILD / "log" / f"fault-{name}.log")
        if status:
            raise ToolError(f"fault {name}: make: status {status}\n{tail(said)}")
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        for module in folder.glob("*.ko"):
            shutil.copy2(module, own)
    merge_modroot(image, own)
    return own

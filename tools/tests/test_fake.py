# SPDX-License-Identifier: GPL-2.0-only
"""The fake host against what guests have shown of the real module: tests/scenarios/contract.sh"""

import errno
import os
import re

import knob_tables
import pytest
from fake_tree import FakeHost
from livemmctl.control import PARAMETERS

CONTRACT = (knob_tables.ROOT / "tests/scenarios/contract.sh").read_text(encoding="utf-8")
ERRNOS = {"$inval": errno.EINVAL, "$range": errno.ERANGE}
# One key's file, its text, errno, and words that last_error must have.
REFUSED = re.findall(
    r'^refuses "\$LMM_DBG/(\w+)/(\w+)" "?([^"\s,;\\$]+)"? "(\$\w+)" "([^"]+)"$', CONTRACT, re.M)
CONFIGS = re.findall(
    r'^refuses "\$LMM_DBG/(\w+)/config" "([^"\\$]+)" "(\$\w+)" "?([^"\s]+[^"]*?)"?$',
    CONTRACT, re.M)


def refused(host: FakeHost, text: str) -> tuple[int | None, str]:
    """Errno and last_error of a write that must fail; settings must stay."""
    before = {policy: dict(knobs) for policy, knobs in host.kernel.values.items()}
    with pytest.raises(OSError) as caught:
        host.store(f"{PARAMETERS}/policies", text)
    assert host.kernel.values == before
    return caught.value.errno, host.read(f"{PARAMETERS}/last_error").strip()


def test_the_scenario_could_be_read() -> None:
    assert len(REFUSED) > 10
    assert len(CONFIGS) > 3


@pytest.mark.parametrize(("text", "name", "words"), [
    *((f"{policy}:{key}={text}", *rest) for policy, key, text, *rest in REFUSED),
    *((f"{policy}:{line}", *rest) for policy, line, *rest in CONFIGS)])
def test_it_refuses_as_the_module_does(host: FakeHost, text: str, name: str, words: str) -> None:
    number, said = refused(host, text)
    assert number == ERRNOS[name], os.strerror(number or 0)
    assert words in said

# SPDX-License-Identifier: GPL-2.0-only
"""The Ansible role: what it is made of, and what it would do to a bare host."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from knob_tables import TOOLS

ANSIBLE = TOOLS / "ansible"
ROLE = ANSIBLE / "roles/livemm"


def play(tmp_path: Path, *words: str, book: Path = ANSIBLE / "site.yml") -> str:
    """What the example, or another book, says about this host, which is not changed."""
    assert shutil.which("ansible-playbook"), "not installed: apt install ansible-core"
    inventory = tmp_path / "inventory"
    inventory.write_text("[livemm]\nlocalhost ansible_connection=local"
                         " ansible_python_interpreter=/usr/bin/python3\n", encoding="utf-8")
    # Ansible refuses an encoding other than UTF-8.
    env = {**os.environ, "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1",
           "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"),
           "ANSIBLE_LOCAL_TEMP": str(tmp_path), "ANSIBLE_REMOTE_TEMP": str(tmp_path / "there")}
    done = subprocess.run(
        ["ansible-playbook", "-i", inventory, book, *words], text=True,
        capture_output=True, timeout=300, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_role_on_a_bare_host(tmp_path: Path) -> None:
    """Check mode needs neither livemm nor its packages there."""
    deb = tmp_path / "livemm-tools_0_all.deb"
    deb.write_bytes(b"")
    out = play(tmp_path, "--check", "-e", f'{{"livemm_packages": ["{deb}"],'
               ' "livemm_profile": "lists", "livemm_experiment": "x.toml"}')
    assert re.search(r"localhost +: ok=\d+ +changed=1 .*failed=0", out), out
    assert not Path(f"/var/cache/apt/archives/{deb.name}").exists()


def test_a_profile_for_an_experiment_is_not_applied(tmp_path: Path) -> None:
    """To start livemm-profile.service would switch the arm of an experiment off."""
    book = tmp_path / "book.yml"
    book.write_text(f"""\
- hosts: livemm
  gather_facts: false
  vars: {{livemm_profile: ""}}
  tasks:
    - name: Have the profile
      ansible.builtin.command: "true"
      notify: Apply the profile
  handlers:
    - ansible.builtin.import_tasks: {ROLE}/handlers/main.yml
""", encoding="utf-8")
    out = play(tmp_path, book=book)
    assert re.search(r"localhost +: ok=1 .*failed=0 +skipped=1", out), out


def test_each_variable_has_a_default_that_is_used() -> None:
    defaults = set(re.findall(r"^(livemm_\w+):", (
        ROLE / "defaults/main.yml").read_text(encoding="utf-8"), re.M))
    tasks = (ROLE / "tasks/main.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\blivemm_\w+", tasks)) - set(re.findall(r"register: (\w+)", tasks))
    assert used == defaults


def test_the_units_of_the_role_are_ours() -> None:
    named = re.findall(r"name: \"?(livemm-\w+@?)", (
        ROLE / "tasks/main.yml").read_text(encoding="utf-8"))
    units = {path.name for path in (TOOLS / "systemd").iterdir()}
    assert len(named) == 3
    assert all(any(unit.startswith(f"{name}.") for unit in units) for name in named)

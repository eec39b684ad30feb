# SPDX-License-Identifier: GPL-2.0-only
#
# Entry points only; the work is in tests/, bench/, guests/, tools/ and dkms.conf.

PYTHON := /usr/bin/python3
KVER ?= $(shell uname -r)
DKMS_FLAGS ?=
UNLOAD ?= PYTHONPATH=tools $(PYTHON) -m livemmctl.modules
VERSION = $(shell sed -n 's/^\#define LMM_VERSION[[:space:]]*"\(.*\)"/\1/p' module/livemm.h)
STAGED := build/dkms-source
ONLY = $(if $(KERNEL),--kernel $(KERNEL))

.PHONY: help demo check check-all quick cores setup modules kernel install uninstall unload lint kunit \
	threads model numasim flavours inject scenarios soak sleep fuzz torture dkms bench bench-hosts tools-test tools-docs deb deb-test ansible-test weight clean
# Stages share build/, the cache and the cores.
.NOTPARALLEL:

help:
	@echo 'livemm: page-allocator policies for a running, unmodified kernel'
	@echo
	@echo '  make demo                boot a stock kernel in a guest, without pcp and with pcp'
	@echo '  make check               set up, then every test; last line: N passed, N failed'
	@echo '  make check-all           make check, then hours of: DKMS, the Ansible role, flavours, inject, soak, torture, planted faults'
	@echo '  make modules [KERNEL=K]  build for every kernel, or for one: 6.1, 6.12, 7.2, debug'
	@echo '  make install             DKMS: add, build and install for KVER (the running kernel)'
	@echo '  make unload              take the modules out of the running kernel, policies off first'
	@echo '  make uninstall           unload, then DKMS: remove for every kernel'
	@echo '  make lint                style, types, documentation, kernel matrix'
	@echo '  make weight              code lines of module/ by folder, knobs, counters, events, hook rows'
	@echo '  make quick               lint, cores and livemmctl in under 3 minutes, no guest'
	@echo '  make cores [SUITE=N]     unit tests of pure cores as a program, in seconds'
	@echo '  make kunit [SUITE=N]     unit tests in a debug kernel, built when absent'
	@echo '  make threads             the depot of zonelock as threads under ThreadSanitizer, and its cache lines'
	@echo '  make model               the protocol of that depot under spin: every order of steps of three threads'
	@echo '  make numasim             policy numa beside a model of the kernel, under many loads'
	@echo '  make scenarios [KERNEL=K] [NAME=N]  system tests in guests'
	@echo '  make soak [KERNEL=K] [NAME=N]  system tests with more rounds, on more kernels: hours'
	@echo '  make fuzz [SECONDS=S] [NAME=N]  random input for the cores and the grammar, 60 s each'
	@echo '  make torture [KERNEL=K] [SECONDS=S] [SEED=N]  random steps in parallel guests, for an hour'
	@echo '  make inject [EVERY=K] [GROUP=G]  every allocation of livemm fails once: hours'
	@echo '  make ansible-test        the Ansible role against two guests'
	@echo '  make flavours [NAME=N]   cloud, realtime, older and later kernels of kernels.toml'
	@echo '  make sleep               suspend a guest to idle and hibernate one, with policies on'
	@echo '  make dkms                the package from a clean tree, for each stock kernel'
	@echo '  make tools-test          livemmctl: unit tests'
	@echo '  make tools-docs          man page and completions of livemmctl, into build/tools/'
	@echo '  make deb                 Debian packages, into build/deb/'
	@echo '  make deb-test            install, boot, upgrade, remove and purge the packages in a clean Debian'
	@echo '  make bench               the measured claims; results in build/bench/'
	@echo '  make bench-hosts [KERNEL=K] [HOST=N]  what each policy does to whole hosts: about 3 hours a kernel'
	@echo '  make setup               have what make check needs; each target has what it needs itself'
	@echo '  make kernel [NAME=N]     build a kernel into the cache: debug, debug-6.12, inject, kcsan, cma'
	@echo '  make clean               remove build/ (the cache stays)'
	@echo
	@echo 'Kernels and tools are kept in $${LIVEMM_CACHE:-~/.cache/livemm}.'

# $(call have,GROUPS): what guests/packages.sh lists for them, and with build the kernels.
have = @guests/setup.sh $(if $(KERNEL),--kernels "$(KERNEL)") $(1)
GUESTS := build guests scenarios

setup:
	$(call have,all)

demo:
	@guests/setup.sh --kernels 6.1 build guests
	@$(PYTHON) -m bench.demo

check:
	$(call have,all)
	@$(PYTHON) -m tests.check

check-all:
	$(call have,all ansible)
	@$(PYTHON) -m tests.check --all

quick:
	$(call have,build cores kernel lint tools)
	@$(PYTHON) -m tests.check --quick

modules:
	$(call have,build roots)
	@$(PYTHON) -m guests.modules $(ONLY)

kernel:
	$(call have,cores kernel)
	@$(PYTHON) -m guests.kernel_build $(NAME)

# Needs gcc-12 and nothing else: neither setup nor root.
cores:
	@$(PYTHON) -m tests.cores $(SUITE)

weight:
	@$(PYTHON) -m tests.weight

lint:
	$(call have,build kernel lint tools)
	@$(PYTHON) -m tests.lint

kunit:
	$(call have,build guests kernel)
	@$(PYTHON) -m tests.kunit $(SUITE)

threads:
	$(call have,cores)
	@$(PYTHON) -m tests.threads

numasim:
	@$(PYTHON) -m tests.numasim

model:
	$(call have,model)
	@$(PYTHON) -m tests.model

fuzz:
	$(call have,fuzz)
	@$(PYTHON) -m tests.fuzz --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(NAME)

# Builds for the kernels of these scenarios alone.
scenarios soak:
	$(call have,$(GUESTS) kernel roots)
	@$(PYTHON) -m tests.run --build $(ONLY) $(if $(filter soak,$@),--soak) $(NAME)

# Goes on where an earlier run on these sources stopped.
torture:
	$(call have,$(GUESTS) kernel roots)
	@$(PYTHON) -m tests.torture $(ONLY) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

inject:
	$(call have,$(GUESTS) kernel)
	@$(PYTHON) -m tests.inject $(if $(EVERY),--every $(EVERY)) $(GROUP)

flavours:
	$(call have,$(GUESTS) kernel roots)
	@$(PYTHON) -m tests.flavours $(NAME)

sleep:
	$(call have,$(GUESTS) kernel roots)
	@$(PYTHON) -m guests.modules $(ONLY)
	@$(PYTHON) -m tests.sleep $(ONLY)

dkms:
	$(call have,build guests deb)
	@$(PYTHON) -m tests.dkms

deb-test:
	$(call have,build guests deb)
	@$(PYTHON) -m tests.deb

ansible-test:
	$(call have,build guests ansible)
	@$(PYTHON) -m tests.ansible

tools-test:
	$(call have,cores tools)
	@$(PYTHON) -m tests.tools

tools-docs:
	@PYTHONPATH=tools $(PYTHON) -m livemmctl.docs build/tools

deb:
	@rm -f build/deb/*.deb
	@tools/debian/build build/deb

bench:
	$(call have,$(GUESTS) counting)
	@$(PYTHON) -m guests.modules $(ONLY)
	@$(PYTHON) -m bench.run

bench-hosts:
	$(call have,$(GUESTS) counting)
	@$(PYTHON) -m guests.modules $(ONLY)
	@$(PYTHON) -m bench.run hosts $(ONLY) $(if $(HOST),--host $(HOST))

# DKMS takes what it is given whole: give it the sources and nothing else.
$(STAGED): .FORCE
	@rm -rf $@ && mkdir -p $@
	@cp -r module kunit Kbuild dkms.conf $@/

install: $(STAGED)
	dkms add $(DKMS_FLAGS) $(STAGED)
	dkms build $(DKMS_FLAGS) livemm/$(VERSION) -k $(KVER)
	dkms install $(DKMS_FLAGS) livemm/$(VERSION) -k $(KVER)

unload:
	@$(UNLOAD)

uninstall:
	@if ls -d /sys/module/livemm /sys/module/livemm_klp* 2>/dev/null | grep -q .; then $(UNLOAD); fi
	dkms remove $(DKMS_FLAGS) livemm/$(VERSION) --all
	rm -rf /usr/src/livemm-$(VERSION)

clean:
	rm -rf build

.PHONY: .FORCE
.FORCE:

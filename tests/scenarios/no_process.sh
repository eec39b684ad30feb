# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1 7.2
#
# The kernel lets nobody have another process: a policy that needs a livepatch goes off and says why,
# and can be switched on as soon as there are processes again.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Write 1 to each file while the kernel may have 20 processes, for five seconds, and print the error.  A
# program, as a shell could not even say what the write came to.
write_without_processes() {
	python3 - "$@" <<-'EOF'
		import errno, sys, time
		limit = "/proc/sys/kernel/threads-max"
		before = open(limit).read()
		for path in sys.argv[1:]:
		    open(limit, "w").write("20")
		    try:
		        with open(path, "w") as file:
		            file.write("1")
		        said = "done"
		        time.sleep(5)
		    except OSError as error:
		        said = errno.errorcode[error.errno]
		    finally:
		        open(limit, "w").write(before)
		    print(said)
	EOF
}

need lmm_load
same "the write is done" "$(write_without_processes "$LMM_DBG/pcp/enabled")" "done"
check "pcp is off, and says why" wait_for 10 tells status '^pcp +off .*livemm_klp_lists cannot be loaded'
none_armed
check "with processes the policy comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "unloads" lmm_unload

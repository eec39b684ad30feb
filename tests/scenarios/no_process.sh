# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1 7.2
#
# The kernel lets nobody have another process: a policy that needs a thread is refused with an error
# number of the contract, and comes on as soon as there are processes again.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Write 1 to each file while the kernel may have 20 processes, and print the error.  A program, as a
# shell could not even say what the write came to.
write_without_processes() {
	python3 - "$@" <<-'EOF'
		import errno, sys
		limit = "/proc/sys/kernel/threads-max"
		before = open(limit).read()
		for path in sys.argv[1:]:
		    open(limit, "w").write("20")
		    try:
		        with open(path, "w") as file:
		            file.write("1")
		        said = "done"
		    except OSError as error:
		        said = errno.errorcode[error.errno]
		    finally:
		        open(limit, "w").write(before)
		    print(said)
	EOF
}

need lmm_load
same "no thread for the livepatches of pcp" "$(write_without_processes "$LMM_DBG/pcp/enabled")" ENOMEM
check "last_error says what is missing" tells last_error 'pcp/enabled: 1: no kernel thread'
check "the policy stays off" policy_is pcp off
none_armed
check "with processes the policy comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "unloads" lmm_unload

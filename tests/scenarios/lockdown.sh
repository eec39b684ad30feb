# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
#
# Nobody but root opens a file of livemm, and no file shows an address of the kernel. Lockdown
# closes writable debugfs files, for readers too. Every knob can still be reached by module
# parameter.
. "$LMM_ROOT/tests/scenarios/lib.sh"

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# As root of a namespace that an ordinary user has made.
as_root_of_user() { as_user unshare --user --map-root-user --mount "$@"; }

# files_of COMMAND...: those of the files that this user can open, and what for.
files_of() {
	# shellcheck disable=SC2016 # of the inner shell
	"$@" sh -c 'while read -r file; do
		(: <"$file") 2>/dev/null && echo "reads $file"
		(: >>"$file") 2>/dev/null && echo "writes $file"
	done </run/files
	true'
}
# Kernel addresses, and the numbers that the kernel shows instead of them: sixteen digits.
addresses() { grep -Ei '[0-9a-f]{16}' "$@"; }

# all_policies 0|1: switch every policy that the kernel supports.
all_policies() {
	for _policy in pcp zonelock pageblock numa; do
		need write_to "$LMM_PARAMS/policies" "$_policy:enabled=$1"
	done
}

mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
need lmm_load
# Unsigned modules are refused under lockdown, so have all wrappers in already.
all_policies 1

find "$LMM_DBG" "$LMM_PARAMS" /sys/module/livemm_klp_*/parameters -type f >/run/files
check "root reads every file" test "$(files_of env | grep -c ^reads)" -eq "$(wc -l </run/files)"
# One file that everybody can read: the looks work.
echo /proc/version >>/run/files
same "an ordinary user opens no file" "$(files_of as_user)" "reads /proc/version"
same "the root of a user namespace opens no file" "$(files_of as_root_of_user)" "reads /proc/version"
check "a user can have a namespace, and mount there" as_root_of_user mount -t tmpfs none /mnt
for who in as_user as_root_of_user; do
	refute "$who: debugfs cannot be mounted" $who mount -t debugfs none /mnt
	refute "$who: nor tracefs" $who mount -t tracefs none /mnt
	refute "$who: livemm cannot be unloaded" $who rmmod livemm
	check "$who: livemm is still there" loaded livemm
done

need write_to /proc/sys/kernel/kptr_restrict 0
check "an address is seen where one is" addresses /proc/kallsyms
load_start
need wait_for 60 counted drains 0
load_stop
# shellcheck disable=SC2046 # names of files
same "no file shows an address" "$(addresses $(cat /run/files))" ""
dmesg | grep livemm >/run/log
check "the kernel log has lines of livemm" test -s /run/log
same "none of them shows an address" "$(addresses /run/log)" ""
armed=$(awk '$4 == "armed" { print $1 }' "$LMM_DBG/hooks")
all_policies 0

need write_to /sys/kernel/security/lockdown integrity
check "lockdown is integrity" grep -q '\[integrity\]' /sys/kernel/security/lockdown

refute "debugfs cannot be written" write_to "$LMM_DBG/pcp/enabled" 1
refute "nor its writable files read" cat "$LMM_DBG/pcp/enabled"
for file in version hooks status last_error pcp/supported pcp/counters pcp/state; do
	check "$file can still be read" cat "$LMM_DBG/$file"
done
check "on, by parameter" write_to "$LMM_PARAMS/policies" "pcp:enabled=1,decay_ms=2500"
check "it is on" policy_is pcp on
check "hooks are armed" tells hooks '^drain .* armed'
load_start
check "and it works" wait_for 60 counted drains 0
load_stop
check "the present state, by parameter" grep -q "decay_ms=2500" "$LMM_PARAMS/policies"
refute "a bad word is refused" write_to "$LMM_PARAMS/policies" "pcp:decay_ms=1"
check "and the reason can be read" grep -q "pcp/decay_ms: 1" "$LMM_PARAMS/last_error"
check "a lease, by parameter" write_to "$LMM_PARAMS/lease" 2
check "and it runs out" wait_for 60 policy_is pcp off

need write_to /sys/kernel/security/lockdown confidentiality
check "lockdown is confidentiality" grep -q '\[confidentiality\]' /sys/kernel/security/lockdown
refute "debugfs cannot be written there either" write_to "$LMM_DBG/pcp/enabled" 1
for file in hooks status pcp/counters pcp/state; do
	check "$file can be read there too" cat "$LMM_DBG/$file"
done
all_policies 1
same "with the same hooks as without lockdown" \
	"$(awk '$4 == "armed" { print $1 }' "$LMM_DBG/hooks")" "$armed"
before=$(counter drains)
load_start
check "and pcp works there" wait_for 60 counted drains "$before"
load_stop
check "unloads" lmm_unload

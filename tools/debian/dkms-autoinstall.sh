# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# Appended to dkms.conf in the package.  DKMS 3.0.10, Debian 12's, takes it for a failure
# of "dkms autoinstall" that a module is not to be built for a kernel, and then the
# installation of that kernel fails (dkms-project/dkms issue 302, mended in 3.0.11).  So
# autoinstall is asked for only where the rules above let it build.
#
# This file is sourced in a function that read_conf() calls, which has a kernelver of its
# own: that of a kernel for which livemm is there already.  To unset it from within shows
# again the one that autoinstall was asked for (bash: a local variable of a caller).
[[ ${action:-} != autoinstall ]] || unset kernelver
if [[ ${action:-} == autoinstall && ${kernelver:-} ]]; then
	[[ $kernelver =~ $BUILD_EXCLUSIVE_KERNEL ]] || AUTOINSTALL=""
	[[ $(uname -m) =~ $BUILD_EXCLUSIVE_ARCH ]] || AUTOINSTALL=""
	livemm_config=/lib/modules/$kernelver/build/.config
	for livemm_option in $BUILD_EXCLUSIVE_CONFIG; do
		[[ -e $livemm_config ]] || break
		if grep -q "^${livemm_option#!}=[ym]" "$livemm_config"; then
			[[ $livemm_option != !* ]] || AUTOINSTALL=""
		else
			[[ $livemm_option == !* ]] || AUTOINSTALL=""
		fi
	done
fi

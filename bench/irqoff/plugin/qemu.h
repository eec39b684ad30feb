/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * qemu.h - what a plugin of QEMU's emulator calls
 *
 * Declares those functions of qemu-plugin.h, version 4 (QEMU 9.2 and 10.0), that plugin.c uses:
 * Debian has no package with that file for this version.
 */
#ifndef QEMU_H
#define QEMU_H

#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_info;

struct register_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

/* GArray and GByteArray of GLib. */
struct array {
	void *data;
	unsigned int length;
};

enum { CB_NO_REGS, CB_R_REGS };

typedef uint64_t qemu_plugin_id_t;
typedef void (*on_cpu)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
				       void (*call)(qemu_plugin_id_t id, unsigned int cpu));
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*call)(qemu_plugin_id_t id,
							struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, on_cpu call, int flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, on_cpu call, int flags,
					    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t number);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t length);
struct array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct array *to);
struct array *g_byte_array_new(void);
struct array *g_byte_array_set_size(struct array *bytes, unsigned int length);

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

#endif

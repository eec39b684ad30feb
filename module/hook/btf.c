// SPDX-License-Identifier: GPL-2.0-only
/*
 * btf.c - the running kernel's own description of its functions and structs
 *
 * vmlinux BTF holds static functions too, with full prototypes.  The kernel's
 * own readers are used (found by kallsyms, called through static calls; see
 * symbols.c for why), so that the format stays the kernel's business.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "symbols.h"

/* A type is at most this deep: pointers, qualifiers, and the name. */
#define BTF_MAX_DEPTH	16

LMM_KERNEL_CALL(bpf_get_btf_vmlinux);
LMM_KERNEL_CALL(btf_find_by_name_kind);
LMM_KERNEL_CALL(btf_type_by_id);
LMM_KERNEL_CALL(btf_name_by_offset);

/* vmlinux BTF lives as long as the kernel, so no reference is kept. */
static const struct btf *vmlinux_btf;

static const struct btf_type *type_of(u32 id)
{
	return static_call(sym_btf_type_by_id)(vmlinux_btf, id);
}

static const char *name_of(u32 offset)
{
	return static_call(sym_btf_name_by_offset)(vmlinux_btf, offset);
}

/**
 * lmm_btf_init() - find the kernel's BTF and its readers
 *
 * Context: process, may sleep; after lmm_symbols_init().
 * Return: 0, or -EOPNOTSUPP when this kernel has no BTF.
 */
int lmm_btf_init(void)
{
	const struct btf *btf;

	if (!LMM_BIND(bpf_get_btf_vmlinux) || !LMM_BIND(btf_find_by_name_kind) ||
	    !LMM_BIND(btf_type_by_id) || !LMM_BIND(btf_name_by_offset))
		return -EOPNOTSUPP;
	btf = static_call(sym_bpf_get_btf_vmlinux)();
	if (IS_ERR_OR_NULL(btf))
		return -EOPNOTSUPP;
	vmlinux_btf = btf;
	return 0;
}

static int prototype_print(const struct btf_type *proto, const char *pointer, char *buf, size_t len,
			   unsigned int depth);

/* Write type @id as C would; returns the characters written. */
static int type_print(u32 id, char *buf, size_t len, unsigned int depth)
{
	static const char *const prefixes[NR_BTF_KINDS] = {
		[BTF_KIND_STRUCT] = "struct ",
		[BTF_KIND_UNION] = "union ",
		[BTF_KIND_FWD] = "struct ",
		[BTF_KIND_ENUM] = "enum ",
		[BTF_KIND_ENUM64] = "enum ",
	};
	const struct btf_type *target;
	const struct btf_type *type;
	const char *prefix;
	int used;

	if (!id)
		return scnprintf(buf, len, "void");
	type = type_of(id);
	if (!type || depth > BTF_MAX_DEPTH)
		return scnprintf(buf, len, "?");

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
		target = type_of(type->type);
		if (target && BTF_INFO_KIND(target->info) == BTF_KIND_FUNC_PROTO)
			return prototype_print(target, "(*)", buf, len, depth + 1);
		used = type_print(type->type, buf, len, depth + 1);
		return used + scnprintf(buf + used, len - used, "%s*",
					used && buf[used - 1] == '*' ? "" : " ");
	case BTF_KIND_CONST:
		used = scnprintf(buf, len, "const ");
		return used + type_print(type->type, buf + used, len - used, depth + 1);
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		/* Annotations (__percpu, __user) do not change the call. */
		return type_print(type->type, buf, len, depth + 1);
	default:
		prefix = prefixes[BTF_INFO_KIND(type->info)] ?: "";
		return scnprintf(buf, len, "%s%s", prefix, name_of(type->name_off));
	}
}

/*
 * Write a prototype in the form that prototype.c reads.  @pointer goes between the return type and
 * the arguments.  Returns the characters written.
 */
static int prototype_print(const struct btf_type *proto, const char *pointer, char *buf, size_t len,
			   unsigned int depth)
{
	const struct btf_param *param = (const struct btf_param *)(proto + 1);
	unsigned int nr = BTF_INFO_VLEN(proto->info);
	unsigned int i;
	int used;

	used = type_print(proto->type, buf, len, depth);
	used += scnprintf(buf + used, len - used, " %s(%s", pointer, nr ? "" : "void");
	for (i = 0; i < nr; i++) {
		const char *name = name_of(param[i].name_off);

		if (i)
			used += scnprintf(buf + used, len - used, ", ");
		used += type_print(param[i].type, buf + used, len - used, depth);
		if (name && *name)
			used += scnprintf(buf + used, len - used, "%s%s",
					  used && buf[used - 1] == '*' ? "" : " ", name);
	}
	return used + scnprintf(buf + used, len - used, ")");
}

/* The type behind @name of @kind, or NULL with the errno in @err. */
static const struct btf_type *type_named(const char *name, u8 kind, int *err)
{
	s32 id;

	if (!vmlinux_btf) {
		*err = -EOPNOTSUPP;
		return NULL;
	}
	*err = -ENOENT;
	id = static_call(sym_btf_find_by_name_kind)(vmlinux_btf, name, kind);
	if (id < 0)
		return NULL;
	return type_of(id);
}

/**
 * lmm_btf_function() - the prototype of a function of the running kernel
 * @name: of the function, which may be static
 * @buf: gets "ret (type name, type name)"
 * @len: size of @buf
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP without BTF; -ENOENT when BTF does not know @name.
 */
int lmm_btf_function(const char *name, char *buf, size_t len)
{
	const struct btf_type *type;
	int err;

	type = type_named(name, BTF_KIND_FUNC, &err);
	if (!type)
		return err;
	type = type_of(type->type);
	if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_FUNC_PROTO)
		return -ENOENT;
	prototype_print(type, "", buf, len, 0);
	return 0;
}

/* Bytes from the start of @type to @member; -1 if there is none. */
static int member_offset(const struct btf_type *type, const char *member, unsigned int depth)
{
	const struct btf_member *entry = (const struct btf_member *)(type + 1);
	unsigned int i;

	if (BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT &&
	    BTF_INFO_KIND(type->info) != BTF_KIND_UNION)
		return -1;
	for (i = 0; i < BTF_INFO_VLEN(type->info); i++, entry++) {
		u32 bytes = (BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(entry->offset) :
							  entry->offset) / 8;
		const char *name = name_of(entry->name_off);
		int more;

		if (name && !strcmp(name, member))
			return bytes;
		/* A struct or union without a name is looked through, as in C. */
		if ((name && *name) || depth == BTF_MAX_DEPTH)
			continue;
		more = member_offset(type_of(entry->type), member, depth + 1);
		if (more >= 0)
			return bytes + more;
	}
	return -1;
}

/**
 * lmm_btf_value() - a number of a type of the running kernel
 * @name: of a struct or an enum
 * @member: of the struct or the enum; NULL for the struct itself
 * @value: gets the member's offset or the struct's size in bytes, or the enumerator
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP without BTF; -ENOENT when there is no such type or member.
 */
int lmm_btf_value(const char *name, const char *member, int *value)
{
	const struct btf_type *type;
	const struct btf_enum *entry;
	unsigned int i;
	int err;

	type = type_named(name, BTF_KIND_STRUCT, &err);
	if (type) {
		*value = member ? member_offset(type, member, 0) : type->size;
		return *value < 0 ? -ENOENT : 0;
	}
	type = type_named(name, BTF_KIND_ENUM, &err);
	if (!type)
		return err;
	entry = (const struct btf_enum *)(type + 1);
	for (i = 0; i < BTF_INFO_VLEN(type->info); i++, entry++) {
		if (strcmp(name_of(entry->name_off), member))
			continue;
		*value = entry->val;
		return 0;
	}
	return -ENOENT;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs.c - the tree of files, from tables
 *
 * A row without a write operation makes a 0400 file, which can be read under lockdown.  Every
 * other file is 0600.  Reading waits for nobody: `state` is empty while the policy is switched.
 * debugfs waits for running operations when a file is removed, as after an init that fails, so
 * every wait is given up before.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat/export.h"
#include "change.h"
#include "debugfs.h"
#include "hook/hook.h"
#include "look.h"
#include "params.h"
#include "switch.h"

/*
 * Room for a census of 75 zones: seq_file shows a file that outgrows its buffer once more with a
 * larger buffer, and a census takes long.
 */
#define LMM_CENSUS_ROOM	SZ_128K

/* A file; without @show, of one or all settings, or of the lease, and written, too. */
struct lmm_file {
	const char *name;
	void (*show)(struct lmm_policy *policy, struct seq_file *m);
	unsigned int key;
	size_t room;
};

/* The inode's private data; without a policy, of the top. */
struct lmm_node {
	struct lmm_file file;
	struct lmm_policy *policy;
};

static void lmm_version_show(struct lmm_policy *policy, struct seq_file *m)
{
	seq_printf(m, "livemm %s abi %d\n", LMM_VERSION, LMM_ABI);
}

static void lmm_rows_show(struct lmm_policy *policy, struct seq_file *m)
{
	lmm_hooks_show(m);
}

static void lmm_policy_status_show(struct seq_file *m, struct lmm_policy *policy)
{
	char why[LMM_WHY_LEN] = "", cannot[LMM_WHY_LEN] = "", mode[32] = "-";
	enum lmm_policy_state state = lmm_policy_state(policy, why, sizeof(why));
	unsigned int choice = lmm_policy_mode_now(policy);
	const char *word = lmm_policy_state_name[state];

	lmm_policy_waits(policy, why, sizeof(why));
	if (state == LMM_POLICY_ON)
		lmm_hooks_silent(policy->id, why, sizeof(why));
	/* For a livepatch that the policy does not require. */
	if (!why[0] && state == LMM_POLICY_ON)
		lmm_hooks_await(policy->id, choice, LMM_KLP_TELL, why, sizeof(why));
	if (!why[0] && state == LMM_POLICY_ON && policy->reason_show)
		policy->reason_show(policy, why, sizeof(why));
	if (state == LMM_POLICY_OFF && !lmm_policy_supported(policy, cannot, sizeof(cannot))) {
		word = "unsupported";
		strscpy(why, cannot, sizeof(why));
	}
	if (policy->mode_knob >= 0)
		lmm_knob_format(&policy->knobs[policy->mode_knob], choice, mode, sizeof(mode));
	seq_printf(m, "%-9s %-11s %-8s %s\n", policy->name, word, mode, why[0] ? why : "-");
}

static void lmm_status_show(struct lmm_policy *policy, struct seq_file *m)
{
	lmm_for_each_policy(policy, LMM_ALL_POLICIES)
		lmm_policy_status_show(m, policy);
}

static void lmm_supported_show(struct lmm_policy *policy, struct seq_file *m)
{
	char why[LMM_WHY_LEN] = "";

	if (lmm_policy_supported(policy, why, sizeof(why)))
		seq_puts(m, "yes\n");
	else
		seq_printf(m, "no: %s\n", why);
}

static void lmm_counters_show(struct lmm_policy *policy, struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < policy->nr_counters; i++)
		seq_printf(m, "%s %llu\n", policy->counter_names[i],
			   lmm_counter_read(policy->counters, i));
}

static void lmm_state_show(struct lmm_policy *policy, struct seq_file *m)
{
	/* Whoever switches the policy may wait for long. */
	while (!mutex_trylock(&policy->lock)) {
		if (READ_ONCE(policy->state) != LMM_POLICY_ON || fatal_signal_pending(current))
			return;
		schedule_timeout_killable(1);
	}
	if (READ_ONCE(policy->state) == LMM_POLICY_ON)
		policy->state_show(policy, m);
	mutex_unlock(&policy->lock);
}

static int lmm_file_show(struct seq_file *m, void *unused)
{
	const struct lmm_node *node = m->private;
	size_t len;
	char *buf;

	if (node->file.show) {
		node->file.show(node->policy, m);
	} else {
		/* A page, and more than all settings. */
		len = seq_get_buf(m, &buf);
		seq_commit(m, lmm_control_format(node->policy, node->file.key, buf, len));
		seq_putc(m, '\n');
	}
	return 0;
}

static int lmm_file_open(struct inode *inode, struct file *file)
{
	struct lmm_node *node = inode->i_private;

	return single_open_size(file, lmm_file_show, node, node->file.room ?: PAGE_SIZE);
}

static ssize_t lmm_file_write(struct file *file, const char __user *ubuf,
			      size_t count, loff_t *ppos)
{
	const struct lmm_node *node = ((struct seq_file *)file->private_data)->private;
	char why[LMM_WHY_LEN] = "";
	int err = -EINVAL;
	char *text;

	/* Switching off is not refused for want of memory. */
	text = kzalloc(min(count, PAGE_SIZE) + 1, GFP_KERNEL | __GFP_NOFAIL);
	/* A setting comes in one write: a piece of a setting could mean something else. */
	if (*ppos || count > PAGE_SIZE) {
		scnprintf(why, sizeof(why), "%pD2: more than one write, or more than %lu bytes",
			  file, PAGE_SIZE);
	} else if (copy_from_user(text, ubuf, count)) {
		scnprintf(why, sizeof(why), "%pD2: the text cannot be read", file);
		err = -EFAULT;
	} else if (strlen(text) < count) {
		scnprintf(why, sizeof(why), "%pD2: a byte 0 in the text", file);
	} else {
		err = lmm_control_write(node->policy, node->file.key, text, why);
	}
	kfree(text);
	*ppos += err ? 0 : count;
	return lmm_control_refuse(err, why) ?: (ssize_t)count;
}

static const struct file_operations lmm_read_fops = {
	.owner = THIS_MODULE,
	.open = lmm_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct file_operations lmm_write_fops = {
	.owner = THIS_MODULE,
	.open = lmm_file_open,
	.read = seq_read,
	.write = lmm_file_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct lmm_file lmm_top_files[] = {
	{ "version", lmm_version_show },
	{ "hooks", lmm_rows_show },
	{ "status", lmm_status_show },
	{ "lease", NULL, LMM_KEY_LEASE },
	{ "last_error", lmm_control_error_show },
	{ "policies", NULL, LMM_ALL_KEYS },
};

static const struct lmm_file lmm_policy_files[] = {
	{ "supported", lmm_supported_show },
	{ "config", NULL, LMM_ALL_KEYS },
	{ "counters", lmm_counters_show },
	{ "state", lmm_state_show },
};

static struct dentry *lmm_root;

/* Room for the files of every policy, with all knobs it may have, `enabled` and `census`. */
static struct lmm_node lmm_nodes[ARRAY_SIZE(lmm_top_files) + LMM_NR_POLICIES *
				 (ARRAY_SIZE(lmm_policy_files) + 2 + LMM_MAX_KNOBS)];
static unsigned int lmm_nr_nodes;

/* debugfs makes directories 0755 and offers no other mode. */
static struct dentry *lmm_dir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(name, parent);
	struct inode *inode;

	if (IS_ERR(dir))
		return dir;
	inode = d_inode(dir);
	inode_lock(inode);
	inode->i_mode = S_IFDIR | 0700;
	inode_unlock(inode);
	return dir;
}

/* Fill in the next node; returns the errno of the first file that failed. */
static int lmm_add(struct dentry *dir, struct lmm_file file, struct lmm_policy *policy)
{
	struct lmm_node *node = &lmm_nodes[lmm_nr_nodes++];

	*node = (struct lmm_node){ file, policy };
	return PTR_ERR_OR_ZERO(debugfs_create_file(file.name, file.show ? 0400 : 0600, dir, node,
						   file.show ? &lmm_read_fops : &lmm_write_fops));
}

static int lmm_build_tree(void)
{
	struct lmm_policy *policy;
	struct dentry *dir;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(lmm_top_files); i++)
		err = err ?: lmm_add(lmm_root, lmm_top_files[i], NULL);
	lmm_for_each_policy(policy, LMM_ALL_POLICIES) {
		dir = lmm_dir(policy->name, lmm_root);
		for (i = 0; i < ARRAY_SIZE(lmm_policy_files) && !err; i++)
			err = lmm_add(dir, lmm_policy_files[i], policy);
		if (policy->census_show && !err)
			err = lmm_add(dir, (struct lmm_file){ "census", policy->census_show,
				      .room = LMM_CENSUS_ROOM }, policy);
		/* A file for each key, with the name of the key. */
		for (i = 0; i < lmm_nr_keys(policy) && !err; i++)
			err = lmm_add(dir, (struct lmm_file){ lmm_key(policy, i)->name, NULL, i },
				      policy);
	}
	return err;
}

/**
 * lmm_control_init() - show the files
 *
 * To be called last in init.  A host without debugfs still has the module parameters, so a tree
 * without files is not a failure.  A part of the files would mislead: all files go when one cannot
 * be made.  The module stays, because somebody may have opened a file already.
 *
 * Takes no policy's lock: a write of the parameter `policies`, which may come before, may hold the
 * lock for long.
 *
 * Context: process, may sleep.
 */
void lmm_control_init(void)
{
	int err;

	lmm_root = lmm_dir("livemm", NULL);
	err = PTR_ERR_OR_ZERO(lmm_root) ?: lmm_build_tree();
	if (!err)
		return;
	pr_notice("no files in debugfs (%d): control by module parameters\n", err);
	debugfs_remove(lmm_root);
	lmm_root = NULL;
}

/**
 * lmm_control_dir() - the folder of the files, for a file of another module of livemm
 *
 * Context: process.
 * Return: the folder, or NULL where debugfs has no files of livemm.
 */
struct dentry *lmm_control_dir(void)
{
	return lmm_root;
}
EXPORT_SYMBOL_LMM(lmm_control_dir);

/**
 * lmm_control_exit() - cut every policy, have parameters change nothing, remove the files
 *
 * Context: process, may sleep.
 */
void lmm_control_exit(void)
{
	lmm_params_close();
	debugfs_remove(lmm_root);
}

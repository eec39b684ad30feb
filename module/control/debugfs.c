// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs.c - the tree of files, from tables
 *
 * A row without a write operation makes a 0400 file, which can be read under lockdown.  Every
 * other file is 0600.  Reading takes no mutex, except for rows with @locked.  debugfs waits for
 * running operations when a file is removed, so every wait is given up before the removal.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hook/hook.h"
#include "control.h"

/* The key of a file that shows all keys. */
#define LMM_ALL_KEYS	UINT_MAX

/*
 * Room for a census of 75 zones: seq_file shows a file that outgrows its buffer once more with a
 * larger buffer, and a census takes long.
 */
#define LMM_CENSUS_ROOM	SZ_128K

/* One kind of file. */
struct lmm_file {
	const char *name;
	void (*show)(struct seq_file *m, struct lmm_policy *policy, unsigned int key);
	int (*write)(struct lmm_policy *policy, unsigned int key,
		     const char *text, size_t text_len, char *why, size_t len);
	/* Does the policy have the file?  NULL: every policy has. */
	bool (*there)(const struct lmm_policy *policy);
	/* Initial size of the buffer, in bytes; 0: seq_file's default. */
	size_t room;
	/* Read under the control mutex: the data exist only while the policy is on. */
	bool locked;
};

/* A file: the inode's private data. */
struct lmm_node {
	const struct lmm_file *file;
	struct lmm_policy *policy;
	unsigned int key;
};

static void lmm_version_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	seq_printf(m, "livemm %s abi %d\n", LMM_VERSION, LMM_ABI);
}

static void lmm_hooks_file_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	lmm_hooks_show(m);
}

static void lmm_status_row(struct seq_file *m, struct lmm_policy *policy)
{
	static const char *const words[] = {
		[LMM_POLICY_OFF] = "off",
		[LMM_POLICY_LOADING] = "loading",
		[LMM_POLICY_ON] = "on",
		[LMM_POLICY_STANDBY] = "standby",
		[LMM_POLICY_LEAVING] = "leaving",
	};
	char why[LMM_WHY_LEN] = "";
	enum lmm_policy_state state = lmm_policy_state(policy, why, sizeof(why));
	const char *word = words[state];
	int mode = policy->mode_knob;
	char text[32] = "-";

	if (state == LMM_POLICY_ON) {
		lmm_hooks_silent(policy->id, why, sizeof(why));
		if (!why[0] && policy->reason_show)
			policy->reason_show(policy, why, sizeof(why));
	} else if (state == LMM_POLICY_OFF) {
		if (!lmm_policy_supported(policy, why, sizeof(why)))
			word = "unsupported";
		else
			why[0] = '\0';
	}
	if (mode >= 0) {
		rcu_read_lock();
		lmm_knob_format(&policy->knobs[mode],
				rcu_dereference(policy->config)->value[mode], text, sizeof(text));
		rcu_read_unlock();
	}
	seq_printf(m, "%-9s %-11s %-8s %s\n", policy->name, word, text, why[0] ? why : "-");
}

static void lmm_status_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	struct lmm_policy *each = NULL;

	while ((each = lmm_policy_next(each)))
		lmm_status_row(m, each);
}

static void lmm_lease_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	seq_printf(m, "%u\n", lmm_lease_left());
}

static int lmm_lease_write(struct lmm_policy *policy, unsigned int key, const char *text,
			   size_t text_len, char *why, size_t len)
{
	u32 seconds;
	int err;

	err = lmm_knob_parse(NULL, &lmm_lease_knob, text, text_len, &seconds, why, len);
	if (!err)
		lmm_lease_set(seconds);
	return err;
}

static void lmm_last_error_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	char why[LMM_WHY_LEN];

	lmm_control_get_error(why, sizeof(why));
	if (why[0])
		seq_printf(m, "%s\n", why);
}

static void lmm_supported_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	char why[LMM_WHY_LEN] = "";

	if (lmm_policy_supported(policy, why, sizeof(why)))
		seq_puts(m, "yes\n");
	else
		seq_printf(m, "no: %s\n", why);
}

/* Print one setting or all settings into the file's own buffer. */
static void lmm_settings_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	const struct lmm_config *cfg;
	size_t len, n;
	char *buf;

	len = seq_get_buf(m, &buf);
	rcu_read_lock();
	cfg = rcu_dereference(policy->config);
	if (key == LMM_ALL_KEYS)
		n = lmm_config_format(policy, cfg, ' ', buf, len);
	else
		n = lmm_key_format(policy, cfg, key, buf, len);
	rcu_read_unlock();
	/* The text may be cut: -1 has seq_file show the file again with more room. */
	seq_commit(m, n + 1 < len ? (int)n : -1);
	seq_putc(m, '\n');
}

static int lmm_settings_parse(const struct lmm_change *change, struct lmm_config *want,
			      unsigned int *named, char *why, size_t len)
{
	struct lmm_config *cfg = &want[change->policy->id];

	*named = BIT(change->policy->id);
	if (change->key == LMM_ALL_KEYS)
		return lmm_config_parse(change->policy, change->text, change->len, cfg, why, len);
	return lmm_key_parse(change->policy, change->key, change->text, change->len, cfg, why, len);
}

static int lmm_settings_write(struct lmm_policy *policy, unsigned int key, const char *text,
			      size_t text_len, char *why, size_t len)
{
	const struct lmm_change change = {
		.parse = lmm_settings_parse, .text = text, .len = text_len,
		.policy = policy, .key = key,
	};

	return lmm_control_change(&change, why, len);
}

static void lmm_counters_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	unsigned int i;

	for (i = 0; i < policy->nr_counters; i++)
		seq_printf(m, "%s %llu\n", policy->counter_names[i],
			   lmm_counter_read(policy->counters, i));
}

static void lmm_state_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	if (policy->on && policy->state_show)
		policy->state_show(policy, m);
}

static void lmm_census_show(struct seq_file *m, struct lmm_policy *policy, unsigned int key)
{
	policy->census_show(policy, m);
}

static bool lmm_census_there(const struct lmm_policy *policy)
{
	return policy->census_show;
}

static const struct lmm_file lmm_top_files[] = {
	{ "version", lmm_version_show },
	{ "hooks", lmm_hooks_file_show },
	{ "status", lmm_status_show },
	{ "lease", lmm_lease_show, lmm_lease_write },
	{ "last_error", lmm_last_error_show },
};

static const struct lmm_file lmm_policy_files[] = {
	{ "supported", lmm_supported_show },
	{ "config", lmm_settings_show, lmm_settings_write },
	{ "counters", lmm_counters_show },
	{ "state", lmm_state_show, .locked = true },
	{ "census", lmm_census_show, .there = lmm_census_there, .room = LMM_CENSUS_ROOM },
};

/* One file for each key, with the name of the key. */
static const struct lmm_file lmm_key_file = {
	NULL, lmm_settings_show, lmm_settings_write
};

static struct dentry *lmm_root;

/* Room for the files of every policy, with as many knobs as a policy may have, and `enabled`. */
static struct lmm_node lmm_nodes[ARRAY_SIZE(lmm_top_files) + LMM_NR_POLICIES *
				 (ARRAY_SIZE(lmm_policy_files) + 1 + LMM_MAX_KNOBS)];

static int lmm_file_show(struct seq_file *m, void *unused)
{
	struct lmm_node *node = m->private;

	if (node->file->locked && mutex_lock_killable(&lmm_control_mutex))
		return -EINTR;
	node->file->show(m, node->policy, node->key);
	if (node->file->locked)
		mutex_unlock(&lmm_control_mutex);
	return 0;
}

static int lmm_file_open(struct inode *inode, struct file *file)
{
	struct lmm_node *node = inode->i_private;

	if (node->file->room)
		return single_open_size(file, lmm_file_show, node, node->file->room);
	return single_open(file, lmm_file_show, node);
}

static ssize_t lmm_file_write(struct file *file, const char __user *ubuf,
			      size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct lmm_node *node = m->private;
	char why[LMM_WHY_LEN] = "";
	char *text;
	int err;

	/* A setting comes in one write: a piece of a setting could mean something else. */
	if (*ppos || count > PAGE_SIZE) {
		lmm_control_set_error("more than one write, or more than %lu bytes", PAGE_SIZE);
		return -EINVAL;
	}
	/* Switching off is not refused for want of memory. */
	text = kmalloc(count + 1, GFP_KERNEL | __GFP_NOFAIL);
	if (copy_from_user(text, ubuf, count)) {
		kfree(text);
		lmm_control_set_error("the text cannot be read");
		return -EFAULT;
	}
	text[count] = '\0';

	err = node->file->write(node->policy, node->key, text, count, why, sizeof(why));
	if (err)
		lmm_control_set_error("%s", why);

	kfree(text);
	if (err)
		return err;
	*ppos += count;
	return count;
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

/* Set before lmm_control_init(), or NULL. */
const struct lmm_control_session *lmm_control_session;

/* An open file's private data say whether this file has begun the session. */
static ssize_t lmm_session_read(struct file *file, char __user *ubuf, size_t count, loff_t *ppos)
{
	const char *text = lmm_control_session->goes_on() ? "1\n" : "0\n";

	return simple_read_from_buffer(ubuf, count, ppos, text, strlen(text));
}

static int lmm_session_release(struct inode *inode, struct file *file)
{
	if (xchg(&file->private_data, NULL))
		lmm_control_session->end();
	return 0;
}

static ssize_t lmm_session_write(struct file *file, const char __user *ubuf, size_t count,
				 loff_t *ppos)
{
	const struct lmm_control_session *session = lmm_control_session;
	char why[LMM_WHY_LEN] = "";
	char text[4] = "";
	u32 value;
	int err;

	/* A longer text is cut here, and malformed. */
	if (copy_from_user(text, ubuf, min(count, sizeof(text) - 1)))
		return -EFAULT;
	err = lmm_knob_parse(NULL, &session->knob, text, min(count, sizeof(text) - 1), &value, why,
			     sizeof(why));
	if (!err && value) {
		err = session->begin(why, sizeof(why));
		if (!err)
			WRITE_ONCE(file->private_data, file);
	} else if (!err) {
		lmm_session_release(NULL, file);
	}
	if (err && why[0])
		lmm_control_set_error("%s", why);
	return err ?: (ssize_t)count;
}

static int lmm_session_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

/* An open file keeps the module loaded. */
static const struct file_operations lmm_session_fops = {
	.owner = THIS_MODULE,
	.open = lmm_session_open,
	.read = lmm_session_read,
	.write = lmm_session_write,
	.release = lmm_session_release,
};

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

/* A tree under construction. */
struct lmm_tree {
	struct lmm_node *node;	/* of the next file */
	int err;		/* of the first file that failed */
};

static void lmm_add(struct lmm_tree *tree, struct dentry *dir, const struct lmm_file *file,
		    struct lmm_policy *policy, unsigned int key)
{
	const char *name = file->name ?: lmm_key(policy, key)->name;
	struct dentry *made;

	*tree->node = (struct lmm_node){ file, policy, key };
	made = debugfs_create_file(name, file->write ? 0600 : 0400, dir, tree->node,
				   file->write ? &lmm_write_fops : &lmm_read_fops);
	if (!tree->err)
		tree->err = PTR_ERR_OR_ZERO(made);
	tree->node++;
}

static int lmm_build_tree(void)
{
	struct lmm_tree tree = { .node = lmm_nodes };
	struct lmm_policy *policy = NULL;
	struct dentry *dir;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lmm_top_files); i++)
		lmm_add(&tree, lmm_root, &lmm_top_files[i], NULL, 0);
	if (lmm_control_session && !tree.err)
		tree.err = PTR_ERR_OR_ZERO(debugfs_create_file(lmm_control_session->knob.name, 0600,
							       lmm_root, NULL,
							       &lmm_session_fops));

	while ((policy = lmm_policy_next(policy))) {
		dir = lmm_dir(policy->name, lmm_root);
		for (i = 0; i < ARRAY_SIZE(lmm_policy_files); i++) {
			const struct lmm_file *file = &lmm_policy_files[i];

			if (!file->there || file->there(policy))
				lmm_add(&tree, dir, file, policy, LMM_ALL_KEYS);
		}
		for (i = 0; i < lmm_nr_keys(policy); i++)
			lmm_add(&tree, dir, &lmm_key_file, policy, i);
	}
	return tree.err;
}

/**
 * lmm_control_init() - show the files
 *
 * To be called last in init.  A host without debugfs still has the module parameters, so a tree
 * without files is not a failure.  A part of the files would mislead: all files go when one cannot
 * be made.  The module stays, because somebody may have opened a file already.
 *
 * Takes no mutex: a write of the parameter `policies`, which may come before, may hold the control
 * mutex for long.
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
	/* Waits for the users of files, who may take the mutex. */
	debugfs_remove(lmm_root);
	lmm_root = NULL;
}

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

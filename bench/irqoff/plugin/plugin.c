// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU's emulator (TCG) that counts for how many instructions interrupts are off.
 *
 * A section is what a CPU runs from the first block of instructions that begins with interrupts
 * off to the next that begins with interrupts on.  Sections that run a function of the page
 * allocator or of livemm are counted, by the side that a program of the guest has named (mark.c).
 * Arguments: symbols=FILE, a copy of /proc/kallsyms that is read at the first side, and out=FILE.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mark.h"
#include "qemu.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = 4;

#define CPUS	  64
#define BUCKETS	  40
#define KERNEL	  0xffff800000000000ULL
#define INTERRUPT (1 << 9) /* of EFLAGS */

/* Functions of the page allocator begin so, on 6.1 to 7.2. */
static const char *const allocator[] = {
	"rmqueue", "__rmqueue", "free_pcppages_bulk", "free_one_page", "__free_one_page",
	"free_unref_", "free_frozen_", "__free_frozen_", "drain_pages", "drain_zone_pages",
	"decay_pcp_high", "get_page_from_freelist", "__free_pages_ok", "free_pages_prepare",
	"move_freepages", "steal_suitable_fallback", "__alloc_pages_bulk", "alloc_pages_bulk",
};

struct symbol {
	uint64_t from;
	bool ours;
	char name[56];
};

struct section {
	uint64_t instructions;
	uint64_t from, to;
	uint64_t first; /* function of the allocator or of livemm */
};

struct side {
	uint64_t buckets[BUCKETS]; /* by the highest bit of the number of instructions */
	struct section longest;
};

/* A block of instructions, kept as long as QEMU runs. */
struct block {
	uint64_t at;
	uint32_t instructions;
};

static struct qemu_plugin_register *eflags;
static struct section running[CPUS];
static struct side sides[SIDES];
static struct symbol *symbols;
static size_t n_symbols;
static unsigned int n_cpus, now;
static const char *symbols_file, *out_file;

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *other = b;

	return one->from < other->from ? -1 : one->from > other->from;
}

static bool is_ours(const char *name, const char *module)
{
	size_t i;

	if (module)
		return !strncmp(module, "[livemm", 7);
	for (i = 0; i < sizeof(allocator) / sizeof(*allocator); i++)
		if (!strncmp(name, allocator[i], strlen(allocator[i])))
			return true;
	return false;
}

static void read_symbols(void)
{
	FILE *in = fopen(symbols_file, "r");
	size_t room = 1 << 19;
	char line[512];

	symbols = calloc(room, sizeof(*symbols));
	if (!in || !symbols) {
		perror(symbols_file);
		exit(1);
	}
	while (fgets(line, sizeof(line), in) && n_symbols < room) {
		struct symbol *symbol = &symbols[n_symbols];
		char name[256], module[64], type;
		int words = sscanf(line, "%" SCNx64 " %c %255s %63s", &symbol->from, &type, name,
				   module);

		if (words < 3 || !strchr("tTwW", type))
			continue;
		snprintf(symbol->name, sizeof(symbol->name), "%.*s",
			 (int)sizeof(symbol->name) - 1, name);
		symbol->ours = is_ours(name, words > 3 ? module : NULL);
		n_symbols++;
	}
	fclose(in);
	qsort(symbols, n_symbols, sizeof(*symbols), by_address);
}

static const struct symbol *symbol_at(uint64_t at)
{
	size_t low = 0, high = n_symbols;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].from <= at)
			low = middle;
		else
			high = middle;
	}
	return n_symbols && symbols[low].from <= at ? &symbols[low] : NULL;
}

static void end_section(struct section *section)
{
	struct side *side = &sides[now];

	if (section->first) {
		side->buckets[63 - __builtin_clzll(section->instructions)]++;
		if (section->instructions > side->longest.instructions)
			side->longest = *section;
	}
	section->instructions = 0;
	section->first = 0;
}

static void kernel_block(unsigned int cpu, void *data)
{
	static struct array *bytes;
	struct section *section = &running[cpu];
	const struct block *block = data;
	const struct symbol *symbol;
	uint32_t flags = 0;

	if (!now)
		return;
	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(eflags, bytes) >= (int)sizeof(flags))
		memcpy(&flags, bytes->data, sizeof(flags));
	if (flags & INTERRUPT) {
		if (section->instructions)
			end_section(section);
		return;
	}
	if (!section->instructions)
		section->from = block->at;
	section->to = block->at;
	section->instructions += block->instructions;
	if (section->first)
		return;
	symbol = symbol_at(block->at);
	if (symbol && symbol->ours)
		section->first = block->at;
}

static void user_block(unsigned int cpu, void *data)
{
	if (running[cpu].instructions)
		end_section(&running[cpu]);
}

static const char *name_of(uint64_t at)
{
	const struct symbol *symbol = symbol_at(at);

	return symbol ? symbol->name : "?";
}

/* A line a side: its number, the longest section and its functions, then how many of each size. */
static void write_sides(void)
{
	FILE *out = fopen(out_file, "w");
	unsigned int number, bucket;

	if (!out) {
		perror(out_file);
		exit(1);
	}
	for (number = 1; number < SIDES; number++) {
		const struct section *longest = &sides[number].longest;

		if (!longest->instructions)
			continue;
		fprintf(out, "%u %" PRIu64 " %s %s %s", number, longest->instructions,
			name_of(longest->from), name_of(longest->first), name_of(longest->to));
		for (bucket = 0; bucket < BUCKETS; bucket++)
			fprintf(out, " %" PRIu64, sides[number].buckets[bucket]);
		fprintf(out, "\n");
	}
	fclose(out);
}

static void marked(unsigned int cpu, void *data)
{
	unsigned int each;

	if (!symbols)
		read_symbols();
	for (each = 0; each < n_cpus; each++)
		if (running[each].instructions)
			end_section(&running[each]);
	now = (uintptr_t)data;
	if (!now)
		write_sides();
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	bool kernel = qemu_plugin_tb_vaddr(tb) >= KERNEL;
	size_t number, count = qemu_plugin_tb_n_insns(tb);
	struct block *block = NULL;

	if (kernel) {
		block = malloc(sizeof(*block));
		if (!block)
			exit(1);
		block->at = qemu_plugin_tb_vaddr(tb);
		block->instructions = count;
	}
	/* A callback with a condition has QEMU 10.0.2 run `rep stos` wrongly (-icount). */
	qemu_plugin_register_vcpu_tb_exec_cb(tb, kernel ? kernel_block : user_block,
					     kernel ? CB_R_REGS : CB_NO_REGS, block);
	for (number = 0; !kernel && number < count; number++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, number);
		unsigned char bytes[8];
		uint32_t mark;

		if (qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) != sizeof(bytes) ||
		    memcmp(bytes, "\x0f\x1f\x84\x00", 4))
			continue;
		memcpy(&mark, bytes + 4, sizeof(mark));
		if (mark - MARK < SIDES)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, CB_NO_REGS,
							       (void *)(uintptr_t)(mark - MARK));
	}
}

static void cpu_begins(qemu_plugin_id_t id, unsigned int cpu)
{
	struct array *registers = qemu_plugin_get_registers();
	const struct register_descriptor *found = registers->data;
	unsigned int number;

	if (cpu >= CPUS) {
		fprintf(stderr, "irqoff: more than %d CPUs\n", CPUS);
		exit(1);
	}
	n_cpus = cpu + 1 > n_cpus ? cpu + 1 : n_cpus;
	for (number = 0; number < registers->length && !eflags; number++)
		if (!strcmp(found[number].name, "eflags"))
			eflags = found[number].handle;
	if (!eflags) {
		fprintf(stderr, "irqoff: no register eflags\n");
		exit(1);
	}
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
				 char **argv)
{
	int number;

	for (number = 0; number < argc; number++) {
		if (!strncmp(argv[number], "symbols=", 8))
			symbols_file = strdup(argv[number] + 8);
		else if (!strncmp(argv[number], "out=", 4))
			out_file = strdup(argv[number] + 4);
	}
	if (!symbols_file || !out_file) {
		fprintf(stderr, "irqoff: symbols=FILE,out=FILE\n");
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, cpu_begins);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}

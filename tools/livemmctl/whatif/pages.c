// SPDX-License-Identifier: GPL-2.0-only
/*
 * pages.c - the pages of a trace_pipe_raw file become rows
 *
 * The kernel describes the format in events/header_page and events/header_event of tracefs: a page
 * begins with a time stamp (8 bytes) and a commit word (8 bytes, of which the low 20 bits are the
 * length of the data), and each event with a type or length of 5 bits and a time delta of 27.
 */
#include <string.h>

#include "replay.h"

#define HEADER		16
#define COMMIT_MASK	0xfffffULL
#define MISSED		(1ULL << 31)
#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_STAMP	31
/* Bits of a time stamp event; the upper bits are those of the page. */
#define STAMP_BITS	59

static uint32_t word_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static int64_t field_at(const uint8_t *at, int size, int is_signed)
{
	uint64_t value = 0;
	int shift = 64 - 8 * size;

	memcpy(&value, at, size);
	return is_signed ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

/* One event into a row; false if nobody asked for the event. */
static int row_make(const uint8_t *data, int64_t len, int32_t cpu, uint64_t time,
		    const struct whatif_format *formats, int32_t kinds, int64_t *row)
{
	uint16_t id;
	int kind, i;

	if (len < 8)
		return 0;
	memcpy(&id, data, sizeof(id));
	for (kind = 0; kind < kinds && formats[kind].id != id; kind++)
		;
	if (kind == kinds)
		return 0;
	memset(row, 0, sizeof(*row) * WHATIF_COLUMNS);
	row[0] = time;
	row[1] = cpu;
	row[2] = kind;
	for (i = 0; i < formats[kind].fields; i++) {
		if (formats[kind].offset[i] + formats[kind].size[i] > len)
			return 0;
		row[3 + i] = field_at(data + formats[kind].offset[i], formats[kind].size[i],
				      formats[kind].is_signed[i]);
	}
	return 1;
}

/* Rows of one page; returns their number. */
static int64_t page_read(const uint8_t *page, int64_t page_size, int32_t cpu,
			 const struct whatif_format *formats, int32_t kinds, int64_t *rows,
			 int64_t room, int64_t *lost)
{
	uint64_t commit, base, time;
	const uint8_t *at, *end;
	int64_t made = 0;

	memcpy(&base, page, sizeof(base));
	memcpy(&commit, page + 8, sizeof(commit));
	if (commit & MISSED)
		++*lost;
	commit &= COMMIT_MASK;
	if (commit > (uint64_t)(page_size - HEADER))
		commit = page_size - HEADER;
	time = base;
	at = page + HEADER;
	end = at + commit;
	while (at + 4 <= end && made < room) {
		uint32_t head = word_at(at), type = head & 31, first = 0;
		const uint8_t *data = at + 4;
		int64_t len;

		if (!type || type >= TYPE_PADDING) {
			if (at + 8 > end)
				break;
			first = word_at(at + 4);
		}
		if (type == TYPE_STAMP) {
			uint64_t stamp = ((uint64_t)first << 27) + (head >> 5);

			time = (base >> STAMP_BITS << STAMP_BITS) | stamp;
			at += 8;
			continue;
		}
		time += head >> 5;
		if (type == TYPE_EXTEND) {
			time += (uint64_t)first << 27;
			at += 8;
			continue;
		}
		if (type == TYPE_PADDING) {
			/* Without a delta: the rest of the page. */
			if (!(head >> 5) || first < 4)
				break;
			at += first + 4;
			continue;
		}
		len = type * 4;
		if (!type) {
			if (first < 4)
				break;
			data += 4;
			len = (int64_t)first - 4;
		}
		if (data + len > end)
			break;
		made += row_make(data, len, cpu, time, formats, kinds,
				 rows + made * WHATIF_COLUMNS);
		at = data + ((len + 3) & ~3LL);
	}
	return made;
}

/*
 * Rows of whole pages of one CPU; returns their number, at most @room.  @lost counts pages before
 * which the kernel has overwritten or refused events.
 */
int64_t whatif_pages(const uint8_t *raw, int64_t len, int64_t page_size, int32_t cpu,
		     const struct whatif_format *formats, int32_t kinds, int64_t *rows,
		     int64_t room, int64_t *lost)
{
	int64_t made = 0;

	for (; len >= page_size && made < room; raw += page_size, len -= page_size)
		made += page_read(raw, page_size, cpu, formats, kinds,
				  rows + made * WHATIF_COLUMNS, room - made, lost);
	return made;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * scnprintf.c - the kernel's scnprintf(), with %*pE, for programs of user space
 */
#include <printf.h>

#include "kernel.h"

/* Write a character as the kernel escapes it. */
static int put_escaped(FILE *out, unsigned char c)
{
	static const char plain[] = "\n\r\t\v\f\a\033";
	static const char letter[] = "nrtvfae";
	const char *at = c ? strchr(plain, c) : NULL;

	/* The kernel's isprint() includes Latin-1. */
	if (isprint(c) || c > 160)
		return fputc(c, out) == EOF ? -1 : 1;
	if (at)
		return fprintf(out, "\\%c", letter[at - plain]);
	return c ? fprintf(out, "\\%03o", c) : fprintf(out, "\\0");
}

static int put_text(FILE *out, const struct printf_info *info, const void *const *args)
{
	const char *text = *(const char *const *)args[0];
	int i, n = 0;

	for (i = 0; i < info->width; i++)
		n += put_escaped(out, text[i]);
	return n;
}

static int put_text_size(const struct printf_info *info, size_t n, int *types, int *size)
{
	if (n > 0)
		types[0] = PA_POINTER;
	return 1;
}

int scnprintf(char *buf, size_t len, const char *format, ...)
{
	char plain[512], *to = plain;
	va_list args;
	int n;

	/* Replaces the C library's %p; the E after the kernel's %p is left out. */
	register_printf_specifier('p', put_text, put_text_size);
	for (; *format && to < plain + sizeof(plain) - 1; format++) {
		*to++ = *format;
		if (!strncmp(format, "pE", 2) && to - plain > 2 && to[-2] == '*')
			format++;
	}
	*to = '\0';
	va_start(args, format);
	n = vsnprintf(buf, len, plain, args);
	va_end(args);
	return len && n >= (int)len ? (int)len - 1 : n;
}

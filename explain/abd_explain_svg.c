/* SPDX-License-Identifier: BSD-2-Clause */
#include "abd_explain_draw.h"
void abd_explain_svg(FILE *out, const struct abd_explain_trace *trace)
{
	(void)trace;
	fputs("<svg/>\n", out);
}

// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* For off.sh: a compiler's code of a branch and of a tracepoint. */
#include <jumpfunc/tracepoint.h>

DEFINE_JF_KEY_FALSE(off_here);
DECLARE_JF_KEY(off_there);
DEFINE_JF_KEY_TRUE(on_here);
DECLARE_JF_KEY_TRUE(on_there);

DECLARE_JF_TRACE(event, JF_PROTO(const int *p, int len), JF_ARGS(p, len));
DEFINE_JF_TRACE(event);

__JF_BEGIN_DECLS
int branches(int x);
int trace_name(const int *p, int len);
int trace(const int *p, int len);
void rare(void);
__JF_END_DECLS

/* Each is off, or on and likely. */
int branches(int x)
{
	if (jf_branch_unlikely(&off_here))
		rare();
	if (jf_branch_unlikely(&off_there))
		rare();
	if (!jf_branch_likely(&on_here))
		rare();
	if (!jf_branch_likely(&on_there))
		rare();
	return x;
}

/* The arguments are needed afterwards. */
int trace_name(const int *p, int len)
{
	jf_trace_event(p, len);
	return *p + len;
}

int trace(const int *p, int len)
{
	jf_trace(event, p, len);
	return *p + len;
}

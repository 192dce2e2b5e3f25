# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The names that a version script lists as global, one a line.
/^global:/ { on = 1; next }
/^local:/ { on = 0 }
on && /;/ { gsub(/[[:blank:];]/, ""); print }

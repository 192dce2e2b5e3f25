WARNING: 
BUG:
BUG at
Oops
Kernel panic
KASAN:
KCSAN:
UBSAN:
unable to handle
general protection
double fault
invalid opcode
possible (circular|recursive|irq|unsafe)
INFO: (task|rcu|possible|trying)
inconsistent lock
suspicious RCU
sleeping function called
scheduling while atomic
unreferenced object
kernel stack overflow
stack guard page
Call Trace

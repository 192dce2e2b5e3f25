Call Trace
WARNING: CPU: [0-9]+ PID: [0-9]+ at kernel/trace/trace_events\.c:

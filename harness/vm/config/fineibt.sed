# The kernel rewrites its indirect calls one by one while interrupts are on: a softirq in between may meet
# half of that.  On a real CPU that takes no time; emulated, one boot of five ended so.
arch/x86/kernel/alternative.c s/ibt = ibt_save(.*disable.*true);/& local_irq_disable();/
arch/x86/kernel/alternative.c s/__cfi_sites, __cfi_sites_end, true);/& local_irq_enable();/

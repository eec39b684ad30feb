// SPDX-License-Identifier: GPL-2.0-only
/*
 * hotplug.c - CPUs and memory that come and go while lists are raised
 *
 * The kernel frees zone->per_cpu_pageset when the last memory of a zone goes offline.  No pass
 * looks at a zone (frozen) from MEM_GOING_OFFLINE to MEM_OFFLINE or MEM_CANCEL_OFFLINE.
 */
#include <linux/cpuhotplug.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "hook/hook.h"
#include "state.h"

static int pcp_cpu_online(unsigned int cpu)
{
	mutex_lock(&pcp.lock);
	cpumask_set_cpu(cpu, pcp.cpus);
	mutex_unlock(&pcp.lock);
	return 0;
}

/* The kernel drains the list of the CPU itself and must find its own bound. */
static int pcp_cpu_offline(unsigned int cpu)
{
	struct zone *zone = NULL;

	mutex_lock(&pcp.lock);
	cpumask_clear_cpu(cpu, pcp.cpus);
	while ((zone = pcp_zone_after(zone))) {
		struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
		struct pcp_list *list = pcp_list_of(lmm_zone_slot(zone), cpu);
		unsigned long flags;

		/* Clear the limits first, so that no drain raises the list again. */
		spin_lock_irqsave(&pages->lock, flags);
		list->limits = (struct pcp_limits){ };
		spin_unlock_irqrestore(&pages->lock, flags);
		pcp_list_restore(zone, cpu, list, list->tuned);
		spin_lock_irqsave(&pages->lock, flags);
		memset(list, 0, sizeof(*list));
		spin_unlock_irqrestore(&pages->lock, flags);
	}
	/* The kernel adds the page counters of this CPU to those of another. */
	pcp.forget_ticks = 2;
	mutex_unlock(&pcp.lock);
	return 0;
}

/*
 * The kernel disables the lists of a zone that loses memory before MEM_GOING_OFFLINE, which
 * overwrites our bounds, and gives the lists its default afterwards.  Hooks write no disabled list.
 */
static int pcp_memory_notify(struct notifier_block *nb, unsigned long action, void *arg)
{
	const struct memory_notify *memory = arg;
	struct zone *zone;
	unsigned int slot;
	int cpu;

	/* Memory that comes or has gone has no struct page to read. */
	if (action != MEM_GOING_OFFLINE && action != MEM_OFFLINE && action != MEM_CANCEL_OFFLINE)
		return NOTIFY_OK;
	zone = page_zone(pfn_to_page(memory->start_pfn));
	slot = lmm_zone_slot(zone);

	mutex_lock(&pcp.lock);
	if (action == MEM_GOING_OFFLINE) {
		set_bit(slot, pcp.frozen);
		for_each_possible_cpu(cpu) {
			struct per_cpu_pages *pages = per_cpu_ptr(zone->per_cpu_pageset, cpu);
			unsigned long flags;

			spin_lock_irqsave(&pages->lock, flags);
			memset(pcp_list_of(slot, cpu), 0, sizeof(struct pcp_list));
			spin_unlock_irqrestore(&pages->lock, flags);
		}
		atomic_long_set(&pcp.zones[slot].raised, 0);
	} else {
		clear_bit(slot, pcp.frozen);
		/* The kernel enables the lists after this. */
		pcp_on_list_bounds();
	}
	mutex_unlock(&pcp.lock);
	return NOTIFY_OK;
}

static struct notifier_block pcp_memory_nb = {
	.notifier_call = pcp_memory_notify,
};

/**
 * pcp_hotplug_start() - follow CPU and memory hotplug
 *
 * The kernel would call back on each CPU, and wait for a CPU that never yields.
 *
 * Context: process, may sleep.
 * Return: 0, or -errno if there is no CPU hotplug state left.
 */
int pcp_hotplug_start(void)
{
	struct percpu_rw_semaphore *hotplug = (void *)lmm_hook_address(LMM_HOOK_MEM_HOTPLUG);
	int err;

	cpus_read_lock();
	err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN, "mm/livemm:pcp",
						   pcp_cpu_online, pcp_cpu_offline);
	if (err >= 0)
		cpumask_copy(pcp.cpus, cpu_online_mask);
	cpus_read_unlock();
	if (err < 0)
		return err;
	pcp.cpuhp_state = err;
	/* Not while memory is going offline. */
	percpu_down_read(hotplug);
	register_memory_notifier(&pcp_memory_nb);
	percpu_up_read(hotplug);
	return 0;
}

/**
 * pcp_hotplug_stop() - undo pcp_hotplug_start(), and restore every list
 *
 * Calls pcp_cpu_offline() for every online CPU, which restores the CPU's lists; lists of offline
 * CPUs were restored when the CPU went.  A pass skips the CPUs that are done.  The memory notifier
 * must stay until the last list is restored and may ask for passes, so the pass is cancelled last.
 *
 * Context: process, may sleep; no hook is armed and no tick runs.
 */
void pcp_hotplug_stop(void)
{
	unsigned int cpu;

	cpus_read_lock();
	cpuhp_remove_state_nocalls_cpuslocked(pcp.cpuhp_state);
	for_each_online_cpu(cpu)
		pcp_cpu_offline(cpu);
	cpus_read_unlock();
	unregister_memory_notifier(&pcp_memory_nb);
	cancel_delayed_work_sync(&pcp.worker.pass);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * depot.pml - the protocol of a depot, for the model checker spin
 *
 * One shard with two batches of at most two pages each, and three threads.  Each step of depot.c,
 * handlers.c and giveback.c that another CPU can see is a step here, also under a lock, so that a
 * lock that is missing shows.  spin tries every order of the steps.
 *
 * What must hold: each page is in one place (place, lists, batches agree); the sum of pages is
 * never too small; a drain that has ended has left no page behind that was in the depot when the
 * drain began, but for pages that were taken; and none at all in a closed depot.
 *
 * The model is sequentially consistent.  depot.c changes rings under the shard's lock alone, so
 * that acquire and release order what they need; loads without the lock only save a try.  Where
 * order matters without a lock (`returning` against the rings, the sum against `ticking`) the
 * kernel code has full barriers: return_batch(), zonelock_pass().
 *
 * LOAD names the threads.  BUG plants a mistake, which spin must find; see tests/model.py.
 */
#define PAGES	3
#define BATCHES	2
#define BATCH_MAX 2
#define NONE	9

#define STORE_TAKE_DRAIN 1
#define STORE_DRAIN_DRAIN 2
#define TAKE_TAKE_STORE 3
#define STORE_TAKE_CLOSE 4

#define STORES_UNLOCKED 1
#define TAKES_UNLOCKED 2
#define SUM_LATE 3
#define REFUSED_LOST 4
#define DRAIN_NO_WAIT 5
#define RETURNING_LATE 6
#define CLOSE_NO_LISTS 7
#define CLOSED_UNSEEN 8
#define COUNT_KEPT 9

#ifndef BUG
#define BUG	0
#endif

/* Where a page is: with a CPU's list, in a batch, on its way, or in the buddy. */
#define LIST	0	/* + number of the thread */
#define BATCH	10	/* + number of the batch */
#define AWAY	20	/* + number of the thread */
#define BUDDY	30

byte place[PAGES];
bit locked;		/* the shard's lock */
byte ring[BATCHES] = NONE;	/* batches, the oldest first */
byte nr;		/* of them */
byte count[BATCHES];	/* pages in a batch */
bit used[BATCHES];	/* is the batch in the ring? */
byte sum;		/* atomic: pages in the depot, may be too large */
byte returning;		/* atomic: drains between taking out and the end */
bit pcp[3];		/* pcp->lock of each CPU */
bit closed;
byte at_start;		/* pages in the depot when a drain began, by bit */
byte ended;		/* drains that have ended */

#define SET(mask, page) mask = mask | (1 << page)
#define HAS(mask, page) ((mask >> page) & 1)

inline lock() { atomic { !locked -> locked = 1 } }
inline unlock() { locked = 0 }
inline trylock(ok) {
	atomic {
		if
		:: !locked -> locked = 1; ok = 1
		:: else -> ok = 0
		fi
	}
}
inline pcp_lock(cpu) { atomic { !pcp[cpu] -> pcp[cpu] = 1 } }
inline pcp_unlock(cpu) { pcp[cpu] = 0 }

/* All pages in one place move to another, as a splice does. */
inline splice(from, to) {
	d_step {
		moved = 0;
		p = 0;
		do
		:: p < PAGES ->
			if
			:: place[p] == from -> place[p] = to; moved++
			:: else
			fi;
			p++
		:: else -> break
		od;
		p = 0
	}
}

/* depot_put() of what is AWAY with this thread. */
inline put(me, n) {
	ok = 0;
	if
	:: nr < BATCHES || nr > 0 ->
		if
		:: BUG == STORES_UNLOCKED -> ok = 1
		:: else -> trylock(ok)
		fi
	:: else
	fi;
	if
	:: ok ->
		b = NONE;
		if
		:: nr > 0 ->
			b = ring[nr - 1];
			if
			:: b == NONE || count[b] + n > BATCH_MAX -> b = NONE
			:: else
			fi
		:: else
		fi;
		if
		:: b == NONE && nr < BATCHES ->
			b = (used[0] -> 1 : 0);
			assert(!used[b] && count[b] == 0);
			used[b] = 1;
			ring[nr] = b;
			nr = nr + 1
		:: else
		fi;
		if
		:: b != NONE ->
			if
			:: BUG != SUM_LATE -> sum = sum + n
			:: else
			fi;
			splice(AWAY + me, BATCH + b);
			assert(moved == n);
			tmp = count[b];
			count[b] = tmp + n
		:: else -> ok = 0
		fi;
		if
		:: BUG != STORES_UNLOCKED -> unlock()
		:: else
		fi;
		if
		:: BUG == SUM_LATE && b != NONE -> sum = sum + n
		:: else
		fi
	:: else
	fi
}

/* Empty a batch of the ring: the newest, or the oldest.  Under the shard's lock. */
inline batch_empty(me, oldest) {
	b = (oldest -> ring[0] : ring[nr - 1]);
	assert(b != NONE);
	n = count[b];
	splice(BATCH + b, AWAY + me);
	assert(moved == n);
	if
	:: BUG != COUNT_KEPT -> count[b] = 0
	:: else
	fi;
	used[b] = 0;
	if
	:: oldest -> ring[0] = ring[1]
	:: else
	fi;
	ring[nr - 1] = NONE;
	nr = nr - 1
}

/* list_store(): a page was freed to the list, and the list is drained under pcp->lock. */
proctype storer(byte me; byte page)
{
	byte b, n, p, moved, tmp;
	bit ok;
	byte rounds = 2;

	do
	:: rounds > 0 ->
		rounds--;
		pcp_lock(me);
		/* The page comes from the buddy or is still in the list. */
		if
		:: atomic { place[page] == BUDDY -> place[page] = LIST + me }
		:: else
		fi;
		if
		:: place[page] == LIST + me && (!closed || BUG == CLOSED_UNSEEN) ->
			splice(LIST + me, AWAY + me);
			n = moved;
			assert(n > 0 && n <= PAGES);
			put(me, n);
			if
			:: !ok && BUG != REFUSED_LOST -> splice(AWAY + me, LIST + me)
			/* list_drain() */
			:: !ok && BUG != REFUSED_LOST -> splice(AWAY + me, BUDDY)
			:: else
			fi
		:: else
		fi;
		pcp_unlock(me)
	:: else -> break
	od
}

/* list_fill() */
proctype taker(byte me)
{
	byte b, n, p, moved;
	bit ok;
	byte rounds = 2;

	do
	:: rounds > 0 ->
		rounds--;
		pcp_lock(me);
		if
		:: sum > 0 && nr > 0 && !closed ->
			if
			:: BUG == TAKES_UNLOCKED -> ok = 1
			:: else -> trylock(ok)
			fi;
			if
			:: ok && nr > 0 ->
				batch_empty(me, false);
				if
				:: BUG != TAKES_UNLOCKED -> unlock()
				:: else
				fi;
				sum = sum - n;
				splice(AWAY + me, LIST + me)
			:: ok && nr == 0 && BUG != TAKES_UNLOCKED -> unlock()
			:: else
			fi
		:: else
		fi;
		pcp_unlock(me)
	:: else -> break
	od
}

/* return_batch() */
inline return_batch(me) {
	n = 0;
	if
	:: sum > 0 ->
		if
		:: BUG != RETURNING_LATE -> returning++
		:: else
		fi;
		if
		:: nr > 0 ->
			lock();
			if
			:: nr > 0 -> batch_empty(me, true)
			:: else
			fi;
			unlock()
		:: else
		fi;
		if
		:: BUG == RETURNING_LATE -> returning++
		:: else
		fi;
		if
		:: n > 0 ->
			sum = sum - n;
			splice(AWAY + me, BUDDY)
		:: else
		fi;
		returning--
	:: else
	fi
}

/* The kernel has drained lists; zonelock_on_give_back() */
proctype drainer(byte me; bit closes)
{
	byte b, n, p, moved, c, mine;

	if
	:: closes ->
		closed = 1;
		c = 0;
		do
		:: c < 2 && BUG != CLOSE_NO_LISTS ->
			pcp_lock(c);
			splice(LIST + c, BUDDY);
			pcp_unlock(c);
			c++
		:: else -> break
		od
	:: else
	fi;
	skip;
	d_step {
		mine = 0;
		p = 0;
		do
		:: p < PAGES ->
			if
			:: place[p] >= BATCH && place[p] < BATCH + BATCHES -> SET(mine, p)
			:: else
			fi;
			p++
		:: else -> break
		od;
		p = 0
	}
	n = 1;
	do
	:: n > 0 -> return_batch(me)
	:: else -> break
	od;
	if
	:: BUG != DRAIN_NO_WAIT -> returning == 0
	:: else
	fi;
	skip;
	/* Pages that no storer has a hand on must be out of the depot and of the hands of drains. */
	d_step {
		p = 0;
		do
		:: p < PAGES ->
			if
			:: closes -> assert(place[p] < BATCH || place[p] >= AWAY)
			:: else
			fi;
			if
			:: HAS(mine, p) && LOAD == STORE_DRAIN_DRAIN && p != 0 ->
				assert(place[p] == BUDDY)
			:: else
			fi;
			p++
		:: else -> break
		od;
		p = 0
	}
	ended++
}

/* At each moment. */
proctype monitor()
{
	end: assert(sum >= (place[0] >= BATCH && place[0] < AWAY) +
		    (place[1] >= BATCH && place[1] < AWAY) + (place[2] >= BATCH && place[2] < AWAY));
}

init {
	atomic {
		place[0] = BUDDY;
		/* Pages 1 and 2 were stored before, as one batch. */
		place[1] = BATCH;
		place[2] = BATCH;
		ring[0] = 0;
		ring[1] = NONE;
		nr = 1;
		used[0] = 1;
		count[0] = 2;
		sum = 2;
		run monitor();
#if LOAD == STORE_TAKE_DRAIN
		run storer(0, 0);
		run taker(1);
		run drainer(2, 0)
#elif LOAD == STORE_DRAIN_DRAIN
		run storer(0, 0);
		run drainer(1, 0);
		run drainer(2, 0)
#elif LOAD == TAKE_TAKE_STORE
		run taker(0);
		run taker(1);
		run storer(2, 0)
#else
		run storer(0, 0);
		run taker(1);
		run drainer(2, 1)
#endif
	}
	(_nr_pr == 1);
	/* The end: every page is somewhere, and the sum is right. */
	assert(place[0] < AWAY || place[0] == BUDDY);
	assert(place[1] < AWAY || place[1] == BUDDY);
	assert(place[2] < AWAY || place[2] == BUDDY);
	assert(sum == count[0] + count[1]);
	assert(!locked && !returning && nr == used[0] + used[1])
}

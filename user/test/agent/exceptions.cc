// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
// Exceptions and cancellation through functions that are recorded. Prints how many there were.
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

static int ended, frames;

struct counted {
	~counted() { ended++; }
};

extern "C" __attribute__((noinline)) int throws_it(int i)
{
	void *at[32];

	/* As many frames as there are when nothing is recorded. */
	if (i == 4)
		frames = backtrace(at, 32);
	if (i % 2)
		throw std::runtime_error("odd");
	return i;
}

extern "C" __attribute__((noinline)) int passes_it(int i)
{
	counted c;

	return throws_it(i) + 1;
}

extern "C" __attribute__((noinline)) void *waits(void *)
{
	counted c;

	for (;;)
		pause();
	return nullptr;
}

int main()
{
	int caught = 0;
	void *result;
	pthread_t t;

	for (int i = 0; i < 1000; i++)
		try {
			passes_it(i);
		} catch (const std::exception &) {
			caught++;
		}
	pthread_create(&t, nullptr, waits, nullptr);
	usleep(10000);
	pthread_cancel(t);
	pthread_join(t, &result);
	std::printf("caught %d ended %d cancelled %d frames %d\n", caught, ended, result == PTHREAD_CANCELED, frames);
	return 0;
}

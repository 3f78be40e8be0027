import type { Scheduler } from '@apus/door';

/** Resolves as the work does, or when it takes too long: then it is left to itself. */
export async function within(clock: Scheduler, ms: number, work: Promise<void>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work, late]).finally(() => cancel());
}

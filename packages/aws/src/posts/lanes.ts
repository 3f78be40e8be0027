/** Does something for each, at most this many at the same time. */
export async function inLanes<T>(
  lanesMax: number,
  items: Iterable<T>,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const serve = async () => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await handle(next.value);
  };
  await Promise.all(Array.from({ length: lanesMax }, serve));
}

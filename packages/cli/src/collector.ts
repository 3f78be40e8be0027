import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Two semi-spaces of 8 MB. V8 alone doubles them to 16 MB when many connections come, because connecting makes garbage
 * and traffic does not. 8 MB carry as many messages as 16, and 4 MB a fifth fewer (loadtest/results/performance.md).
 */
export const YOUNG_BYTES_MAX = 16 * 1024 * 1024;

/** A check takes a microsecond. */
const LOOK_MS = 250;

const GROWS = '--semi-space-growth-factor=2';
const STAYS = '--semi-space-growth-factor=1';

/** The parts of V8 that report on its collector and configure it. */
export interface Collector {
  /** Bytes of both semi-spaces. */
  youngBytes(): number;
  setFlag(flag: string): void;
}

const V8: Collector = {
  youngBytes: () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0,
  setFlag: setFlagsFromString,
};

/**
 * Configures V8's collector for a process that runs only a broker. One thread collects short-lived objects: that is a
 * millisecond of work, and several threads take longer, as they wait for each other if the machine has other work.
 *
 * @param given flags that the user has passed to Node.js: they take precedence
 * @returns a function that ends it
 */
export function tuneCollector(given = givenFlags(), collector = V8): () => void {
  if (!/parallel.scavenge|single.threaded/.test(given)) collector.setFlag('--no-parallel-scavenge');
  if (/semi.space/.test(given)) return () => {};
  return boundYoungGeneration(collector);
}

/** The young generation may shrink when the process is idle, and grow again. */
function boundYoungGeneration(collector: Collector): () => void {
  let grows = true;
  const timer = setInterval(() => {
    const mayGrow = collector.youngBytes() < YOUNG_BYTES_MAX;
    if (mayGrow === grows) return;
    grows = mayGrow;
    collector.setFlag(grows ? GROWS : STAYS);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function givenFlags(): string {
  return [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
}

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Two half spaces of 8 MB. By itself V8 doubles them to 16 MB when many connections come, for which their garbage is a
 * reason and traffic is none: 8 MB carry as many messages, and 4 MB a fifth fewer (docs/performance.md).
 */
export const YOUNG_BYTES_MAX = 16 * 1024 * 1024;

/** A look takes a microsecond. */
const LOOK_MS = 250;

const GROWS = '--semi-space-growth-factor=2';
const STAYS = '--semi-space-growth-factor=1';

/** V8, as far as its collector can be asked and told. */
export interface Collector {
  /** Bytes of both half spaces. */
  youngBytes(): number;
  setFlag(flag: string): void;
}

const V8: Collector = {
  youngBytes: () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0,
  setFlag: setFlagsFromString,
};

/**
 * Sets V8's collector for a process that is a broker and nothing else.
 *
 * One thread collects short-lived objects: there is a millisecond of work, for which several threads take longer, as they
 * wait for each other where the machine has other work.
 *
 * @param given flags that the user has given to Node.js: they count more
 * @returns ends it
 */
export function tuneCollector(given = givenFlags(), collector = V8): () => void {
  if (!/parallel.scavenge|single.threaded/.test(given)) collector.setFlag('--no-parallel-scavenge');
  if (/semi.space/.test(given)) return () => {};
  return boundYoungGeneration(collector);
}

/** It may shrink when the process is idle, and grow again. */
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

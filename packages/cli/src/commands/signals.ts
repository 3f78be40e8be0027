/**
 * Ctrl+C under `npm start` arrives twice, from the terminal and from npm. A second signal within this time is the same
 * request; a later one asks for an immediate end.
 */
const SAME_REQUEST_MS = 1_000;

/** The longest delay until the end of npm's shell is noticed. */
const ORPHAN_CHECK_MS = 250;

/** The shell's convention: 128 plus the number of SIGINT. */
const EXIT_IMPATIENT = 130;

/** Waits for SIGINT or SIGTERM, then for `stop`. A second signal meanwhile ends the process at once. */
export function untilStopped(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let askedAtMs: number | undefined;
    const asked = (): void => {
      if (askedAtMs === undefined) {
        askedAtMs = performance.now();
        console.error('Stopping …');
        stop().then(resolve, reject);
      } else if (performance.now() - askedAtMs > SAME_REQUEST_MS) process.exit(EXIT_IMPATIENT);
    };
    process.on('SIGINT', asked);
    process.on('SIGTERM', asked);
    if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(asked);
  });
}

/** npm passes a SIGTERM to the shell in between, which ends without passing it on: then its end is the request. */
function whenOrphaned(tell: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    tell();
  }, ORPHAN_CHECK_MS);
  timer.unref();
}

/** Ctrl+C under npm comes twice; a signal later than this asks for an immediate end. */
const SAME_REQUEST_MS = 1_000;

/** The shell's convention: 128 and the number of SIGINT. */
const EXIT_IMPATIENT = 130;

/** Aborted by Ctrl+C or SIGTERM: the run ends with its counts so far. A later signal ends the process at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let askedAtMs: number | undefined;
  const asked = (): void => {
    if (askedAtMs === undefined) {
      askedAtMs = performance.now();
      console.error('\nStopping: the report so far follows …');
      controller.abort();
    } else if (performance.now() - askedAtMs > SAME_REQUEST_MS) process.exit(EXIT_IMPATIENT);
  };
  process.on('SIGINT', asked);
  process.on('SIGTERM', asked);
  return controller.signal;
}

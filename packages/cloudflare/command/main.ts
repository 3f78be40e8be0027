import { SettingsError } from './settings.ts';

type Run = (
  args: readonly string[],
  untilStopped: (stop: () => Promise<void>) => Promise<void>,
) => Promise<void>;

/** Runs a command: prints its help, or the sentence of an error. */
export async function main(run: Run, help: string): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(help);
    return;
  }
  try {
    await run(args, untilStopped);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** The longest delay until the end of npm's shell is noticed, which passes no SIGTERM on. */
const ORPHAN_CHECK_MS = 250;

/** Waits for SIGINT, SIGTERM or SIGHUP, then for `stop`. Ctrl+C under npm arrives twice: it is one request. */
function untilStopped(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isAsked = false;
    const asked = () => {
      if (isAsked) return;
      isAsked = true;
      stop().then(resolve, reject);
    };
    process.on('SIGINT', asked);
    process.on('SIGTERM', asked);
    process.on('SIGHUP', asked);
    const parent = process.ppid;
    const timer = setInterval(() => process.ppid !== parent && asked(), ORPHAN_CHECK_MS);
    timer.unref();
  });
}

import { browserEnvironment } from '../../engine/browser-environment.ts';
import type { BenchCommand, BenchReport } from './bench-protocol.ts';
import { BenchRun } from './bench-run.ts';
import { doorOf, openBenchClient } from './open-bench-client.ts';

/** Globals of a worker that TypeScript's DOM library does not declare. */
interface WorkerGlobals {
  postMessage(report: BenchReport): void;
  onmessage: ((event: MessageEvent<BenchCommand>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;
let run: BenchRun | undefined;

globals.onmessage = ({ data }) => {
  if (data.type === 'stop') {
    run?.stop();
    return;
  }
  const { plan, target } = data;
  const door = doorOf(target, browserEnvironment);
  run = new BenchRun(plan, data.run, {
    open: async (clientId) => {
      const known = await door;
      return typeof known === 'string'
        ? await openBenchClient(target, known, clientId, browserEnvironment)
        : known;
    },
    now: () => performance.now(),
    later: browserEnvironment.later,
    report: (snapshot) => globals.postMessage(snapshot),
  });
  void run.start();
};

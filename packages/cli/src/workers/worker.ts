import cluster from 'node:cluster';
import { once } from 'node:events';
import { CommandError } from '../commands/command.ts';
import type { RunningDoors } from '../start-doors.ts';
import type { Given, SupervisorMessage, WorkerMessage } from './given.ts';
import { ORPHAN_MS_MAX } from './limits.ts';

/** Serves as one of several processes, until the supervisor sends SIGTERM. */
export async function runWorker(start: (given: Given) => Promise<RunningDoors>): Promise<number> {
  // Ctrl+C reaches all processes of a terminal: the supervisor decides what to do.
  process.on('SIGINT', () => {});
  const asked = new Promise<undefined>((resolve) => process.once('SIGTERM', () => resolve(undefined)));
  const orphaned = whenOrphaned();
  try {
    const node = await start(await given());
    const { urls, httpUrl, cluster: place } = node;
    process.on('message', (message: SupervisorMessage) => {
      if (message.type === 'gone') void place?.gone(message.name).catch(() => {});
    });
    tell({ type: 'listening', listening: { urls, httpUrl, name: place?.me ?? '' } });
    const failure = await Promise.race([node.failed, asked, orphaned]);
    await node.stop();
    if (failure !== undefined) throw new CommandError(failure.message);
    return 0;
  } finally {
    // Only the channel to the supervisor keeps this process alive.
    process.channel?.unref();
  }
}

async function given(): Promise<Given> {
  const told = once(process, 'message') as Promise<SupervisorMessage[]>;
  tell({ type: 'ready' });
  const [message] = await told;
  // The supervisor sends no other message before a worker listens.
  if (message?.type !== 'given') throw new Error('the supervisor has not said what to do');
  return message.given;
}

function tell(message: WorkerMessage): void {
  // The supervisor may just have died: `whenOrphaned` handles that.
  process.send?.(message, undefined, {}, () => {});
}

/**
 * Resolves when the supervisor has died. Node.js would end the worker at once, but the worker disconnects its clients
 * first.
 */
function whenOrphaned(): Promise<Error> {
  return new Promise((resolve) => {
    const { worker } = cluster;
    worker?.once('disconnect', () => {
      worker.exitedAfterDisconnect = true;
      setTimeout(() => process.exit(1), ORPHAN_MS_MAX);
      resolve(new Error('The process that has started this one has died.'));
    });
  });
}

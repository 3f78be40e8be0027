import { Connections } from '../engine/page/connections.ts';
import type { Report } from '../engine/protocol.ts';
import { noteStorageTrouble } from './storage.ts';
import { useStore } from './store.ts';

const worker = new Worker(new URL('../engine/worker.ts', import.meta.url), {
  type: 'module',
  name: 'apus-engine',
});

/** The connections of this page, over the worker that holds them. Their statuses go to the store. */
export const connections = new Connections(
  (command) => worker.postMessage(command),
  (id, status) => useStore.setState(({ statuses }) => ({ statuses: { ...statuses, [id]: status } })),
  noteStorageTrouble,
);

worker.addEventListener('message', ({ data }: MessageEvent<Report>) => connections.report(data));

import { differs, type ProbeItem, passed, until } from './item.ts';
import { ProbeClient } from './probe-client.ts';

const CLIENTS = 10;
/** Longer than the time for which the will of a lost connection waits at least (5 s). */
const WAIT_MS = 9_000;

/** Clients with a will send DISCONNECT and close in the same moment: `$disconnect` may arrive first. */
export const overlap: ProbeItem = {
  name: 'overlap',
  summary: 'DISCONNECT counts although the connection is closed while it is handled',
  billedMessages: CLIENTS * 6 + 10,
  seconds: 12,
  run: async (context) => {
    const topic = `apus-probe/${context.name}/will`;
    const watcher = await ProbeClient.connect(context, 'watcher');
    try {
      await watcher.subscribe(topic);
      const will = { topic, payload: Buffer.from('lost'), qos: 1 as const, retain: false, properties: {} };
      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, (_, index) =>
          ProbeClient.connect(context, `leaves-${index}`, { will }),
        ),
      );
      for (const client of clients) client.leaveAtOnce();
      await until(() => watcher.published.length >= CLIENTS, WAIT_MS, context.sleep);
      for (const client of clients) client.terminate();
      const wills = watcher.published.length;
      if (wills > 0) return differs(`${wills} of ${CLIENTS} clients that had said DISCONNECT left a will.`);
      return passed(`none of ${CLIENTS} clients that said DISCONNECT and closed at once has left a will.`);
    } finally {
      await watcher.end();
    }
  },
};

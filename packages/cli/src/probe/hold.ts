import { differs, notTried, type ProbeContext, type ProbeItem, passed } from './item.ts';
import { type Closed, ProbeClient } from './probe-client.ts';

const CONNECTIONS = 5;
const BEAT_SECONDS = 30;
const MESSAGES_A_BEAT = 2;
const HOLD_SECONDS_TYPICAL = 300;
/** Slightly longer than API Gateway's idle timeout. */
const IDLE_SECONDS = 660;
const PING_SECONDS = 60;

/** Connections that stay busy during a deployment. */
export const redeployment: ProbeItem = {
  name: 'redeployment',
  summary: 'a redeployment leaves connections open',
  billedMessages: (CONNECTIONS * MESSAGES_A_BEAT * HOLD_SECONDS_TYPICAL) / BEAT_SECONDS,
  seconds: undefined,
  run: async (context) => {
    const { holdSeconds, say } = context;
    say(
      `Now deploy, as with npm run deploy -- --frames-per-second 501; connections are held for ${holdSeconds} s …`,
    );
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, index) => ProbeClient.connect(context, `held-${index}`)),
    );
    const cuts = await hold(context, clients, holdSeconds, BEAT_SECONDS, async (client) => {
      await client.exchange({ type: 'pingreq' });
    });
    await Promise.all(clients.map((client) => client.end()));
    if (cuts.length > 0)
      return differs(`${cuts.length} of ${CONNECTIONS} connections were cut: ${cuts.join('; ')}.`);
    return passed(`${CONNECTIONS} connections stayed open for ${holdSeconds} s.`);
  },
};

/**
 * The design assumes that WebSocket pings do not keep a connection open, and sends a real message every nine minutes.
 */
export const idlePing: ProbeItem = {
  name: 'idle-ping',
  summary: 'pings of the WebSocket protocol do not keep an idle connection open',
  billedMessages: 4,
  seconds: undefined,
  run: async (context) => {
    const client = await ProbeClient.connect(context, 'idle');
    const cuts = await hold(context, [client], IDLE_SECONDS, PING_SECONDS, async (each) => each.ping());
    await client.end();
    const [cut] = cuts;
    if (cut !== undefined) return passed(`the connection was cut all the same: ${cut}.`);
    return differs(
      `with a ping each minute it was still open after ${IDLE_SECONDS / 60} minutes: the transport's heartbeat could be spared.`,
    );
  },
};

/** Keeps the connections open for this long, with a heartbeat from each. Returns how each closed connection ended. */
export async function hold(
  { sleep, say }: ProbeContext,
  clients: readonly ProbeClient[],
  seconds: number,
  beatSeconds: number,
  beat: (client: ProbeClient) => Promise<void>,
): Promise<readonly string[]> {
  const cuts = new Map<ProbeClient, Closed>();
  for (const client of clients) void client.closed.then((closed) => cuts.set(client, closed));
  const startedAtMs = performance.now();
  for (
    let passedSeconds = 0;
    passedSeconds < seconds && cuts.size < clients.length;
    passedSeconds += beatSeconds
  ) {
    const open = clients.filter((client) => !cuts.has(client));
    // `closed` records a connection that is cut just now.
    await Promise.all(open.map((client) => beat(client).catch(() => {})));
    await sleep(Math.min(beatSeconds, seconds - passedSeconds) * 1_000);
    say(
      `  ${Math.min(passedSeconds + beatSeconds, seconds)} of ${seconds} s, ${clients.length - cuts.size} open`,
    );
  }
  return [...cuts.values()].map(({ code, reason, atMs }) =>
    `after ${Math.round((atMs - startedAtMs) / 1_000)} s with ${code} ${reason}`.trim(),
  );
}

/** The line of the report for an item that was not requested. */
export function skipped({ name, billedMessages }: ProbeItem): ReturnType<typeof notTried> {
  return notTried(`it takes minutes and about ${billedMessages} messages: --only ${name}.`);
}

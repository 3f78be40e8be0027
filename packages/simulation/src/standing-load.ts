import type { Frames } from './frames.ts';
import type { Model } from './model.ts';

/** A connection moves to a new one at a random age of 90 to 115 minutes, ahead of the gateway's two hours. */
export const CONNECTION_SECONDS_MEAN = ((90 + 115) / 2) * 60;

/** A PINGREQ after this long without a frame that wants a reply. */
export const HEARTBEAT_SECONDS = 540;

const REPLY_BYTES = 23;
const CONNACK_BYTES = 35;

/** Units that the stores were measured to consume (docs/costs.md). */
const CONNECT_USE = { calls: 2, reads: 1, writes: 2 };
const SUBSCRIBE_USE = { calls: 5, reads: 3, writes: 3 };
const LOSS_USE = { calls: 3, reads: 1, writes: 4 };
const PING_USE = { calls: 1, reads: 1, writes: 0 };
const NOTHING = { calls: 0, reads: 0, writes: 0 };

/** The load of idle connections: clients open them anew before two hours are over, and send heartbeats. */
export function startStandingLoad(model: Model, frames: Frames): void {
  const { connections, publishers, messagesPerSecond } = model.workload;
  repeat(model, connections / CONNECTION_SECONDS_MEAN, () => reconnect(model, frames));
  // A client that publishes more often than the heartbeat's interval sends none.
  const publishesOften = messagesPerSecond / publishers > 1 / HEARTBEAT_SECONDS;
  const silent = publishesOften ? Math.max(0, connections - publishers) : connections;
  repeat(model, silent / HEARTBEAT_SECONDS, () => frames.receive({ use: PING_USE, replyBytes: REPLY_BYTES }));
}

/** Independent events at a rate. */
export function repeat(model: Model, perSecond: number, happen: () => void): void {
  if (perSecond <= 0) return;
  const meanMs = 1_000 / perSecond;
  const next = () => {
    happen();
    model.loop.after(model.random.exponential(meanMs), next);
  };
  model.loop.after(model.random.exponential(meanMs), next);
}

/** `$connect`, CONNECT, SUBSCRIBE, and `$disconnect` of the connection before. */
function reconnect(model: Model, frames: Frames): void {
  const { account, loop } = model;
  if (!account.newConnections.take(loop.nowMs)) {
    model.count((tally) => {
      tally.connectionsRefused += 1;
    });
    return;
  }
  model.count((tally) => {
    tally.connects += 1;
  });
  const subscribe = () => frames.receive({ use: SUBSCRIBE_USE, replyBytes: REPLY_BYTES });
  const connect = () =>
    frames.receive({
      use: CONNECT_USE,
      replyBytes: CONNACK_BYTES,
      onEnd: (isAnswered) => {
        if (isAnswered) subscribe();
      },
    });
  frames.receive({
    use: NOTHING,
    replyBytes: 0,
    kind: 'handshake',
    onEnd: (isAnswered) => {
      if (isAnswered) connect();
    },
  });
  frames.receive({ use: LOSS_USE, replyBytes: 0, kind: 'loss' });
}

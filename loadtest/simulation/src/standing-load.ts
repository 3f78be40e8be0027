import type { Frames } from './frames.ts';
import type { Model } from './model.ts';

/** A session moves to a new connection at a random age of 75 to 96 % of the gateway's two hours (`@apus/client`). */
export const CONNECTION_SECONDS_MEAN = ((0.75 + 0.96) / 2) * 2 * 60 * 60;

/** A client that is silent shows after this long that it is there. */
export const SIGN_SECONDS = 540;

/** One of this many heartbeats is a PINGREQ; the others are signs of life, which invoke no function. */
const SIGNS_TO_A_PINGREQ = 4;

const REPLY_BYTES = 23;

/** Units of loadtest/results/operations.md: a move is a frame, and `$disconnect` of the old connection. */
const MOVE_USE = { calls: 4, reads: 5, writes: 5 };
const LEFT_USE = { calls: 1, reads: 1, writes: 0 };
const PING_USE = { calls: 1, reads: 1, writes: 0 };
const NOTHING = { calls: 0, reads: 0, writes: 0 };

/** The load of idle connections: sessions move before two hours are over, and clients send heartbeats. */
export function startStandingLoad(model: Model, frames: Frames): void {
  const { connections, publishers, messagesPerSecond } = model.workload;
  repeat(model, connections / CONNECTION_SECONDS_MEAN, () => move(model, frames));
  // A client that publishes more often needs no heartbeat.
  const publishesOften = messagesPerSecond / publishers > 1 / SIGN_SECONDS;
  const silent = publishesOften ? Math.max(0, connections - publishers) : connections;
  const pings = silent / (SIGN_SECONDS * SIGNS_TO_A_PINGREQ);
  repeat(model, pings, () => frames.receive({ use: PING_USE, replyBytes: REPLY_BYTES }));
  repeat(model, pings * (SIGNS_TO_A_PINGREQ - 1), () => {
    frames.receive({ use: NOTHING, replyBytes: 0, kind: 'sign' });
  });
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

/** `$connect`, the frame that asks for the move, and `$disconnect` of the connection before. */
function move(model: Model, frames: Frames): void {
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
  const leave = () => frames.receive({ use: LEFT_USE, replyBytes: 0, kind: 'loss' });
  const ask = () => frames.receive({ use: MOVE_USE, replyBytes: REPLY_BYTES, onEnd: whenAnswered(leave) });
  frames.receive({ use: NOTHING, replyBytes: 0, kind: 'handshake', onEnd: whenAnswered(ask) });
}

function whenAnswered(goOn: () => void): (isAnswered: boolean) => void {
  return (isAnswered) => {
    if (isAnswered) goOn();
  };
}

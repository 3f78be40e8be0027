import { MEASURED_BUDGETS as BUDGETS } from './budgets.ts';
import { exchanges, invocations, type Operation, units } from './operation.ts';
import type { Rates } from './rates.ts';
import { addUsage, type Usage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** CONNACK with its properties, SUBACK, and the reply to a DISCONNECT or PINGREQ: MQTT bytes. */
const CONNACK_BYTES = 40;
const SUBACK_BYTES = 8;
const SHORT_REPLY_BYTES = 3;
/** A ticket is not part of MQTT: a connection id and 128 bits, about as many characters as this many bytes. */
const TICKET_BYTES = 36;

/** The costs of connections: connecting, subscribing, heartbeats, moves, losses, disconnecting. */
export function sessionOperations(workload: Workload, rates: Rates): readonly Operation[] {
  const online = usage({ connectionMinutes: rates.connectionMinutes });
  return [
    { name: 'online', count: rates.connectionMinutes, usage: online },
    connect(workload, rates),
    subscribe(workload, rates),
    heartbeat(workload, rates),
    move(workload, rates),
    resume(workload, rates),
    loss(workload, rates),
    disconnect(workload, rates),
  ];
}

/**
 * CONNECT comes with the handshake; for a persistent session it comes in a frame, after an invocation of `$connect`.
 */
function connect(workload: Workload, { connects }: Rates): Operation {
  const persistent = connects * workload.persistentShare;
  return {
    name: 'connect',
    count: connects,
    usage: addUsage(
      invocations(connects, workload.frameMs, workload),
      exchanges(persistent, workload, { answerBytes: CONNACK_BYTES }),
      units(connects - persistent, BUDGETS.connect),
      units(persistent, BUDGETS.connectPersistent),
    ),
  };
}

/** All filters in one frame. A session that continues has its subscriptions already. */
function subscribe(workload: Workload, { connects }: Rates): Operation {
  const { subscriptions } = workload;
  const count = subscribeFrames(workload, connects);
  return {
    name: 'subscribe',
    count,
    usage: addUsage(
      exchanges(count, workload, { answerBytes: SUBACK_BYTES }),
      units(count, BUDGETS.subscribeFrame),
      units(count * Math.max(1, subscriptions), BUDGETS.subscribeFilter),
    ),
  };
}

/** One frame for each connection that subscribes: with fewer than one filter a client, only this many of them do. */
export function subscribeFrames({ subscriptions, persistentShare }: Workload, connects: number): number {
  return connects * (1 - persistentShare) * Math.min(1, subscriptions);
}

function heartbeat(workload: Workload, { pings, signsOfLife }: Rates): Operation {
  return {
    name: 'heartbeat',
    count: pings + signsOfLife,
    usage: addUsage(
      exchanges(pings, workload, { answerBytes: SHORT_REPLY_BYTES }),
      units(pings, BUDGETS.ping),
      usage({ gatewayMessagesIn: signsOfLife }),
    ),
  };
}

/** `$connect` of the new connection, the frame with the ticket, and `$disconnect` of the old one. */
function move(workload: Workload, { moves }: Rates): Operation {
  const { frameMs, persistentShare, subscriptions } = workload;
  const ephemeral = moves * (1 - persistentShare);
  return {
    name: 'move',
    count: moves,
    usage: addUsage(
      invocations(2 * moves, frameMs, workload),
      exchanges(moves, workload, { answerBytes: TICKET_BYTES }),
      units(ephemeral, BUDGETS.move),
      units(ephemeral * subscriptions, BUDGETS.moveFilter),
      units(moves - ephemeral, BUDGETS.movePersistent),
    ),
  };
}

/**
 * The timer of a session that ends a minute after its connection: a delayed message that is sent, received and deleted.
 * That of a persistent session is only sent: the end is left out, and a session of more than an hour has no timer.
 */
const TIMER_REQUESTS = 3;
const PERSISTENT_TIMER_REQUESTS = 1;

/** The timer of a session that ends with its connection fires whether or not the client is back. */
function timers(ephemeral: number, persistent: number, workload: Workload): Usage {
  return addUsage(invocations(ephemeral, workload.frameMs, workload), {
    sqsStandardRequests: TIMER_REQUESTS * ephemeral + PERSISTENT_TIMER_REQUESTS * persistent,
  });
}

/** `$disconnect` of the lost connection, `$connect` of the next, the frame with the ticket, and the timer. */
function resume(workload: Workload, { resumes }: Rates): Operation {
  const { frameMs, persistentShare, subscriptions } = workload;
  const ephemeral = resumes * (1 - persistentShare);
  return {
    name: 'resume',
    count: resumes,
    usage: addUsage(
      invocations(2 * resumes, frameMs, workload),
      exchanges(resumes, workload, { answerBytes: TICKET_BYTES }),
      timers(ephemeral, resumes - ephemeral, workload),
      units(ephemeral, BUDGETS.resume),
      units(ephemeral * subscriptions, BUDGETS.resumeFilter),
      units(resumes - ephemeral, BUDGETS.resumePersistent),
    ),
  };
}

/** `$disconnect`, and the timer that ends the session. The CONNECT that follows is counted with the others. */
function loss(workload: Workload, { losses }: Rates): Operation {
  const { frameMs, persistentShare, subscriptions } = workload;
  const ephemeral = losses * (1 - persistentShare);
  return {
    name: 'loss',
    count: losses,
    usage: addUsage(
      invocations(losses, frameMs, workload),
      timers(ephemeral, losses - ephemeral, workload),
      units(ephemeral, BUDGETS.loss),
      units(ephemeral * subscriptions, BUDGETS.lossFilter),
      units(losses - ephemeral, BUDGETS.lossPersistent),
    ),
  };
}

/** Every connection that is not lost ends with `$disconnect`. The client sends DISCONNECT as the close code. */
function disconnect(workload: Workload, { connects, losses }: Rates): Operation {
  const { persistentShare, subscriptions } = workload;
  const ends = connects - losses;
  const ephemeral = ends * (1 - persistentShare);
  return {
    name: 'disconnect',
    count: ends,
    usage: addUsage(
      invocations(ends, workload.frameMs, workload),
      usage({ sqsStandardRequests: PERSISTENT_TIMER_REQUESTS * (ends - ephemeral) }),
      units(ephemeral, BUDGETS.disconnect),
      units(ends - ephemeral, BUDGETS.disconnectPersistent),
      units(ephemeral * subscriptions, BUDGETS.disconnectFilter),
    ),
  };
}

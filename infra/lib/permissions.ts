import type { ConnectionVerb, GatewayApi } from './api.ts';
import { grantInvoke } from './authentication.ts';
import type { BrokerFunction } from './broker-function.ts';
import type { QueuePair } from './queues.ts';
import type { StateTables } from './table.ts';

/** The resources that the functions share. */
export interface Resources {
  readonly state: StateTables;
  readonly fanOut: QueuePair;
  readonly timers: QueuePair;
  readonly api: GatewayApi;
  /** Undefined without rules. */
  readonly rules: QueuePair | undefined;
  /** A function of the owner that authorizes clients. */
  readonly authorizationFunction: string | undefined;
}

/**
 * The permissions of every function with a broker: any of them may publish a will, which is routed, posted and queued
 * for workers, and may end sessions, which sets timers.
 */
export function grantBroker(lambda: BrokerFunction, resources: Resources): void {
  const { state, fanOut, timers, rules, api, authorizationFunction } = resources;
  const verbs: readonly ConnectionVerb[] = ['POST', 'DELETE'];
  state.grantUse(lambda);
  fanOut.queue.grantSendMessages(lambda);
  timers.queue.grantSendMessages(lambda);
  rules?.queue.grantSendMessages(lambda);
  api.grantConnections(lambda, verbs);
  if (authorizationFunction !== undefined) grantInvoke(lambda, [authorizationFunction]);
}

/**
 * Allows to ask whether a connection still exists, and when it was last active: before a will, and before a connection
 * is given up.
 */
export function grantLook(lambda: BrokerFunction, { api }: Resources): void {
  api.grantConnections(lambda, ['GET']);
}

/**
 * The further permissions of a worker behind a queue. It moves messages that fail again and again to the dead-letter
 * queue itself.
 */
export function grantConsume(lambda: BrokerFunction, { queue, deadLetters }: QueuePair): void {
  queue.grantConsumeMessages(lambda);
  deadLetters.grantSendMessages(lambda);
}

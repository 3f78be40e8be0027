import { Random } from './clock/random.ts';
import { type Controls, controlsOf, stopGateway } from './controls.ts';
import type { CountersSnapshot } from './counters.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { type InProcessWebSocket, inProcessDoor } from './gateway/in-process-door.ts';
import { checkExpression, checkRoutes } from './gateway/route-selection.ts';
import { Principals } from './lambda/credentials.ts';
import type { Environment } from './lambda/types.ts';
import { ManagementApi } from './management/api.ts';
import { ManagementError } from './management/error.ts';
import { type EmulatorOptions, resolveOptions } from './options.ts';

/** A request to the @connections API. */
export interface ManagementRequest {
  readonly method: string;
  /** Path, encoded: `/mqtt/@connections/{id}`. */
  readonly target: string;
  readonly body: Buffer;
}

/** The emulator without a port: messages pass from turn to turn of the event loop and not through sockets. */
export interface InProcessEmulator extends Controls {
  /** For the WebSocket class below. */
  readonly url: string;
  readonly WebSocket: InProcessWebSocket;
  /** The same for clients of another IP address. */
  webSocketFrom(address: string): InProcessWebSocket;
  readonly seed: number;
  readonly counters: { snapshot(): CountersSnapshot; reset(): void };
  /** The @connections API for an execution environment. Signatures are not checked. */
  call(environment: Environment, request: ManagementRequest): Promise<{ status: number; body: Buffer }>;
  /** Ends everything without a `$disconnect`. */
  stop(): void;
}

const HOST = 'emulator.test';

const LOOPBACK = '127.0.0.1';

/**
 * Starts the emulator without sockets, so that no part of a run depends on the machine: with timers that a test moves
 * (all of them, including those of clients), a seed gives the same history, step for step.
 */
export function startInProcess(options: EmulatorOptions): InProcessEmulator {
  // Its clients are tests: ids come from the seed as well, whether it was given or not.
  const settings = { ...resolveOptions(options), hasSeededIds: true };
  checkExpression(settings.routeSelectionExpression);
  checkRoutes(settings.routes);
  const principals = new Principals();
  const managementEndpoint = `http://${HOST}/${settings.stage}`;
  const random = new Random(settings.seed);
  const gateway = createGateway(settings, random, principals, { host: HOST, managementEndpoint });
  const management = new ManagementApi(gateway, principals);
  return {
    url: `ws://${HOST}/${settings.stage}`,
    WebSocket: inProcessDoor(gateway, LOOPBACK),
    webSocketFrom: (address) => inProcessDoor(gateway, address),
    seed: settings.seed,
    counters: gateway.counters,
    ...controlsOf(gateway),
    async call({ variables }, request) {
      const principal = principals.find(variables.AWS_ACCESS_KEY_ID ?? '');
      const answer = await management.answer(request, principal?.environment);
      const json = answer instanceof ManagementError ? { message: answer.message } : answer.json;
      return { status: answer.status, body: Buffer.from(json === undefined ? '' : JSON.stringify(json)) };
    },
    stop() {
      if (!gateway.stopped) stopGateway(gateway);
    },
  };
}

import type { Reply } from '../../support/text-client.ts';
import type { BenchClient, World } from './world.ts';

/** Frames that every MQTT transport over API Gateway needs, by direction. */
export interface FloorFrames {
  readonly in: number;
  readonly out: number;
}

/** An operation of clients, and its measurement. */
export interface BenchOperation {
  /** First column of the table. */
  readonly name: string;
  /** Messages that reach a subscriber. 0: the dollars are those of a million such operations. */
  readonly deliveries: number;
  readonly floor: FloorFrames;
  /** Prepares everything, and returns the operation to measure. */
  prepare(world: World, topic: string): Promise<() => Promise<void>>;
  /** The operation takes too long for a test that runs with all others. */
  readonly isLong?: boolean;
  /**
   * Time has to pass on every clock. The measurement of processor time leaves the operation out, as its services have
   * their own clock.
   */
  readonly isTimed?: boolean;
}

/** MQTT payload of every message here, in bytes: the default of `apus cost`. */
export const PAYLOAD = 'p'.repeat(200);

let clients = 0;

/** Opens a connection and sends CONNECT. The fields are mqtt-packet's. */
export async function connected(
  world: World,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<BenchClient> {
  return (await connectedWith(world, connectPacket(fields))).client;
}

/** The same, with the ticket that CONNACK's reply brings (docs/text-frames.md, section 12). */
export async function connectedWith(
  world: World,
  packet: Readonly<Record<string, unknown>>,
): Promise<{ readonly client: BenchClient; readonly ticket: string }> {
  const client = await world.open();
  return { client, ticket: ticketOf(await client.exchange(packet)) };
}

export function ticketOf({ move = '' }: Reply): string {
  const [ticket = ''] = move.split(',');
  if (ticket === '' || ticket.startsWith('!')) throw new Error(`expected a ticket, "${move}" came`);
  return ticket;
}

/** Client identifiers of one length, so that items have the same size in any order of a run. */
export function nextClientId(): string {
  clients += 1;
  return `client-${String(clients).padStart(7, '0')}`;
}

export function connectPacket(fields: Readonly<Record<string, unknown>> = {}) {
  return {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: nextClientId(),
    keepalive: 540,
    ...fields,
  };
}

/** CONNECT of a session that outlives its connection by an hour. */
export function persistentPacket(clientId: string, isNew: boolean) {
  return connectPacket({ clientId, clean: isNew, properties: { sessionExpiryInterval: 3_600 } });
}

export const DISCONNECT = { cmd: 'disconnect', reasonCode: 0 };

import { type FieldsOf, numbersFrom } from '../fields.ts';

/** A fleet that is cut at one moment, and the rules of its return. Every number has a default. */
export interface FleetWorkload {
  readonly clients: number;
  /** The interval of messages to each client, each at its own moments. */
  readonly messageEverySeconds: number;
  readonly payloadBytes: number;
  /** How long a lost session can be resumed. */
  readonly resumeSeconds: number;
  /** Messages that the server keeps for a lost session meanwhile. */
  readonly bufferMessages: number;
  /** A wait before the first try, which is compared with none: a random time up to this. */
  readonly firstWaitSeconds: number;
  /** Before the nth try a client waits for a random time up to 2ⁿ seconds, and at least up to this. */
  readonly laterWaitSeconds: number;
  /** The longest wait before a later try. */
  readonly reconnectSecondsMax: number;
  /** The age at which the gateway cuts a connection. */
  readonly connectionSeconds: number;
  /** For planned moves: all clients have connected within this time. */
  readonly connectedWithinSeconds: number;
  readonly seed: number;
}

export const FLEET_FIELDS: FieldsOf<FleetWorkload> = {
  clients: {
    help: 'Clients that are cut at one moment.',
    least: 1,
    most: 1_000_000,
    preset: 100_000,
    isWhole: true,
  },
  messageEverySeconds: {
    help: 'Each client is sent a message so often, at moments of its own.',
    least: 0.1,
    most: 86_400,
    preset: 10,
  },
  payloadBytes: { help: 'Payload of a message.', least: 0, most: 8_000, preset: 200, isWhole: true },
  resumeSeconds: {
    help: 'A lost session can be resumed for so long.',
    least: 0,
    most: 3_600,
    preset: 60,
  },
  bufferMessages: {
    help: 'Messages that the server keeps for a lost session meanwhile, of 8 KB at most.',
    least: 0,
    most: 1_000,
    preset: 32,
    isWhole: true,
  },
  firstWaitSeconds: {
    help: 'A wait before the first try that is compared with none: a random time up to this.',
    least: 0,
    most: 3_600,
    preset: 60,
  },
  laterWaitSeconds: {
    help: 'Before the nth try a client waits a random time up to 2ⁿ seconds, and up to this at least.',
    least: 0,
    most: 3_600,
    preset: 0,
  },
  reconnectSecondsMax: {
    help: 'The longest wait before a later try (packages/client/src/limits.ts).',
    least: 1,
    most: 3_600,
    preset: 120,
  },
  connectionSeconds: {
    help: 'Age at which the gateway cuts a connection.',
    least: 60,
    most: 86_400,
    preset: 7_200,
  },
  connectedWithinSeconds: {
    help: 'Planned moves: all clients have connected within this time.',
    least: 1,
    most: 86_400,
    preset: 200,
  },
  seed: {
    help: 'The seed of every random choice.',
    least: 0,
    most: 2_147_483_647,
    preset: 1,
    isWhole: true,
  },
};

/**
 * Fills the defaults in.
 *
 * @throws {SimulationError} for a field that is unknown or out of its range
 */
export function fleetFrom(given: unknown): FleetWorkload {
  return numbersFrom(FLEET_FIELDS, given, '{"clients": 1000}') as FleetWorkload;
}

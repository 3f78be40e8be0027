import { randomBytes } from 'node:crypto';
import { MessageClock, type SessionRef } from '@apus/broker';
import { SWEPT } from '@apus/cost';
import {
  COMPLETED_LIMITS,
  Forgotten,
  forgetting,
  NEW_RECORD,
  sizeOf,
  type Table,
} from '@apus/store-dynamodb/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sized } from '../../support/runs.ts';
import { subscribe } from '../../support/text-client.ts';
import { startGatewayWorld } from './gateway-world.ts';
import {
  connectedWith,
  connectPacket,
  DISCONNECT,
  nextClientId,
  persistentPacket,
  ticketOf,
} from './operation.ts';
import type { CountingWorld } from './world.ts';

/** Enough that half a read unit, to which a scan is rounded, is a hundredth. Outside of CI four clients suffice. */
const CLIENTS = sized(50, 200);

/** Bytes that a scan reads for a read unit: two times 4 KB, as it is eventually consistent. */
const BYTES_PER_UNIT = 8_192;

const TIMEOUT_MS = 120_000;

interface Kind {
  readonly isPersistent?: boolean;
  readonly filters?: number;
  readonly end?: 'leave' | 'move';
}

/** One client of that kind, connected as far as the kind says. */
async function act(world: CountingWorld, { isPersistent = false, filters = 0, end }: Kind): Promise<void> {
  const clientId = nextClientId();
  const packet = isPersistent ? persistentPacket(clientId, true) : connectPacket({ clientId });
  const { client, ticket } = await connectedWith(world, packet);
  if (filters > 0) await world.whileTimePasses(client.exchange(subscribe(`clients/${clientId}`, { qos: 1 })));
  if (end === 'leave') {
    await client.exchange(DISCONNECT);
    client.close();
  }
  if (end === 'move') {
    const next = await world.open();
    ticketOf(await next.move(ticket));
  }
  await world.quiet();
}

describe('the reads of the sweep in `apus cost` equal those that a scan is billed for', () => {
  let world: CountingWorld;
  beforeAll(async () => {
    world = await startGatewayWorld(1);
  });
  afterAll(() => world.stop());

  const bytesOf = async (kind: Kind) => {
    const before = await world.scanned();
    for (let index = 0; index < CLIENTS; index += 1) await act(world, kind);
    const after = await world.scanned();
    const each = (units: number) => (units * BYTES_PER_UNIT) / CLIENTS;
    return {
      sessions: each(after.sessions - before.sessions),
      messages: each(after.messages - before.messages),
    };
  };

  it.each<[string, Kind, { readonly sessions: number; readonly messages: number }]>([
    ['a client', {}, { sessions: SWEPT.sessionBytes, messages: 0 }],
    ['with a filter', { filters: 1 }, { sessions: SWEPT.sessionBytes, messages: SWEPT.filterBytes }],
    [
      'a persistent session',
      { isPersistent: true, filters: 1 },
      { sessions: SWEPT.sessionBytes, messages: SWEPT.filterBytes },
    ],
    ['one that has left', { end: 'leave' }, { sessions: SWEPT.endedBytes, messages: 0 }],
    ['one that has moved', { end: 'move' }, { sessions: SWEPT.sessionBytes + SWEPT.endedBytes, messages: 0 }],
  ])(
    '%s: within an eighth',
    async (_, kind, estimated) => {
      const { sessions, messages } = await bytesOf(kind);
      expect(Math.abs(sessions / estimated.sessions - 1), `${sessions} bytes`).toBeLessThan(0.125);
      expect(Math.abs(messages - estimated.messages), `${messages} bytes`).toBeLessThanOrEqual(
        estimated.messages / 8,
      );
      expect(world.failures).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('the name of a QoS 2 copy that a record has forgotten', () => {
  const NAMES = 29;
  const NO_TIME = { nowSeconds: () => 0, settings: { repeatSecondsMax: 0 } } as unknown as Table;
  const SESSION: SessionRef = {
    ...{ key: 'default client', tenant: 'default', clientId: 'client' },
    ...{ incarnation: randomId(), attachment: undefined },
  };

  function randomId(): string {
    return randomBytes(12).toString('base64url');
  }

  /** The messages of the session came through this many processes. */
  function bytesOfName(processes: number): number {
    const clocks = Array.from({ length: processes }, () => new MessageClock({ now: Date.now }, randomId()));
    const completed = Array.from({ length: NAMES }, (_, place) => `${clocks[place % processes]?.next()}\0`);
    const forgot = forgetting({ ...NEW_RECORD, completed }, COMPLETED_LIMITS);
    if (forgot === undefined) throw new Error('nothing is forgotten');
    const items = new Forgotten(NO_TIME).items(SESSION, forgot);
    return (
      items.reduce((sum, action) => sum + ('put' in action ? sizeOf(action.put) : 0), 0) / forgot.page.length
    );
  }

  it('takes the units of `apus cost` where each message came by another process, and fewer where one process had all', () => {
    expect(Math.abs(bytesOfName(NAMES) / SWEPT.copyNameBytes - 1)).toBeLessThan(0.25);
    expect(bytesOfName(1)).toBeLessThan(SWEPT.copyNameBytes);
  });
});

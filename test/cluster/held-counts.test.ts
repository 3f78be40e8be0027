import type { Identity } from '@apus/broker';
import { Engine, HeldCounts, Membership } from '@apus/cluster/store';
import { SharedCounts } from '@apus/cluster/testing';
import { Holdings } from '@apus/store-memory/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';

const program = engineOrSkip();
const PROCESSES = 3;
const MAX = 4;
const IDENTITIES: readonly Identity[] = [
  { tenant: 't', name: 'ada' },
  { tenant: 't', name: 'bob' },
];
const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };
/** Retries happen at once. */
const CLOCK = {
  now: () => Date.now(),
  after: (_: number, call: () => void) => {
    const timer = setImmediate(call);
    return () => clearImmediate(timer);
  },
};

/** A process with clients that hold connections. */
interface Member {
  readonly membership: Membership;
  readonly holdings: Holdings;
  readonly counts: SharedCounts;
  /** Connections by identity. */
  readonly connections: number[];
}

const step = fc.record({
  action: fc.constantFrom('connect', 'connect', 'connect', 'refuse', 'leave', 'leave', 'kill', 'restart'),
  process: fc.nat(PROCESSES - 1),
  identity: fc.nat(IDENTITIES.length - 1),
  isAwaited: fc.boolean(),
  /** Repeats the command to the engine, as the client library does on a new connection, or makes it fail. */
  fate: fc.constantFrom('once', 'once', 'once', 'twice', 'fails', 'fails behind its change'),
});

describe('counts of three processes', needs('engine', program), () => {
  let process: TestEngine;
  let engine: Engine;
  let runs = 0;

  beforeAll(async () => {
    process = await startEngine(program, ['--appendonly', 'no']);
  });

  afterAll(() => process.stop());

  async function member(): Promise<Member> {
    runs += 1;
    const membership = new Membership(engine, `p${runs}`);
    await membership.join();
    const holdings = new Holdings();
    const counts = new SharedCounts(new HeldCounts(engine, membership), holdings, CLOCK, SILENT);
    return { membership, holdings, counts, connections: IDENTITIES.map(() => 0) };
  }

  const asksOf = ({ tenant, name }: Identity) => [
    { key: `identity\0${tenant}\0${name}`, kind: 'connections', by: 1, max: MAX } as const,
  ];

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('never allow more than the quota, and are released after failures and deaths [SEC-QUOTA-5]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        runs += 1;
        engine = await Engine.connect({ url: process.url, name: `run-${runs}` });
        let fate = 'once';
        const run = engine.run.bind(engine);
        engine.run = async (script, ...call) => {
          const now = script.name === 'apusHold' ? fate : 'once';
          fate = 'once';
          if (now === 'fails') throw new Error('no memory');
          if (now === 'twice') await run(script, ...call);
          const answer = await run(script, ...call);
          if (now === 'fails behind its change') throw new Error('no answer');
          return answer;
        };
        const members = await Promise.all(Array.from({ length: PROCESSES }, member));
        const works: Promise<unknown>[] = [];
        const count = (at: Member, identity: number, by: 1 | -1) => {
          const holding = at.holdings.of(IDENTITIES[identity] as Identity, 'c');
          if (by === 1) holding.change('sessions', 1);
          holding.change('connections', by);
          if (by === -1) holding.change('sessions', -1);
          at.connections[identity] = (at.connections[identity] ?? 0) + by;
          const all = members.reduce((sum, each) => sum + (each.connections[identity] ?? 0), 0);
          expect(all).toBeLessThanOrEqual(MAX);
        };
        const connect = async (at: Member, identity: number, isOpened: boolean) => {
          const asks = asksOf(IDENTITIES[identity] as Identity);
          const reserved = await Promise.resolve(at.counts.reserve(asks)).catch(() => undefined);
          if (reserved === undefined || !('release' in reserved)) return;
          if (!members.includes(at)) return;
          // Another process claims the session meanwhile.
          await turn();
          if (!members.includes(at)) return;
          reserved.release();
          if (isOpened) count(at, identity, 1);
        };
        for (const each of steps) {
          const at = members[each.process] as Member;
          fate = each.fate;
          if (each.action === 'connect') works.push(connect(at, each.identity, true));
          else if (each.action === 'refuse') works.push(connect(at, each.identity, false));
          else if (each.action === 'leave') {
            if ((at.connections[each.identity] ?? 0) > 0) count(at, each.identity, -1);
          } else if (each.action === 'restart') at.counts.reaffirm();
          else {
            const heir = await member();
            members[each.process] = heir;
            at.counts.stop();
            await heir.membership.end(at.membership.me);
            await heir.membership.reap(at.membership.me);
            await heir.counts.inherit(at.membership.me);
            await heir.membership.adopted(at.membership.me);
          }
          if (each.isAwaited) await Promise.all(works.splice(0));
        }
        fate = 'once';
        await Promise.all(works);
        for (const at of members)
          for (const [identity, held] of at.connections.entries())
            for (let left = held; left > 0; left -= 1) count(at, identity, -1);
        await expect.poll(() => engine.client.hgetall(engine.key('held'))).toEqual({});
        // The whole quota is free again, for any process.
        for (const identity of IDENTITIES)
          for (let index = 0; index < MAX; index += 1)
            expect(await members[index % PROCESSES]?.counts.reserve(asksOf(identity))).toHaveProperty(
              'release',
            );
        const asks = asksOf(IDENTITIES[0] as Identity);
        expect(await members[0]?.counts.reserve(asks)).toEqual(asks[0]);
        for (const at of members) at.counts.stop();
        engine.close();
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Claims, Engine, Membership } from '../../src/store/index.ts';
import { CLAIMS_PAUSE_MS } from '../../src/store/limits.ts';

const program = engineOrSkip();

describe('claims of clients', needs('engine', program), () => {
  let process: TestEngine;
  let engine: Engine;
  let runs = 0;

  beforeAll(async () => {
    process = await startEngine(program, ['--appendonly', 'no']);
  });

  afterAll(async () => {
    engine.close();
    await process.stop();
  });

  /** Processes of one separate cluster. */
  async function members(count: number) {
    runs += 1;
    engine?.close();
    engine = await Engine.connect({ url: process.url, name: `claims-${runs}` });
    const joined = [];
    for (let index = 0; index < count; index += 1) {
      const membership = new Membership(engine, `p${index}`);
      await membership.join();
      joined.push({ membership, claims: new Claims(engine, membership.me) });
    }
    return joined as [(typeof joined)[0], (typeof joined)[0]];
  }

  const ownerOf = (clientId: string) => engine.client.hget(engine.key('claims'), clientId);

  it('that come and go in one turn are one command', async () => {
    const [{ claims }] = await members(1);
    const run = vi.spyOn(engine, 'run');
    for (let client = 0; client < 100; client += 1) {
      if (client > 0) claims.release(`c${client - 1}`);
      void claims.claim(`c${client}`);
    }
    expect(await claims.claim('last')).toBe('here');
    expect(run.mock.calls.length).toBe(1);
    expect(await ownerOf('c98')).toBeNull();
    expect(await ownerOf('c99')).toBe('p0');
  });

  it('that come while a command is under way are the next one', async () => {
    const [{ claims }] = await members(1);
    const run = vi.spyOn(engine, 'run');
    const first = claims.claim('first');
    await new Promise((resolve) => setImmediate(resolve));
    const others = Array.from({ length: 50 }, (_, client) => claims.claim(`c${client}`));
    await Promise.all([first, ...others]);
    expect(run.mock.calls.length).toBe(2);
  });

  it('of clients that come in a row are few commands, and a single one waits for none before it', async () => {
    const [{ claims }] = await members(1);
    await claims.claim('before');
    await new Promise((resolve) => setTimeout(resolve, 2 * CLAIMS_PAUSE_MS));
    const run = vi.spyOn(engine, 'run');
    const alone = claims.claim('alone');
    await new Promise((resolve) => setImmediate(resolve));
    expect(run.mock.calls.length).toBe(1);
    await alone;
    const visits = Array.from({ length: 20 }, async (_, client) => {
      for (let visit = 0; visit < 10; visit += 1) {
        await claims.claim(`c${client}`);
        claims.release(`c${client}`);
      }
    });
    await Promise.all(visits);
    // One command for each visit, if all take equally long.
    expect(run.mock.calls.length).toBeLessThan(40);
  });

  it('of two processes never name two owners, whatever the order', async () => {
    const step = fc.record({
      at: fc.nat(1),
      client: fc.constantFrom('a', 'b', 'c'),
      isClaim: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const both = await members(2);
        /** Clients that each process has, as it was answered, and has not released. */
        const had = [new Set<string>(), new Set<string>()] as const;
        for (const { at, client, isClaim } of steps) {
          const [own, other] = [had[at] ?? new Set(), had[1 - at] ?? new Set()];
          const { claims } = both[at] ?? both[0];
          if (!isClaim) {
            own.delete(client);
            claims.release(client);
            continue;
          }
          if ((await claims.claim(client)) !== 'here') continue;
          own.add(client);
          // The release of the other process is before this claim.
          expect(other.has(client)).toBe(false);
        }
        for (const client of ['a', 'b', 'c']) {
          const owner = had.findIndex((clients) => clients.has(client));
          if (owner >= 0) expect(await ownerOf(client)).toBe(`p${owner}`);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('of a process that was given up stay for its heir, even if it releases them', async () => {
    const [dead, heir] = await members(2);
    await dead.claims.claim('with-session');
    await dead.claims.claim('without');
    await dead.membership.expire();
    expect(await heir.membership.reap(dead.membership.me)).toBeDefined();
    dead.claims.release('with-session');
    expect(await dead.claims.claim('new')).toBe('moving');
    expect(await ownerOf('with-session')).toBe('p0');
    expect(await heir.claims.claim('with-session')).toBe('moving');
    await heir.claims.inherit('p0', (client) => client === 'with-session');
    expect([await ownerOf('with-session'), await ownerOf('without')]).toEqual(['p1', null]);
  });

  it('fail with their command, and later ones do not', async () => {
    const [{ claims }] = await members(1);
    vi.spyOn(engine, 'run').mockRejectedValueOnce(new Error('no memory'));
    const failed = claims.claim('a');
    claims.release('b');
    await expect(failed).rejects.toThrow('no memory');
    expect(await claims.claim('a')).toBe('here');
  });
});

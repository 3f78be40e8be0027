import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Awaitable,
  type LinkState,
  type LinkStore,
  LOST_BYTES_MAX,
  LOST_PACKETS_MAX,
  rulesOfLists,
} from '../src/index.ts';
import { unique } from './support.ts';

const STATE: Extract<LinkState, { phase: 'connected' }> = {
  phase: 'connected',
  isDraining: false,
  replays: [],
  connection: {
    session: { key: 't\0c', tenant: 't', clientId: 'c', incarnation: '1', attachment: undefined },
    protocolVersion: 5,
    identity: { tenant: 't', name: 'n', rules: rulesOfLists(['a/#'], []) },
    keepAliveSeconds: 540,
    expirySeconds: 0,
    requestProblemInformation: true,
    maximumPacketSize: 1000,
    topicAliasMaximum: 0,
    authenticationMethod: undefined,
    connectedAtMs: 1_700_000_000_000,
    isResumed: false,
    willDelaySeconds: 0,
  },
};

/** The contract of every `LinkStore`. */
export function linkStoreContract(name: string, makeLinks: () => Awaitable<LinkStore>): void {
  describe(`${name}: LinkStore`, () => {
    it('knows nothing of a connection that was never saved', async () => {
      const links = await makeLinks();
      expect(await links.load(unique('connection'))).toBeUndefined();
    });

    it('loads the state that was saved last', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      expect(await links.save(id, { phase: 'new' })).toBe(true);
      expect(await links.save(id, STATE)).toBe(true);
      expect(await links.load(id)).toEqual(STATE);
    });

    it('keeps a CONNECT with its bytes while the client authenticates', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      const state: LinkState = {
        phase: 'authenticating',
        methodState: { step: 1 },
        connect: {
          type: 'connect',
          protocolVersion: 5,
          cleanStart: true,
          keepAliveSeconds: 0,
          clientId: 'c',
          password: new Uint8Array([1, 255]),
          properties: { authenticationMethod: 'm', userProperties: [['a', 'b']] },
        },
      };
      await links.save(id, state);
      expect(await links.load(id)).toEqual(state);
    });

    it('loads a copy: changes by the caller are not stored', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, STATE);
      const loaded = await links.load(id);
      if (loaded?.phase === 'connected') Object.assign(loaded.connection, { keepAliveSeconds: 1 });
      expect(await links.load(id)).toEqual(STATE);
    });

    it('is closed after its end, and takes nothing more', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, STATE);
      expect(await links.end(id)).toEqual(STATE);
      expect(await links.load(id)).toEqual({ phase: 'closed', before: STATE });
      expect(await links.save(id, STATE)).toBe(false);
      expect(await links.load(id)).toEqual({ phase: 'closed', before: STATE });
    });

    it('returns a closed state with the former one to each caller after the first that ends it', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, STATE);
      await links.end(id);
      expect(await links.end(id)).toEqual({ phase: 'closed', before: STATE });
    });

    describe('a client that has lost its connection', () => {
      let links: LinkStore;
      let lost: string;
      let next: string;

      beforeEach(async () => {
        links = await makeLinks();
        [lost, next] = [unique('connection'), unique('connection')];
        await links.save(lost, STATE);
        await links.end(lost);
      });

      const packet = (first: number, length = 2) => new Uint8Array(length).fill(first);

      it('finds the packets that were kept for it, in their order, when it resumes', async () => {
        expect(await links.keep(lost, [packet(1), packet(2)])).toBeUndefined();
        expect(await links.keep(lost, [packet(3)])).toBeUndefined();
        const kept = { packets: [packet(1), packet(2), packet(3)], hasMissed: false };
        expect(await links.resume(lost, next)).toEqual(kept);
        // Its answer may have been lost.
        expect(await links.resume(lost, next)).toEqual(kept);
      });

      it('has no kept packets after it has resumed: a later sender learns the new connection', async () => {
        expect(await links.resume(lost, next)).toEqual({ packets: [], hasMissed: false });
        const closed = { phase: 'closed', before: STATE, movedTo: next, isResumed: true };
        expect(await links.keep(lost, [packet(1)])).toEqual(closed);
        expect(await links.keep(lost, [])).toEqual(closed);
        expect(await links.end(lost)).toEqual(closed);
        expect(await links.resume(lost, next)).toEqual({ packets: [], hasMissed: false });
      });

      it('resumes over one connection only', async () => {
        await links.resume(lost, next);
        expect(await links.resume(lost, unique('connection'))).toBeUndefined();
        expect(await links.load(lost)).toMatchObject({ movedTo: next });
      });

      it('is told that packets are missing when more come than are kept', async () => {
        for (let n = 0; n < LOST_PACKETS_MAX; n += 1) await links.keep(lost, [packet(n)]);
        expect(await links.load(lost)).not.toHaveProperty('hasMissed');
        await links.keep(lost, [packet(99)]);
        expect(await links.load(lost)).toMatchObject({ hasMissed: true });
        const kept = await links.resume(lost, next);
        expect(kept?.packets).toHaveLength(LOST_PACKETS_MAX);
        expect(kept?.hasMissed).toBe(true);
      });

      it.each([
        ['at once', [LOST_BYTES_MAX + 1], 0],
        ['together', [LOST_BYTES_MAX - 1, 2], 1],
      ])(
        'is told that packets are missing when they have too many bytes %s',
        async (_when, lengths, fitting) => {
          for (const length of lengths) await links.keep(lost, [packet(1, length)]);
          const kept = await links.resume(lost, next);
          expect(kept?.packets).toHaveLength(fitting);
          expect(kept?.hasMissed).toBe(true);
        },
      );

      it('is told that packets are missing when a sender says that it keeps nothing', async () => {
        await links.keep(lost, []);
        expect(await links.resume(lost, next)).toEqual({ packets: [], hasMissed: true });
      });
    });

    it('neither keeps packets for a connection that has not ended, nor resumes it', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, STATE);
      expect(await links.keep(id, [new Uint8Array(1)])).toEqual(STATE);
      expect(await links.resume(id, unique('connection'))).toBeUndefined();
      expect(await links.load(id)).toEqual(STATE);
      expect(await links.resume(unique('connection'), id)).toBeUndefined();
    });

    it('that moves is closed, and each caller gets its former state and its new connection', async () => {
      const links = await makeLinks();
      const [from, to] = [unique('connection'), unique('connection')];
      await links.save(from, STATE);
      expect(await links.move(from, to)).toEqual(STATE);
      const closed = { phase: 'closed', before: STATE, movedTo: to };
      expect(await links.load(from)).toEqual(closed);
      expect(await links.save(from, STATE)).toBe(false);
      expect(await links.end(from)).toEqual(closed);
      expect(await links.end(from)).toEqual(closed);
    });

    it('moves to one connection only, and the same move can be repeated', async () => {
      const links = await makeLinks();
      const [from, to] = [unique('connection'), unique('connection')];
      await links.save(from, STATE);
      await links.move(from, to);
      expect(await links.move(from, to)).toEqual(STATE);
      expect(await links.move(from, unique('connection'))).toBeUndefined();
      expect(await links.load(from)).toMatchObject({ movedTo: to });
    });

    it('does not move when it has ended, or was never connected', async () => {
      const links = await makeLinks();
      const [ended, unknown, to] = [unique('connection'), unique('connection'), unique('connection')];
      await links.save(ended, STATE);
      await links.end(ended);
      expect(await links.move(ended, to)).toBeUndefined();
      expect(await links.load(ended)).toEqual({ phase: 'closed', before: STATE });
      expect(await links.move(unknown, to)).toBeUndefined();
    });

    it('adopts the state of another once: a repetition leaves later saves as they are', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, { phase: 'new' });
      expect(await links.adopt(id, STATE)).toBe(true);
      const later: LinkState = { ...STATE, isDraining: true };
      await links.save(id, later);
      expect(await links.adopt(id, STATE)).toBe(true);
      expect(await links.load(id)).toEqual(later);
    });

    it('adopts nothing when it has ended', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.end(id);
      expect(await links.adopt(id, STATE)).toBe(false);
      expect(await links.load(id)).toEqual({ phase: 'closed' });
    });

    it('takes no first save of a connection that ended before it', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      expect(await links.end(id)).toBeUndefined();
      expect(await links.save(id, STATE)).toBe(false);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { type Awaitable, type LinkState, type LinkStore, rulesOfLists } from '../src/index.ts';
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

    it('loads what was saved last', async () => {
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

    it('gives what it loaded to the caller alone', async () => {
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

    it('tells what stood there to the first that ends it', async () => {
      const links = await makeLinks();
      const id = unique('connection');
      await links.save(id, STATE);
      await links.end(id);
      expect(await links.end(id)).toBeUndefined();
    });

    it('that moves is closed, and says to each caller where it has gone and what stood there', async () => {
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

    it('adopts the state of another once: a repetition leaves what has been saved since', async () => {
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

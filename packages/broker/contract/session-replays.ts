import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionStore } from '../src/index.ts';
import { Client, copyOf, type MakeStores, NOW_MS } from './support.ts';

/** How a session remembers which retained messages it has not been sent. */
export function sessionReplaysContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
  });

  const note = async (filters: readonly string[], connectionId = client.connectionId) =>
    await sessions.noteReplays(copyOf(await client.session()), connectionId, filters);
  const noted = async () => (await sessions.get(client.tenant, client.clientId))?.replays ?? [];

  describe('noteReplays', () => {
    it('has no note at first, and replaces an earlier one', async () => {
      await client.open();
      expect(await noted()).toEqual([]);
      await note(['a/+', 'b/#']);
      expect(await noted()).toEqual(['a/+', 'b/#']);
      await note(['b/#']);
      expect(await noted()).toEqual(['b/#']);
      await note([]);
      expect(await noted()).toEqual([]);
    });

    it('gives the note to the connection that continues the session, until it notes anew', async () => {
      await client.open();
      await note(['a/+']);
      await client.lose();
      expect((await client.open()).previous?.replays).toEqual(['a/+']);
      expect((await client.open()).previous?.replays, 'of a take-over').toEqual(['a/+']);
      await note([]);
      await client.lose();
      expect((await client.open()).previous?.replays ?? []).toEqual([]);
    });

    it('notes for one incarnation', async () => {
      await client.open();
      await note(['a/+']);
      await client.open({ cleanStart: true });
      expect(await noted()).toEqual([]);
    });

    it('takes no note of a connection that was taken over, or of a session that is gone', async () => {
      await client.open();
      const before = client.connectionId;
      const { session } = await client.open();
      await note(['late'], before);
      expect(await noted()).toEqual([]);
      const gone = copyOf(session);
      await client.open({ cleanStart: true });
      await sessions.noteReplays(gone, client.connectionId, ['late']);
      expect(await noted()).toEqual([]);
      await sessions.remove(await client.lose());
      await sessions.noteReplays(gone, client.connectionId, ['late']);
      expect(await sessions.get(client.tenant, client.clientId)).toBeUndefined();
    });

    it('takes a note of the last connection after its end', async () => {
      await client.open();
      await client.lose(NOW_MS);
      await note(['a/+']);
      expect((await client.open()).previous?.replays).toEqual(['a/+']);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { sessionEndContract } from './session-end.ts';
import { sessionOpenContract } from './session-open.ts';
import { sessionOwnerContract } from './session-owner.ts';
import { sessionReplaysContract } from './session-replays.ts';
import { sessionResumeContract } from './session-resume.ts';
import { sessionWillContract } from './session-will.ts';
import { Client, type ContractOptions, type MakeStores } from './support.ts';

/** The contract of every `SessionStore`. */
export function sessionStoreContract(
  name: string,
  makeStores: MakeStores,
  { countsAreExact = true }: ContractOptions = {},
): void {
  describe(`${name}: SessionStore`, () => {
    sessionOpenContract(makeStores);
    sessionOwnerContract(makeStores);
    sessionEndContract(makeStores);
    sessionReplaysContract(makeStores);
    sessionResumeContract(makeStores);
    sessionWillContract(makeStores);

    // A store that samples its numbers answers this one when it gets around to it.
    if (countsAreExact)
      it('counts sessions, connected or not', async () => {
        const client = new Client(await makeStores());
        const { sessions } = client.stores;
        const before = await sessions.count();
        await client.open();
        await new Client(client.stores).open();
        expect((await sessions.count()) - before).toBe(2);
        const offline = await client.lose();
        expect((await sessions.count()) - before).toBe(2);
        await client.open({ cleanStart: true });
        expect((await sessions.count()) - before).toBe(2);
        await sessions.remove(offline);
        expect((await sessions.count()) - before).toBe(2);
        await sessions.remove(await client.lose());
        expect((await sessions.count()) - before).toBe(1);
      });
  });
}

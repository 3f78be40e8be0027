import { openedOf, openOf } from '@apus/broker/samples';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { attachmentOf, detach, open, unique } from '../support/client.ts';
import { withService } from '../support/stores.ts';

await withService((service) => {
  describe('a session that was stored before sessions had owners', () => {
    it.each([
      ['ada', false],
      ['somebody', false],
      ['somebody', true],
    ])(
      'ends at its first CONNECT, by %s, while it is connected: %s [SEC-OWNER-5]',
      async (name, isConnected) => {
        const stores = service.make();
        const tenant = unique('tenant');
        const { session } = await open(stores, tenant, 'c');
        if (!isConnected) await detach(stores, session, 'c:1');
        await service.client.send(
          new UpdateItemCommand({
            TableName: service.tableName,
            Key: { p: { S: ['S', tenant, 'c'].join('\0') }, s: { S: 'session' } },
            UpdateExpression: 'REMOVE y, yr',
          }),
        );
        const request = openOf('c', {
          tenant,
          attachment: attachmentOf('c:2'),
          identity: { tenant, name },
          bindingRank: 0,
        });
        const opened = openedOf(await service.make().sessions.open(request));
        expect(opened).toMatchObject({ present: false });
        expect(opened.session.incarnation).not.toBe(session.incarnation);
        expect((await stores.sessions.get(tenant, 'c'))?.identity.name).toBe(name);
      },
    );
  });
});

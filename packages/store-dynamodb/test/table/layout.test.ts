import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { LayoutError } from '../../src/table/errors.ts';
import { linkKey, sessionItemKey } from '../../src/table/keys.ts';
import { marshalled } from '../../src/table/table.ts';
import { open, unique } from '../support/client.ts';
import { withService } from '../support/stores.ts';

await withService((service) => {
  const olderItem = async (key: { p: string; s: string }) => {
    const Item = { ...marshalled(key), v: { N: '1' }, d: { S: 'written by an older version' } };
    await service.client.send(new PutItemCommand({ TableName: service.sessionsTableName, Item }));
    const stored = async () => {
      const command = new GetItemCommand({ TableName: service.sessionsTableName, Key: marshalled(key) });
      return (await service.client.send(command)).Item;
    };
    return { Item, stored };
  };

  it('an item of an older layout is not read, and the error says what to do', async () => {
    const connectionId = unique('connection');
    const { Item, stored } = await olderItem(linkKey(connectionId));
    const stores = service.make();
    const loaded = stores.links.load(connectionId);
    await expect(loaded).rejects.toThrow(LayoutError);
    await expect(loaded).rejects.toThrow(
      `The table ${service.sessionsTableName} has items of layout 1, and this version of Apus reads layout 2. Deploy this version as a new stack, or go back to the version that wrote the table.`,
    );
    const frame = stores.forEvent({ connectionId });
    const read = frame.readAhead({ connectionId, tenant: 'tenant', topicNames: [] });
    await expect(read).rejects.toThrow(LayoutError);
    expect(await stored()).toEqual(Item);
  });

  it('a session of an older layout is not taken over', async () => {
    const tenant = unique('tenant');
    const { Item, stored } = await olderItem(sessionItemKey(tenant, 'c'));
    await expect(open(service.make(), tenant, 'c')).rejects.toThrow(LayoutError);
    expect(await stored()).toEqual(Item);
  });
});

import { expect, it } from 'vitest';
import { FakeDoor } from './support/fake-door.ts';

it('a message that the new rules keep from a session does not leave for it while its subscription stands [SEC-RULES-6]', async () => {
  const mayReceive = (clientId: string, topic: string) => clientId !== 'former' || topic === 'public';
  const door = new FakeDoor({
    authorizer: {
      mayPublish: () => true,
      maySubscribe: (_identity, clientId, topic, { qos }) => qos !== undefined || mayReceive(clientId, topic),
    },
    changedRights: { forbids: ({ session }, topic) => !mayReceive(session.clientId, topic) },
  });
  const [former, present] = [
    await door.connect({ clientId: 'former' }),
    await door.connect({ clientId: 'present' }),
  ];
  for (const link of [former, present]) await door.subscribe(link, '#', 1);
  const publisher = await door.connect({ clientId: 'publisher' });
  for (const link of [former, present]) link.take();
  for (const qos of [0, 1] as const) await door.publish(publisher, 'secret', `${qos}`, { qos });
  expect(present.take()).toHaveLength(2);
  expect(former.take()).toEqual([]);
  expect(door.warnings).toContainEqual([
    'messages-dropped',
    expect.objectContaining({ why: 'not-authorized', count: 1, topic: 'secret' }),
  ]);
  await door.publish(publisher, 'public', 'x', { qos: 0 });
  expect(former.take()).toMatchObject([{ topic: 'public' }]);
});

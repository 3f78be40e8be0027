import { afterEach, expect, it } from 'vitest';
import { payloads, publish, subscribe, TextClient } from '../support/text-client.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

let world: CloudWorld;

afterEach(async () => {
  await world.stop();
  expect(world.failures).toEqual([]);
});

it('posts a message before a newer one of its topic, in the same frame, is retained', async () => {
  const order: string[] = [];
  world = await startCloud({
    seed: 1,
    alterations: {
      cloud: ({ environment: { poster } }) => {
        const { post } = poster;
        poster.post = async (...call) => {
          order.push('post');
          return await post.apply(poster, call);
        };
      },
      dynamo: (client) =>
        ({
          send: (command: { input: { Item?: Record<string, { S?: string }> } }) => {
            if (command.input.Item?.s?.S === 'state') order.push('retain');
            return client.send(command as never);
          },
        }) as typeof client,
    },
  });
  const { client: reader } = await TextClient.connect(world.url);
  await reader.exchange(subscribe('state', { qos: 1 }));
  const { client: publisher } = await TextClient.connect(world.url);
  const retained = (payload: string) => publish('state', payload, { qos: 1, retain: true });
  await publisher.exchange(retained('0'), { ...retained('1'), messageId: 2 });
  expect(payloads((await reader.pushes.next()).packets)).toEqual(['0']);
  expect(payloads((await reader.pushes.next()).packets)).toEqual(['1']);
  expect(order).toEqual(['retain', 'post', 'retain', 'post']);
});

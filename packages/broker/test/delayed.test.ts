import { describe, expect, test } from 'vitest';
import { type Authorizer, mayPublish } from '../src/index.ts';

describe('the right to publish to $delayed/SECONDS/TOPIC', () => {
  test.each([
    ['$delayed/5/a/b', 'a/b'],
    ['$delayed/5/$SYS/x', '$delayed/5/$SYS/x'],
    ['$delayed/soon/a', '$delayed/soon/a'],
    ['a/b', 'a/b'],
  ])('of %s is that to %s', (topic, asked) => {
    const topics: string[] = [];
    const authorizer: Authorizer = {
      mayPublish: (_identity, _clientId, topicName) => topics.push(topicName) > 0,
      maySubscribe: () => true,
    };
    const identity = { tenant: 'default', name: 'ada' };
    expect(mayPublish({ ports: { authorizer } }, identity, 'c', topic, { qos: 1, retain: false })).toBe(true);
    expect(topics).toEqual([asked]);
  });
});

import { beforeEach, expect, it } from 'vitest';
import { openedRules } from '../../src/lambda/opened-rules.ts';
import type { RuleConfiguration } from '../../src/rules/configuration/rules.ts';

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:hook-a1B2c3';
const LIST = [
  {
    name: 'hook',
    filter: 'a',
    to: { webhook: { url: 'https://example.com/', secret: { secretArn: ARN } } },
  },
];

let nowMs: number;
let secret: string | Error;
let opened: (string | undefined)[];
let stopped: number;
let rules: ReturnType<typeof openedRules>;

const secretOf = ({ to }: RuleConfiguration) => (to.kind === 'webhook' ? String(to.secret) : undefined);

beforeEach(() => {
  nowMs = 0;
  secret = 'first';
  opened = [];
  stopped = 0;
  rules = openedRules({
    list: LIST,
    where: 'rules',
    readSecret: async () => {
      if (secret instanceof Error) throw secret;
      return secret;
    },
    open: async (configuration) => {
      opened.push(secretOf(configuration));
      const batch = { messagesMax: 1, bytesMax: 0, isPartial: false };
      const stop = async () => {
        stopped += 1;
      };
      return { type: 'fake', remote: '', batch, send: async () => undefined, stop };
    },
    clock: { now: () => nowMs },
  });
});

it('opens the rules once, and again within five minutes when a secret has changed', async () => {
  const first = await rules();
  nowMs += 300_000;
  expect(await rules()).toBe(first);
  secret = 'second';
  nowMs += 300_000;
  expect(await rules()).not.toBe(first);
  expect([opened, stopped]).toEqual([['first', 'second'], 1]);
});

it('goes on with the former secret for an hour while it cannot be read', async () => {
  await rules();
  secret = new Error('away');
  nowMs += 3_599_999;
  expect((await rules()).size).toBe(1);
  nowMs += 2_000;
  await expect(rules()).rejects.toThrow('the secrets of the rules cannot be read now');
  secret = 'second';
  nowMs += 2_000;
  await rules();
  expect(opened).toEqual(['first', 'second']);
});

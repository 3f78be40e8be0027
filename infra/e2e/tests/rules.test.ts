import { expect, it } from 'vitest';
import { apus } from '../support/apus.ts';
import { until } from '../support/aws.ts';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

const STACK = ['--stack', deployed.stackName];
const TEST_MS = 120_000;

it('a message for which the condition of a rule is true leaves for its target', async () => {
  const name = unique('rule');
  const reader = await connectClient();
  await reader.mqtt.subscribeAsync(`e2e/copy/${name}`, { qos: 1 });
  const publisher = await connectClient();
  for (const text of ['{"t":20}', '{"t":21}', 'no JSON', '{"t":22}'])
    await publisher.mqtt.publishAsync(`e2e/rule/${name}`, text, { qos: 1 });
  expect(await reader.texts(2)).toEqual(['{"t":21}', '{"t":22}']);
});

it(
  'a message that its target does not take is a dead letter, which its owner sees and discards',
  async () => {
    const topic = `e2e/call/${unique('rule')}`;
    const publisher = await connectClient();
    await publisher.mqtt.publishAsync(topic, 'x', { qos: 1 });
    const { lines } = await until(
      () => apus(['rule', 'dead', 'call', ...STACK]),
      (said) => said.lines.some((line) => line.includes(topic)),
    );
    const letter = lines.map((line) => JSON.parse(line)).find((each) => each.topic === topic);
    expect(letter).toMatchObject({ qos: 1, attempts: 1, error: expect.stringMatching(/not ?found/i) });
    const sent = await apus(['rule', 'send', 'call', letter.id, ...STACK]);
    expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining('One was not sent') });
    expect(await apus(['rule', 'discard', 'call', letter.id, ...STACK])).toMatchObject({ code: 0 });
    const left = await apus(['rule', 'dead', 'call', ...STACK]);
    expect(left.lines.join()).not.toContain(topic);
  },
  TEST_MS,
);

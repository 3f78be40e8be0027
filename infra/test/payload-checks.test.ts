import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CheckedTopic } from '@apus/topics/checked';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { newOutdir, type Synthesized, synthApp, synthBroker } from './support/synth.ts';

const CHECKED = {
  topic: 'sensors/{sensor}',
  checkPayload: true,
  payload: { type: 'object', properties: { id: { type: 'string', pattern: '^s-' } }, required: ['id'] },
};

/** Functions with a broker: each of them may publish a message, or a will. */
const PUBLISHERS = ['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Sweep', 'Operator', 'Publish', 'HttpApi'];

function functionsOf(template: Template): readonly { id: string; properties: Record<string, unknown> }[] {
  return Object.entries(template.findResources('AWS::Lambda::Function')).map(([id, found]) => ({
    id,
    properties: found.Properties,
  }));
}

/** The folder of the layer, as the CDK will upload it. */
function layerFolder({ app }: Synthesized): string {
  const { directory } = app.synth();
  const asset = readdirSync(directory).find((name) => {
    return existsSync(join(directory, name, 'nodejs', 'node_modules', 'apus-payload-checks'));
  });
  return join(directory, asset ?? 'none', 'nodejs', 'node_modules', 'apus-payload-checks');
}

describe('a broker whose payloads are checked', () => {
  const made = synthBroker({ topics: { topics: [CHECKED] }, httpPublish: 'iam', httpApi: 'iam' });

  it.each(PUBLISHERS)('%s has the layer of compiled schemas, and knows its module', (name) => {
    const { template } = made;
    const layers = Object.keys(template.findResources('AWS::Lambda::LayerVersion'));
    const layer = layers.find((id) => id.startsWith('BrokerPayloadChecks'));
    const found = functionsOf(template).find(({ id }) => new RegExp(`^Broker${name}[0-9A-F]{8}$`).test(id));
    expect(found?.properties).toMatchObject({
      Layers: expect.arrayContaining([{ Ref: layer }]),
      Environment: { Variables: { APUS_PAYLOAD_CHECKS: 'apus-payload-checks' } },
    });
  });

  it('the breaker gets none of them', () => {
    const breaker = functionsOf(made.template).find(({ id }) => id.startsWith('BrokerBreaker'));
    expect(breaker?.properties.Layers).toBeUndefined();
  });

  it('the layer has everything that the module needs', () => {
    const [topic] = createRequire(import.meta.url)(layerFolder(made)) as readonly CheckedTopic[];
    expect(topic).toMatchObject({ topicFilter: 'sensors/+' });
    expect([topic?.isValid({ id: 's-1' }), topic?.isValid({ id: 'x' })]).toEqual([true, false]);
  });

  it('the layer has no engine of patterns if no schema has one', () => {
    const payload = { type: 'number' };
    const plain = synthBroker({ topics: { topics: [{ ...CHECKED, payload }] } });
    expect(readdirSync(layerFolder(plain)).sort()).toEqual(['index.cjs', 'package.json']);
    expect(readdirSync(layerFolder(made)).sort()).toEqual(['index.cjs', 'package.json', 're2js.cjs']);
  });
});

it('topics that are only described make no layer', () => {
  const { template } = synthBroker({ topics: { topics: [{ ...CHECKED, checkPayload: false }] } });
  template.resourceCountIs('AWS::Lambda::LayerVersion', 0);
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ APUS_PAYLOAD_CHECKS: Match.absent() }) },
  });
});

it.each([
  [{ topics: [{ ...CHECKED, payload: { type: 'nonsense' } }] }, /topics: sensors\/\{sensor\}: payload/],
  [{ topics: [{ ...CHECKED, chekPayload: true }] }, /has no field "chekPayload"/],
  [{ topics: [{ ...CHECKED, payload: { pattern: '(?=a)' } }] }, /topics: .*payload/],
  [{ topics: manyTopics() }, /bytes when they are compiled/],
])('topics that the functions could not check are refused at synthesis (%#)', (topics, sentence) => {
  expect(() => synthBroker({ topics })).toThrow(sentence);
});

/** More text than a function may load when it starts. */
function manyTopics(): object[] {
  const properties = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`field-${index}`, { type: 'string', maxLength: index + 1 }]),
  );
  return Array.from({ length: 100 }, (_, index) => ({
    topic: `topic-${index}`,
    checkPayload: true,
    payload: { properties },
  }));
}

it('a deployment takes the file of apus serve', () => {
  const file = join(newOutdir(), 'topics.json');
  writeFileSync(file, JSON.stringify({ topics: [CHECKED] }));
  synthApp({ topics: file }).resourceCountIs('AWS::Lambda::LayerVersion', 1);
});

it('the example of the guide can be deployed', () => {
  const example = new URL('../../examples/portal/topics.json', import.meta.url);
  const { template } = synthBroker({ topics: JSON.parse(readFileSync(example, 'utf8')) });
  template.resourceCountIs('AWS::Lambda::LayerVersion', 1);
});

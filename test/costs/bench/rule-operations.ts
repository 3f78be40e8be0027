import type { SqsBatchResponse, SqsEvent, Visibility } from '@apus/aws/lambda';
import { createRulesHandler, type OpenRule, readDeployedRules, ruleKey } from '@apus/bridges/testing';
import { publish } from '../../support/text-client.ts';
import type { FunctionParts } from './functions.ts';
import { type BenchOperation, connected, PAYLOAD } from './operation.ts';

const TOPIC = 'rules/topic-0000';
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The one rule of the bench. Its target accepts every message. */
export const RULES: readonly OpenRule[] = readDeployedRules(
  [{ name: 'rule', filter: TOPIC, to: { webhook: { url: 'https://example.com/' } } }],
  'rules',
  () => undefined,
).map((configuration) => ({
  configuration,
  target: {
    type: 'none',
    remote: '',
    batch: { messagesMax: 1, bytesMax: 0, isPartial: false },
    send: async () => undefined,
    stop: async () => {},
  },
}));

/** A failure is reported, as it would not be the ordinary case. */
export function rulesFunction(
  { clock, failed }: Pick<FunctionParts, 'clock' | 'failed'>,
  visibility: Visibility,
): (event: SqsEvent) => Promise<SqsBatchResponse> {
  const handle = createRulesHandler({
    rules: async () => new Map(RULES.map((rule) => [ruleKey(rule.configuration), rule])),
    deadLetters: {
      add: async () => failed('a message for a rule was given up'),
      addUnreadable: async () => failed('a message for a rule was unreadable'),
    },
    visibility,
    clock,
    log: SILENT,
    count: () => {},
  });
  return (event) => handle(event, { getRemainingTimeInMillis: () => 180_000 });
}

export const PUBLISH_FOR_RULE: BenchOperation = {
  name: 'PUBLISH QoS 1, no subscriber, for the target of a rule',
  deliveries: 1,
  floor: { in: 1, out: 1 },
  // Only the world that counts has the queue of the rules.
  isTimed: true,
  async prepare(world) {
    const publisher = await connected(world);
    return async () => {
      const { packets } = await publisher.exchange(publish(TOPIC, PAYLOAD, { qos: 1, messageId: 1 }));
      if (packets[0]?.cmd !== 'puback') throw new Error(`expected PUBACK, ${JSON.stringify(packets)} came`);
      await world.quiet();
    };
  },
};

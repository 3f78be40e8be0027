import type { Visibility } from '@apus/aws/lambda';
import {
  createKafkaHandler,
  createRulesHandler,
  type KafkaHandler,
  type RuleConfiguration,
  type RulesHandler,
  readDeployedRules,
  readKafkaMappings,
  ruleKey,
  type Target,
} from '@apus/bridges/testing';
import type { Environment } from '@apus/emulated-aws';
import type { functionsOf } from './functions.ts';

/** Above what the function asks for before it calls a target (`RESERVE_MS`), as a deployment's has. */
export const RULES_SECONDS = 180;
export const KAFKA_SECONDS = 30;
export const KAFKA_FUNCTION = 'apus-kafka';

const TOPIC_LEVELS_MAX = 128;

/** Another system: the target of a rule of the deployment, and the source of records. */
export interface Outside {
  /** The filter of the rule. */
  readonly filter: string;
  /** The target. Its calls are not the account's, so faults of the emulator do not strike them. */
  send(messages: readonly { readonly topic: string; readonly payload: Uint8Array }[]): Promise<boolean>;
  /** A message that the rule has given up. */
  gaveUp(topic: string, payload: Uint8Array): void;
  /** The topic of Kafka, and the topics here. */
  readonly records: { readonly topic: string; readonly to: string };
}

export interface OutsideFunctions {
  readonly rules: RulesHandler;
  readonly kafka: KafkaHandler;
}

export function rulesOf({ filter }: Outside): readonly RuleConfiguration[] {
  const rule = { name: 'out', filter, to: { webhook: { url: 'https://example.com/' } }, attempts: 100 };
  return readDeployedRules([rule], 'the outside', () => undefined);
}

/** An environment may die before and after each call. */
function targetOf(outside: Outside, environment: Environment): Target {
  return {
    ...{ type: 'outside', remote: 'outside', stop: async () => {} },
    batch: { messagesMax: 5, bytesMax: 1_000_000, isPartial: false },
    async send(messages) {
      await environment.checkpoint('outside:before');
      const isTaken = await outside.send(messages);
      await environment.checkpoint('outside:after');
      return isTaken ? undefined : { messages, error: 'it does not answer', isPermanent: false };
    },
  };
}

export function outsideFunctions(
  outside: Outside,
  environment: Environment,
  { cloud }: Pick<ReturnType<typeof functionsOf>, 'cloud'>,
  { visibility, sleep }: { readonly visibility: Visibility; readonly sleep: (ms: number) => Promise<void> },
): OutsideFunctions {
  const { clock } = environment;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const target = targetOf(outside, environment);
  const rules = rulesOf(outside).map(
    (configuration) => [ruleKey(configuration), { configuration, target }] as const,
  );
  const mappings = { name: 'in', in: [{ ...outside.records, qos: 1 }] };
  return {
    rules: createRulesHandler({
      ...{ clock, log, visibility, count() {} },
      rules: async () => new Map(rules),
      deadLetters: {
        add: async (letters) => {
          for (const { message } of letters) outside.gaveUp(message.topic, message.payload);
        },
        addUnreadable: async (body) => outside.gaveUp('', Buffer.from(body)),
      },
    }),
    kafka: createKafkaHandler({
      environment: cloud.environment,
      mappings: readKafkaMappings(JSON.stringify(mappings), 'the outside'),
      topicLevelsMax: TOPIC_LEVELS_MAX,
      ...{ sleep, log, published() {}, skipped() {} },
    }),
  };
}

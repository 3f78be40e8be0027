import { KafkaTarget } from '../rules/targets/kafka.ts';
import { createRulesEntry } from './rules-entry.ts';

/** The function of the rules, if some of them send to Kafka. */
export const handler = createRulesEntry((rule, to, context) => new KafkaTarget(rule, to, context));

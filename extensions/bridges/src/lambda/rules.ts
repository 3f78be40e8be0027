import { createRulesEntry } from './rules-entry.ts';

/** The function of the rules, if none of them sends to Kafka. */
export const handler = createRulesEntry((rule) => {
  throw new Error(`the rule ${rule} is to Kafka, and this is the function without its client`);
});

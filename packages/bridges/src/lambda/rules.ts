import { createRulesEntry } from './rules-entry.ts';

/** The function of rules none of which is to Kafka. */
export const handler = createRulesEntry((rule) => {
  throw new Error(`the rule ${rule} is to Kafka, and this is the function without its client`);
});

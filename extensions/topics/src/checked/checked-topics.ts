import type { PayloadCheck } from '@apus/broker';
import { matches } from '@apus/mqtt';
import { type PayloadValidator, problemOf } from './payload-problem.ts';

/** A topic whose payloads are compared with a schema. */
export interface CheckedTopic {
  readonly topicFilter: string;
  /** The tenants; undefined: all. */
  readonly tenants?: readonly string[] | undefined;
  readonly isValid: PayloadValidator;
}

/** The first topic of the file whose filter matches; undefined if its payloads are not checked. */
export function checkedTopicOf<Topic extends CheckedTopic>(
  topics: readonly Topic[],
  tenant: string,
  topic: string,
): Topic | undefined {
  return topics.find(
    ({ tenants, topicFilter }) =>
      (tenants === undefined || tenants.includes(tenant)) && matches(topicFilter, topic),
  );
}

/** Compares payloads with schemas that were compiled earlier, in a process that cannot compile schemas. */
export class CompiledPayloads implements PayloadCheck {
  readonly #topics: readonly CheckedTopic[];
  readonly #refused: () => void;

  /** @param refused is called for each payload that does not fit its schema */
  constructor(topics: readonly CheckedTopic[], refused: () => void) {
    this.#topics = topics;
    this.#refused = refused;
  }

  problemOf(tenant: string, topic: string, payload: Uint8Array): string | undefined {
    const checked = checkedTopicOf(this.#topics, tenant, topic);
    const problem = checked && problemOf(checked.isValid, payload);
    if (problem !== undefined) this.#refused();
    return problem;
  }
}

import type { PayloadCheck } from '@apus/broker';
import { type CheckedTopic, checkedTopicOf } from './checked/checked-topics.ts';
import { problemOf } from './checked/payload-problem.ts';
import { compileSchema } from './compile-schema.ts';
import { Samples } from './samples.ts';
import type { TopicDescription } from './topics.ts';

interface SampledTopic extends CheckedTopic {
  readonly topic: string;
  readonly sampled: boolean;
}

/**
 * Compares payloads with the schemas of their topics, if the owner asks for it. Each schema is compiled once, at the
 * start. Regular expressions run in RE2, in a time that grows only with the length of the text: no payload makes one of
 * them slow.
 */
export class PayloadSchemas implements PayloadCheck {
  readonly #topics: readonly SampledTopic[];
  readonly samples = new Samples();
  /** Payloads that were compared with a schema since the start. */
  succeeded = 0;
  failed = 0;

  /** @throws {Error} if a schema is invalid */
  constructor(topics: readonly TopicDescription[]) {
    this.#topics = topics
      .filter(({ checkPayload }) => checkPayload)
      .map((description) => ({ ...description, isValid: compileSchema(description) }));
  }

  problemOf(tenant: string, topic: string, payload: Uint8Array): string | undefined {
    const checked = checkedTopicOf(this.#topics, tenant, topic);
    if (checked === undefined) return undefined;
    const problem = problemOf(checked.isValid, payload);
    if (problem === undefined) {
      this.succeeded += 1;
      if (checked.sampled) this.samples.keep(tenant, checked.topic, topic, payload);
    } else this.failed += 1;
    return problem;
  }
}

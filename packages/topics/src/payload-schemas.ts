import type { PayloadCheck } from '@apus/broker';
import { matches } from '@apus/mqtt';
import { Ajv, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import { CHECKED_BYTES_MAX, REASON_LENGTH_MAX } from './limits.ts';
import { Samples } from './samples.ts';
import type { TopicDescription } from './topics.ts';

interface CheckedTopic {
  readonly description: TopicDescription;
  readonly isValid: ValidateFunction;
}

/**
 * Compares payloads with the schemas of their topics, where the owner asks for it. Each schema is compiled once, at the
 * start. Regular expressions run in RE2, in a time that grows with the text alone: no payload makes one of them slow.
 */
export class PayloadSchemas implements PayloadCheck {
  readonly #topics: readonly CheckedTopic[];
  readonly samples = new Samples();
  /** Payloads that were compared with a schema since the start. */
  succeeded = 0;
  failed = 0;

  /** @throws {Error} where a schema is none */
  constructor(topics: readonly TopicDescription[]) {
    this.#topics = topics.filter(({ checkPayload }) => checkPayload).map(compiled);
  }

  problemOf(tenant: string, topic: string, payload: Uint8Array): string | undefined {
    const checked = this.#topics.find(
      ({ description: { tenants, topicFilter } }) =>
        (tenants === undefined || tenants.includes(tenant)) && matches(topicFilter, topic),
    );
    if (checked === undefined) return undefined;
    const problem = problemOf(checked.isValid, payload);
    if (problem === undefined) {
      this.succeeded += 1;
      if (checked.description.sampled) this.samples.keep(tenant, checked.description.topic, payload);
    } else this.failed += 1;
    return problem;
  }
}

function compiled(description: TopicDescription): CheckedTopic {
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    ownProperties: true,
    code: { regExp: linearRegExp },
  });
  try {
    return { description, isValid: ajv.compile(description.payload ?? {}) };
  } catch (error) {
    throw new Error(`${description.topic}: payload: ${(error as Error).message}.`, { cause: error });
  }
}

/** Ajv's `code.regExp`: RE2 in the place of the engine of JavaScript. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return { test: (text: string) => expression.matcher(text).find() };
  },
  { code: 'linearRegExp' },
);

function problemOf(isValid: ValidateFunction, payload: Uint8Array): string | undefined {
  if (payload.length > CHECKED_BYTES_MAX)
    return `a payload that is checked has at most ${CHECKED_BYTES_MAX} bytes`;
  let value: unknown;
  try {
    value = JSON.parse(TEXT.decode(payload));
  } catch {
    return 'the payload is not JSON';
  }
  try {
    if (isValid(value)) return undefined;
  } catch {
    // Lists in lists in lists: the check has run out of stack.
    return 'the payload cannot be checked';
  }
  const [first] = isValid.errors ?? [];
  const where = first?.instancePath === '' ? 'the payload' : first?.instancePath;
  return plain(`${where} ${first?.message ?? 'does not match its schema'}`);
}

const TEXT = new TextDecoder('utf-8', { fatal: true });

/** A publisher chooses the names in a path; no control character and no half of a surrogate pair may leave [MQTT-1.5.4-1]. */
function plain(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).replaceAll(/[^\x20-\x7e]/g, '?');
}

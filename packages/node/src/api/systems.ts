import { ApiProblem, type Letters, OPERATIONS, rfc3339, type Slice, type SystemFacts } from '@apus/api';
import type { DeadLetter, DeadLetters } from '../bridges/bridges.ts';
import type { ApiContext } from './context.ts';

/** Dead letters that one request sends again. */
const SENT_MAX = 1_000;

/** Bridges to other systems, and rules with the messages that they have given up. */
export function systemFacts({ bridges, rules }: ApiContext): SystemFacts {
  return {
    bridges,
    rules: (tenant) => ({ data: rules()?.list(tenant) ?? [] }),
    letters(tenant, rule) {
      const letters = rules()?.deadLetters(tenant, rule);
      return letters && lettersOf(letters);
    },
    breaker() {
      throw new ApiProblem('NOT_SUPPORTED', OPERATIONS.getBreaker.elsewhere ?? '');
    },
    // If topics are described, `withAsyncApi` answers before.
    asyncApi() {
      throw new ApiProblem('NOT_FOUND', 'No topics are described here: start the broker with --topics FILE.');
    },
  };
}

function lettersOf(letters: DeadLetters): Letters {
  const letterOf = async (id: string): Promise<DeadLetter> => {
    const letter = await letters.get(id);
    if (letter !== undefined) return letter;
    throw new ApiProblem('NOT_FOUND', `There is no dead letter "${id}".`);
  };
  return {
    part: (slice) => partOf(letters, slice),
    get: async (id) => detailsOf(await letterOf(id)),
    send: async (id) => await letters.send(await letterOf(id)),
    discard: async (id) => await letters.discard(await letterOf(id)),
    async sendAll() {
      let sent = 0;
      for await (const letter of letters.all()) {
        if (sent === SENT_MAX) break;
        const failure = await letters.send(letter);
        if (failure !== undefined) return { sent, failure };
        sent += 1;
      }
      return { sent };
    },
    async discardAll() {
      for await (const letter of letters.all()) await letters.discard(letter);
    },
  };
}

async function partOf(letters: DeadLetters, { from, limit }: Slice) {
  const entries: object[] = [];
  let count = 0;
  for await (const letter of letters.all()) {
    if (count >= from && entries.length < limit) entries.push(lineOf(letter));
    count += 1;
  }
  return { entries, count };
}

function detailsOf(letter: DeadLetter): object {
  const { payload, properties, retain } = letter.message;
  return {
    ...lineOf(letter),
    retain,
    user_properties: properties.userProperties ?? [],
    payload: Buffer.from(payload).toString('base64'),
  };
}

function lineOf({ message, error, attempts, failedAtMs }: DeadLetter): object {
  const { id, topic, qos, payload } = message;
  return { id, topic, qos, payload_bytes: payload.length, error, attempts, failed_at: rfc3339(failedAtMs) };
}

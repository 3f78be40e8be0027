import type { InvocationContext } from '@apus/aws';
import type { QueueCounts, RuleLine, RulesAnswer, RulesRequest } from '@apus/aws/lambda';
import { type DeadLetterQueue, type FoundLetter, LETTERS_MAX } from './dead-letter-queue.ts';
import { type OpenRule, RESERVE_MS } from './rules-handler.ts';

interface RulesOperatorOptions {
  readonly rules: () => Promise<ReadonlyMap<string, OpenRule>>;
  readonly deadLetters: Pick<DeadLetterQueue, 'look' | 'discard'>;
  /** Counts the messages in the queue of the rules. */
  readonly counts: () => Promise<QueueCounts>;
}

interface Asked {
  readonly rule: OpenRule;
  readonly request: RulesRequest;
  readonly context: InvocationContext;
}

/** @param isAll the read has found all letters */
type Look = (letters: readonly FoundLetter[], asked: Asked, isAll: boolean) => Promise<RulesAnswer>;

/** Bytes of an answer: Lambda allows 6 MB, and a letter may be as long as a message. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Lists rules and their dead letters, and sends dead letters again or discards them. */
export function createRulesOperator(
  options: RulesOperatorOptions,
): (request: RulesRequest, context: InvocationContext) => Promise<RulesAnswer> {
  const { deadLetters } = options;
  const looks: Readonly<Record<string, Look>> = {
    dead: async (letters, { request }, isAll) => ({ ...shownOf(letters, request), isAll }),
    send: (letters, { rule, context }) => sendAll(deadLetters, rule.target, letters, context),
    discard: async (letters, _asked, isAll) => {
      await deadLetters.discard(letters);
      return { discarded: letters.length, isAll };
    },
  };
  return async (request, context) => {
    const { action, tenant = 'default', name = '', id } = request;
    const rules = await options.rules();
    if (action === 'list') {
      const { waiting, inflight } = await options.counts();
      return await deadLetters.look(async (letters) => ({
        ...{ rules: listOf(rules, letters, tenant), waiting, inflight },
      }));
    }
    const look = Object.hasOwn(looks, action) ? looks[action] : undefined;
    if (look === undefined) return { error: `There is no action "${action}": list, dead, send or discard.` };
    const rule = rules.get(`${tenant}/${name}`);
    if (rule === undefined) return { error: `There is no rule "${name}".`, missing: 'rule' };
    return await deadLetters.look(async (all) => {
      const letters = all.filter(
        (each) =>
          each.rule.tenant === tenant &&
          each.rule.name === name &&
          (id === undefined || each.message.id === id),
      );
      if (id !== undefined && letters.length === 0)
        return { error: `There is no dead letter "${id}".`, missing: 'letter' };
      return await look(letters, { rule, request, context }, all.length < LETTERS_MAX);
    });
  };
}

function listOf(
  rules: ReadonlyMap<string, OpenRule>,
  letters: readonly FoundLetter[],
  tenant: string,
): readonly RuleLine[] {
  const ofTenant = [...rules.values()].filter(({ configuration }) => configuration.tenant === tenant);
  return ofTenant.map(({ configuration: { name, filter, when }, target: { type, remote } }) => ({
    ...{ name, filter, when: when?.text ?? null, type, remote },
    dead_letters: letters.filter(({ rule }) => rule.tenant === tenant && rule.name === name).length,
  }));
}

/** The requested letters, as many as fit into an answer. */
function shownOf(
  letters: readonly FoundLetter[],
  { id, from = 0, limit = LETTERS_MAX }: RulesRequest,
): { readonly letters: readonly object[]; readonly isCut: boolean } {
  const shown: object[] = [];
  let bytes = 0;
  for (const letter of letters.slice(from, from + limit)) {
    const line = describe(letter, id !== undefined);
    bytes += Buffer.byteLength(JSON.stringify(line));
    if (shown.length > 0 && bytes > ANSWER_BYTES_MAX) break;
    shown.push(line);
  }
  return { letters: shown, isCut: from + shown.length < letters.length };
}

/** Sends letters in their order until one fails: the later ones may have the same topic. */
async function sendAll(
  deadLetters: RulesOperatorOptions['deadLetters'],
  target: OpenRule['target'],
  letters: readonly FoundLetter[],
  context: InvocationContext,
): Promise<RulesAnswer> {
  let sent = 0;
  for (const letter of letters) {
    if (context.getRemainingTimeInMillis() < RESERVE_MS)
      return { sent, failure: 'no time is left: send again' };
    const failure = await target.send([letter.message]);
    if (failure !== undefined) return { sent, failure: failure.error };
    await deadLetters.discard([letter]);
    sent += 1;
  }
  return { sent };
}

/** The description that the API of a node gives. */
function describe({ message, error, attempts, failedAtMs }: FoundLetter, isWhole: boolean): object {
  const { id, topic, qos, payload, retain, properties } = message;
  return {
    ...{ id, topic, qos, payload_bytes: payload.length, error, attempts },
    failed_at: new Date(failedAtMs).toISOString(),
    ...(isWhole && {
      retain,
      user_properties: properties.userProperties ?? [],
      payload: Buffer.from(payload).toString('base64'),
    }),
  };
}

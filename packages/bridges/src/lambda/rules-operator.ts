import type { InvocationContext } from '@apus/cloud';
import { type DeadLetterQueue, type FoundLetter, LETTERS_MAX } from './dead-letter-queue.ts';
import { type OpenRule, RESERVE_MS } from './rules-handler.ts';

/** A request of the owner to the function: `apus rule … --stack NAME`. */
export interface RulesRequest {
  readonly action: string;
  readonly tenant?: string;
  readonly name?: string;
  readonly id?: string;
}

export type RulesAnswer =
  | { readonly rules: readonly object[] }
  | { readonly letters: readonly object[]; readonly isAll: boolean }
  /** `failure`: of the letter that its target does not take now. */
  | { readonly sent: number; readonly failure?: string }
  | { readonly discarded: number }
  /** The mistake in the request, in a sentence. */
  | { readonly error: string };

interface RulesOperatorOptions {
  readonly rules: () => Promise<ReadonlyMap<string, OpenRule>>;
  readonly deadLetters: Pick<DeadLetterQueue, 'look' | 'discard'>;
}

interface Asked {
  readonly rule: OpenRule;
  readonly id: string | undefined;
  readonly context: InvocationContext;
}

type Look = (letters: readonly FoundLetter[], asked: Asked) => Promise<RulesAnswer>;

/** Shows rules and their dead letters, and sends these again or discards them. */
export function createRulesOperator(
  options: RulesOperatorOptions,
): (request: RulesRequest, context: InvocationContext) => Promise<RulesAnswer> {
  const { deadLetters } = options;
  const looks: Readonly<Record<string, Look>> = {
    dead: async (letters, { id }) => ({
      letters: letters.map((letter) => describe(letter, id !== undefined)),
      isAll: letters.length < LETTERS_MAX,
    }),
    send: (letters, { rule, context }) => sendAll(deadLetters, rule.target, letters, context),
    discard: async (letters) => {
      await deadLetters.discard(letters);
      return { discarded: letters.length };
    },
  };
  return async (request, context) => {
    const { action, tenant = 'default', name = '', id } = request;
    const rules = await options.rules();
    if (action === 'list') return await deadLetters.look(async (letters) => listOf(rules, letters, tenant));
    const look = looks[action];
    if (look === undefined) return { error: `There is no action "${action}": list, dead, send or discard.` };
    const rule = rules.get(`${tenant}/${name}`);
    if (rule === undefined) return { error: `There is no rule "${name}".` };
    return await deadLetters.look(async (all) => {
      const letters = all.filter(
        (each) =>
          each.rule.tenant === tenant &&
          each.rule.name === name &&
          (id === undefined || each.message.id === id),
      );
      if (id !== undefined && letters.length === 0) return { error: `There is no dead letter "${id}".` };
      return await look(letters, { rule, id, context });
    });
  };
}

function listOf(
  rules: ReadonlyMap<string, OpenRule>,
  letters: readonly FoundLetter[],
  tenant: string,
): RulesAnswer {
  const ofTenant = [...rules.values()].filter(({ configuration }) => configuration.tenant === tenant);
  return {
    rules: ofTenant.map(({ configuration: { name, filter, when }, target: { type, remote } }) => ({
      ...{ name, filter, when: when?.text ?? null, type, remote },
      dead_letters: letters.filter(({ rule }) => rule.tenant === tenant && rule.name === name).length,
    })),
  };
}

/** In their order, and up to the first that fails: those behind it may be of its topic. */
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

/** As the API of a node describes it. */
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

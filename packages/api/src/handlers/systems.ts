import type { Awaitable } from '@apus/broker';
import { type Asked, entryOfEach, listAt, type Part, type Slice, valueAt } from '../handler.ts';
import { openApiDocument } from '../open-api.ts';
import { ApiProblem } from '../problem.ts';
import type { BreakerLine } from '../schemas/bounds.ts';

/** The messages that a rule has given up. The door describes them. */
export interface Letters {
  /** Oldest first. */
  part(slice: Slice): Awaitable<Part>;
  /** @throws {ApiProblem} where there is none */
  get(id: string): Awaitable<object>;
  /** Tries once, and deletes the letter if that succeeds. Otherwise returns the error. @throws {ApiProblem} */
  send(id: string): Awaitable<string | undefined>;
  /** In order, up to the first that fails: later ones may be of the same topic. */
  sendAll(): Awaitable<{ readonly sent: number; readonly failure?: string | undefined }>;
  /** @throws {ApiProblem} where there is none */
  discard(id: string): Awaitable<void>;
  discardAll(): Awaitable<void>;
}

export interface ListOf {
  readonly data: readonly object[];
  readonly meta?: object;
}

export interface SystemFacts {
  bridges(tenant: string): Awaitable<readonly object[]>;
  rules(tenant: string): Awaitable<ListOf>;
  /** Undefined: there is no such rule. */
  letters(tenant: string, rule: string): Letters | undefined;
  /** @throws {ApiProblem} where there is none */
  breaker(): Awaitable<BreakerLine>;
  /** The document of topics. @throws {ApiProblem} where no topics are described */
  asyncApi(tenant: string): Awaitable<object>;
}

/** Made once: a process has one document. */
let document: object | undefined;

/** Bridges and rules: their state, and what they have sent. */
export const systemHandlers = {
  listBridges: entryOfEach(
    async (facts: SystemFacts, { tenant }): Promise<ListOf> => ({ data: await facts.bridges(tenant) }),
    mergedLists,
  ),
  listRules: entryOfEach(
    (facts: SystemFacts, { tenant }): Awaitable<ListOf> => facts.rules(tenant),
    mergedLists,
  ),
  listDeadLetters: listAt('one', (facts: SystemFacts, asked, slice) => lettersOf(facts, asked).part(slice)),
  sendDeadLetters: valueAt('one', async (facts: SystemFacts, asked) => {
    const { sent, failure } = await lettersOf(facts, asked).sendAll();
    return failure === undefined ? { sent, failed: 0 } : { sent, failed: 1, error: failure };
  }),
  discardDeadLetters: valueAt('one', async (facts: SystemFacts, asked) => {
    await lettersOf(facts, asked).discardAll();
    return undefined;
  }),
  getDeadLetter: valueAt('one', (facts: SystemFacts, asked) => lettersOf(facts, asked).get(idIn(asked))),
  sendDeadLetter: valueAt('one', async (facts: SystemFacts, asked) => {
    const failure = await lettersOf(facts, asked).send(idIn(asked));
    if (failure === undefined) return { sent: 1, failed: 0 };
    throw new ApiProblem('NOT_SENT', failure);
  }),
  discardDeadLetter: valueAt('one', async (facts: SystemFacts, asked) => {
    await lettersOf(facts, asked).discard(idIn(asked));
    return undefined;
  }),
  getBreaker: valueAt('here', (facts: SystemFacts) => facts.breaker()),
  getAsyncApi: valueAt('here', (facts: SystemFacts, { tenant }) => facts.asyncApi(tenant)),
  getOpenApi: valueAt('here', () => {
    document ??= openApiDocument();
    return document;
  }),
};

function lettersOf(facts: SystemFacts, { tenant, parameters: { name = '' } }: Asked): Letters {
  const letters = facts.letters(tenant, name);
  if (letters !== undefined) return letters;
  throw new ApiProblem('NOT_FOUND', `There is no rule "${name}".`);
}

function idIn({ parameters }: Asked): string {
  return parameters.id ?? '';
}

/** The lists of all processes as one. */
function mergedLists(entries: readonly object[]): object {
  const lists = entries as readonly ListOf[];
  return { ...lists[0], data: lists.flatMap(({ data }) => data) };
}

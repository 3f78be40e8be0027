import { ApiProblem, type Letters, type ListOf } from '@apus/api';
import { reasonOf } from '@apus/broker';
import type { InvocationContext } from '../events/gateway.ts';
import type { RuleFilter } from '../rules/rule-outlet.ts';
import type { AskRules, RuleLine, RulesAnswer, RulesRefusal, RulesRequest } from '../rules/rules-request.ts';
import { placeOf } from './pages.ts';

/** Time that is kept for the answer: the call on the function of rules is given up this long before the end. */
const RESERVE_MS = 5_000;

/** Looks at the queue of dead letters that one request to delete them makes: a thousand letters each. */
const DISCARDS_MAX = 10;

/** Rules as the deployment has them, and the way to their function. */
export interface ApiRules {
  readonly filters: readonly RuleFilter[];
  readonly ask: AskRules;
}

/** Figures of one rule that a deployment does not keep. */
const UNKNOWN = {
  ...{ status: null, since: null, last_error: null, matched: null, filtered: null, condition_failed: null },
  ...{ looped: null, sent: null, failed_attempts: null, dead: null, waiting: null, inflight: null },
};

type Answered<Field extends string> = Extract<RulesAnswer, Readonly<Record<Field, unknown>>>;

/** Asks about the rules of a tenant. */
type Ask = <Field extends string>(request: RulesRequest) => Promise<Answered<Field>>;

/** A tenant without a rule costs no invocation. */
export async function rulesOf(
  rules: ApiRules | undefined,
  tenant: string,
  invocation: InvocationContext,
): Promise<ListOf> {
  if (rules?.filters.some((filter) => filter.tenant === tenant) !== true) return { data: [] };
  const asked = { action: 'list', tenant } as const;
  const { rules: lines, waiting, inflight } = await ask<'rules'>(rules, invocation, asked);
  const data = lines.map(({ dead_letters, ...rule }: RuleLine) => ({ ...rule, ...UNKNOWN, dead_letters }));
  return { data, meta: { waiting, inflight } };
}

/** Dead letters of a rule. The function of rules answers, since only that function can read its queues. */
export function lettersOf(
  rules: ApiRules | undefined,
  tenant: string,
  name: string,
  invocation: InvocationContext,
): Letters | undefined {
  const isOwn = (filter: RuleFilter) => filter.tenant === tenant && filter.name === name;
  if (rules?.filters.some(isOwn) !== true) return undefined;
  const about: Ask = (request) => ask(rules, invocation, { ...request, tenant, name });
  return {
    async part({ limit, after }) {
      const from = placeOf({ limit, after });
      const { letters, isCut } = await about<'letters'>({ action: 'dead', from, limit });
      return { entries: letters, next: isCut ? String(from + letters.length) : undefined };
    },
    get: async (id) => (await about<'letters'>({ action: 'dead', id })).letters[0] ?? {},
    send: async (id) => (await about<'sent'>({ action: 'send', id })).failure,
    sendAll: () => about<'sent'>({ action: 'send' }),
    discard: async (id) => void (await about<'discarded'>({ action: 'discard', id })),
    async discardAll() {
      for (let looks = 0; looks < DISCARDS_MAX; looks += 1) {
        const { discarded, isAll } = await about<'discarded'>({ action: 'discard' });
        if (isAll) return;
        if (discarded === 0) break;
      }
      const message = 'There are more dead letters than one request deletes: the same request goes on.';
      throw new ApiProblem('SERVICE_UNAVAILABLE', message);
    },
  };
}

/** @throws {ApiProblem} where the function refuses, or does not answer */
async function ask<Field extends string>(
  rules: ApiRules,
  invocation: InvocationContext,
  request: RulesRequest,
): Promise<Answered<Field>> {
  const signal = AbortSignal.timeout(Math.max(0, invocation.getRemainingTimeInMillis() - RESERVE_MS));
  const answer = await rules.ask(request, signal).catch((error: unknown) => {
    const why = reasonOf(error);
    throw new ApiProblem('SERVICE_UNAVAILABLE', `The function of the rules does not answer: ${why}`);
  });
  if ('error' in answer) throw problemOf(answer);
  return answer as Answered<Field>;
}

function problemOf({ error, missing }: RulesRefusal): ApiProblem {
  return new ApiProblem(missing === undefined ? 'BAD_REQUEST' : 'NOT_FOUND', error);
}

import { type HttpAnswer, problem } from '../publish/http.ts';
import type { RuleFilter } from '../rules/rule-outlet.ts';
import type { AskRules, RuleLine, RulesAnswer, RulesRefusal, RulesRequest } from '../rules/rules-request.ts';
import { ApiProblem } from './api-problem.ts';
import { type ApiContext, type ApiRequest, type Handlers, NO_CONTENT, ok } from './context.ts';
import { pageAnswer, pagingOf, placeOf } from './pages.ts';

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

/** Rules, and their dead letters. The function of rules answers, since only that function can read its queues. */
export function ruleHandlers({ rules }: ApiContext) {
  const ofRule = (handle: (rules: ApiRules, request: ApiRequest) => Promise<HttpAnswer>) => {
    return async (request: ApiRequest): Promise<HttpAnswer> => {
      const { tenant, parameters } = request;
      const isOwn = ({ name, tenant: of }: RuleFilter) => of === tenant && name === parameters.name;
      if (rules?.filters.some(isOwn)) return await handle(rules, request);
      return problem('NOT_FOUND', `There is no rule "${parameters.name}".`);
    };
  };
  return {
    listRules: (request) => list(rules, request),
    listDeadLetters: ofRule(listLetters),
    sendDeadLetters: ofRule(sendAll),
    discardDeadLetters: ofRule(discardAll),
    getDeadLetter: ofRule(one),
    sendDeadLetter: ofRule(send),
    discardDeadLetter: ofRule(discard),
  } satisfies Partial<Handlers>;
}

/** A tenant without a rule costs no invocation. */
async function list(rules: ApiRules | undefined, request: ApiRequest): Promise<HttpAnswer> {
  if (rules?.filters.some(({ tenant }) => tenant === request.tenant) !== true) return ok({ data: [] });
  const { rules: lines, waiting, inflight } = await ask<'rules'>(rules, request, { action: 'list' });
  const data = lines.map(({ dead_letters, ...rule }: RuleLine) => ({ ...rule, ...UNKNOWN, dead_letters }));
  return ok({ data, meta: { waiting, inflight } });
}

async function listLetters(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  const paging = pagingOf(request.query);
  const from = placeOf(paging);
  const { limit } = paging;
  const { letters, isCut } = await ask<'letters'>(rules, request, { action: 'dead', from, limit });
  return pageAnswer(letters, paging, isCut ? String(from + letters.length) : undefined);
}

async function one(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  const { id } = request.parameters;
  const { letters } = await ask<'letters'>(rules, request, { action: 'dead', ...named(id) });
  return ok(letters[0]);
}

async function send(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  const { id } = request.parameters;
  const { failure } = await ask<'sent'>(rules, request, { action: 'send', ...named(id) });
  return failure === undefined ? ok({ sent: 1, failed: 0 }) : problem('NOT_SENT', failure);
}

/** Sends them in order, up to the first that fails: later ones may be of the same topic. */
async function sendAll(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  const { sent, failure } = await ask<'sent'>(rules, request, { action: 'send' });
  return ok(failure === undefined ? { sent, failed: 0 } : { sent, failed: 1, error: failure });
}

async function discard(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  const { id } = request.parameters;
  await ask<'discarded'>(rules, request, { action: 'discard', ...named(id) });
  return NO_CONTENT;
}

async function discardAll(rules: ApiRules, request: ApiRequest): Promise<HttpAnswer> {
  for (let looks = 0; looks < DISCARDS_MAX; looks += 1) {
    const { discarded, isAll } = await ask<'discarded'>(rules, request, { action: 'discard' });
    if (isAll) return NO_CONTENT;
    if (discarded === 0) break;
  }
  const message = 'There are more dead letters than one request deletes: the same request goes on.';
  throw new ApiProblem('SERVICE_UNAVAILABLE', message);
}

function named(id: string | undefined): { readonly id: string } {
  return { id: id ?? '' };
}

/** @throws {ApiProblem} where the function refuses, or does not answer */
async function ask<Field extends string>(
  rules: ApiRules,
  { tenant, parameters: { name }, invocation }: ApiRequest,
  request: RulesRequest,
): Promise<Answered<Field>> {
  const asked = { ...request, tenant, ...(name !== undefined && { name }) };
  const signal = AbortSignal.timeout(Math.max(0, invocation.getRemainingTimeInMillis() - RESERVE_MS));
  const answer = await rules.ask(asked, signal).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ApiProblem('SERVICE_UNAVAILABLE', `The function of the rules does not answer: ${why}`);
  });
  if ('error' in answer) throw problemOf(answer);
  return answer as Answered<Field>;
}

function problemOf({ error, missing }: RulesRefusal): ApiProblem {
  return new ApiProblem(missing === undefined ? 'BAD_REQUEST' : 'NOT_FOUND', error);
}

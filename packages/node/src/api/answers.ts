import {
  ApiProblem,
  type Asked,
  type Facts,
  HANDLERS,
  type Handler,
  type ListHandler,
  type OperationId,
  type Part,
  type Slice,
} from '@apus/api';
import { type ApiAnswer, answerHere, answerOf, pageAnswer, pagingOf, queried, refusalFor } from '@apus/door';
import type { ApiPeers, PeerRequest } from '../cluster.ts';
import type { ApiRequest, Handle, Handlers } from './router.ts';

type OwnId = keyof typeof HANDLERS;

/** The handlers of the API over what this process knows; with peers, over what all processes of a cluster know. */
export function handlersOf(facts: Facts, peers?: ApiPeers): Pick<Handlers, OwnId> {
  const handlers = Object.entries<Handler<Facts>>(HANDLERS) as [OwnId, Handler<Facts>][];
  const handleOf = (id: OwnId, handler: Handler<Facts>): Handle =>
    peers === undefined || handler.at === 'here'
      ? (request) => answerHere(facts, handler, request)
      : (request) => answerOverAll(facts, id, handler, peers, request);
  return Object.fromEntries(handlers.map(([id, handler]) => [id, handleOf(id, handler)])) as Pick<
    Handlers,
    OwnId
  >;
}

/** Answers another process for the clients of this one. */
export async function answerPeer(
  facts: Facts,
  { operation, tenant, parameters, query, slice }: PeerRequest,
): Promise<ApiAnswer> {
  const handler = Object.hasOwn(HANDLERS, operation) ? handlerOf(operation) : undefined;
  const asked = { tenant, parameters, query: new URLSearchParams(query) };
  try {
    if (handler === undefined || handler.at === 'here')
      throw new ApiProblem('NOT_FOUND', 'This process is of another version.');
    if (handler.kind === 'entry') return { status: 200, body: await handler.entry(facts, asked) };
    if (handler.kind === 'value' || handler.at === 'one') return await answerHere(facts, handler, asked);
    return { status: 200, body: await handler.part(facts, asked, slice ?? { from: 0, limit: 0 }) };
  } catch (error) {
    return refusalFor(error);
  }
}

function handlerOf(operation: string): Handler<Facts> {
  return HANDLERS[operation as OwnId];
}

async function answerOverAll(
  facts: Facts,
  id: OperationId,
  handler: Handler<Facts>,
  peers: ApiPeers,
  request: ApiRequest,
): Promise<ApiAnswer> {
  if (handler.kind === 'list' && handler.at === 'all')
    return await listOverAll(facts, id, handler, peers, request);
  if (handler.kind === 'entry') {
    const given = await queried(handler, request);
    const asked = peerRequest(id, given);
    const others = (await peers.others()).map((process) => peers.ask(process, asked));
    const [own, ...answers] = await Promise.all([handler.entry(facts, given), ...others]);
    return answerOf(handler.merged([own, ...answers.flatMap(entryOf)]));
  }
  const asked = peerRequest(id, request);
  const own = await answerHere(facts, handler, request).catch(refusalFor);
  if (own.status !== 404) return own;
  if (handler.at === 'one') {
    const answers = await Promise.all((await peers.others()).map((process) => peers.ask(process, asked)));
    return answers.find((answer) => answer !== undefined && answer.status !== 404) ?? own;
  }
  const home = await peers.homeOf(request.parameters.clientid ?? '');
  return home === undefined ? own : ((await peers.ask(home, asked)) ?? unanswered());
}

/** Empty if the process has not answered, or cannot. */
function entryOf(answer: ApiAnswer | undefined): object[] {
  return answer?.status === 200 && answer.body !== undefined ? [answer.body] : [];
}

/** Undefined: the process has not answered. */
type AskPart = (slice: Slice) => Promise<Part | undefined>;

/**
 * One page of the lists of all processes, one after another in the order of their names, so that the next page goes on
 * where this one ends: asks each for its length, and then for its part of the page.
 *
 * @throws {ApiProblem}
 */
async function listOverAll(
  facts: Facts,
  id: OperationId,
  handler: ListHandler<Facts>,
  peers: ApiPeers,
  request: ApiRequest,
): Promise<ApiAnswer> {
  const page = pagingOf(request.query);
  const names = [peers.me, ...(await peers.others())].sort();
  const parts = names.map((process): AskPart => {
    if (process === peers.me) return async (slice) => await handler.part(facts, request, slice);
    return async (slice) => {
      const [body] = entryOf(await peers.ask(process, { ...peerRequest(id, request), slice }));
      return body as Part | undefined;
    };
  });
  const lengths = await Promise.all(parts.map((part) => part({ from: 0, limit: 0 })));
  let before = 0;
  const asked = parts.map((part, index) => {
    const length = lengths[index]?.count ?? 0;
    const from = Math.max(page.from - before, 0);
    const limit = Math.min(length, page.from + page.limit - before) - from;
    before += length;
    return limit > 0 ? part({ from, limit }) : { entries: [] };
  });
  const found = await Promise.all(asked);
  const missing = names.filter((_, index) => lengths[index] === undefined || found[index] === undefined);
  const entries = found.flatMap((part) => part?.entries ?? []);
  return pageAnswer(entries, page, before, missing.length);
}

function unanswered(): ApiAnswer {
  const message = 'The process that has this client does not answer. Try again.';
  return refusalFor(new ApiProblem('SERVICE_UNAVAILABLE', message));
}

function peerRequest(operation: OperationId, { tenant, parameters, query }: Asked): PeerRequest {
  return { operation, tenant, parameters, query: query.toString() };
}

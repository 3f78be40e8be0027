import type { OperationId } from '@apus/api';
import type { Awaitable } from '@apus/broker';
import type { ApiPeers, PeerRequest } from '../cluster.ts';
import { type ApiAnswer, refusal } from './answer.ts';
import { isAnswer, pageAnswer, pagingOf, type Slice, type Window } from './paging.ts';
import type { ApiRequest, Handle, Handlers } from './router.ts';

/** A request as it can be handed to another process. */
export type Asked = Omit<ApiRequest, 'http'>;

/** How a process answers for its own clients. In a cluster the answers of all are merged. */
export type Share =
  /** A list whose pages go over all processes. */
  | { readonly of: 'list'; window(asked: Asked, slice: Slice): Awaitable<Window | ApiAnswer> }
  /** About the client `:clientid`, which one process has. A process that does not have it answers 404. */
  | { readonly of: 'client'; answer(asked: Asked): Awaitable<ApiAnswer> }
  /** About a thing that one process has. A process that does not have it answers 404. */
  | { readonly of: 'one'; answer(asked: Asked): Awaitable<ApiAnswer> }
  /** A list with an entry for each process. */
  | {
      readonly of: 'process';
      entry(asked: Asked): Awaitable<object>;
      merged(entries: readonly object[]): ApiAnswer;
    };

export interface SharedHandle extends Handle {
  readonly share: Share;
}

export function ofList(window: (asked: Asked, slice: Slice) => Awaitable<Window | ApiAnswer>): SharedHandle {
  const handle = (request: ApiRequest) => pageOver([(slice) => window(request, slice)], request);
  return Object.assign(handle, { share: { of: 'list', window } as const });
}

export function ofClient(answer: (asked: Asked) => Awaitable<ApiAnswer>): SharedHandle {
  const handle = (request: ApiRequest) => answer(request);
  return Object.assign(handle, { share: { of: 'client', answer } as const });
}

export function ofOne(answer: (asked: Asked) => Awaitable<ApiAnswer>): SharedHandle {
  const handle = (request: ApiRequest) => answer(request);
  return Object.assign(handle, { share: { of: 'one', answer } as const });
}

export function ofProcess(
  entry: (asked: Asked) => Awaitable<object>,
  merged: (entries: readonly object[]) => ApiAnswer = (entries) => ({ status: 200, body: entries }),
): SharedHandle {
  const handle = async (request: ApiRequest) => merged([await entry(request)]);
  return Object.assign(handle, { share: { of: 'process', entry, merged } as const });
}

/** Merges the lists of all processes into one. */
export function mergedLists(entries: readonly object[]): ApiAnswer {
  return { status: 200, body: { data: entries.flatMap((entry) => (entry as { data: object[] }).data) } };
}

/** The handlers of a process, for answers from all processes together. */
export function handlersOverAll(handlers: Handlers, peers: ApiPeers): Handlers {
  const over = ([id, handle]: [string, Handle]): [string, Handle] => [
    id,
    isShared(handle) ? overAll(id as OperationId, handle.share, peers) : handle,
  ];
  return Object.fromEntries(Object.entries(handlers).map(over)) as Handlers;
}

/** Answers another process for the clients of this one. */
export async function answerPeer(
  handlers: Handlers,
  { operation, tenant, parameters, query, slice }: PeerRequest,
): Promise<ApiAnswer> {
  const handle = Object.hasOwn(handlers, operation) ? handlers[operation as OperationId] : undefined;
  if (handle === undefined || !isShared(handle))
    return refusal(404, 'NOT_FOUND', 'This process is of another version.');
  const asked = { tenant, parameters, query: new URLSearchParams(query) };
  const { share } = handle;
  if (share.of === 'client' || share.of === 'one') return await share.answer(asked);
  if (share.of === 'process') return { status: 200, body: await share.entry(asked) };
  const found = await share.window(asked, slice ?? { from: 0, limit: 0 });
  return isAnswer(found) ? found : { status: 200, body: found };
}

function overAll(operation: OperationId, share: Share, peers: ApiPeers): Handle {
  if (share.of === 'list') return (request) => listOverAll(operation, share, peers, request);
  if (share.of === 'client') return (request) => atHome(operation, share, peers, request);
  if (share.of === 'one') return (request) => atAnyOf(operation, share, peers, request);
  return async (request) => {
    const asked = peerRequest(operation, request);
    const others = (await peers.others()).map((process) => peers.ask(process, asked));
    const [own, ...answers] = await Promise.all([share.entry(request), ...others]);
    return share.merged([own, ...answers.flatMap(entryOf)]);
  };
}

/** Empty if the process has not answered, or cannot. */
function entryOf(answer: ApiAnswer | undefined): object[] {
  return answer?.status === 200 && answer.body !== undefined ? [answer.body] : [];
}

/** Undefined: the process has not answered. */
type Part = (slice: Slice) => Awaitable<Window | ApiAnswer | undefined>;

/** In the order of the processes' names, so that the next page goes on where this one ends. */
async function listOverAll(
  operation: OperationId,
  share: Extract<Share, { of: 'list' }>,
  peers: ApiPeers,
  request: ApiRequest,
): Promise<ApiAnswer> {
  const own = (slice: Slice) => share.window(request, slice);
  const names = [peers.me, ...(await peers.others())].sort();
  const of = (process: string) => async (slice: Slice) => {
    const answer = await peers.ask(process, { ...peerRequest(operation, request), slice });
    return answer?.status === 200 ? (answer.body as Window) : answer;
  };
  return await pageOver(
    names.map((process) => (process === peers.me ? own : of(process))),
    request,
  );
}

/** One page of several lists, one after another: asks each for its length, and then for its part of the page. */
async function pageOver(parts: readonly Part[], { query }: ApiRequest): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const start = paging.from;
  if (parts.length === 1) {
    const found = await parts[0]?.({ from: start, limit: paging.limit });
    if (found === undefined || isAnswer(found)) return found ?? unanswered();
    return pageAnswer(found.entries, paging, found.count);
  }
  const lengths = await Promise.all(parts.map((part) => part({ from: 0, limit: 0 })));
  const refused = lengths.find((length) => length !== undefined && isAnswer(length));
  if (refused !== undefined) return refused as ApiAnswer;
  let before = 0;
  const asked = parts.map((part, index) => {
    const length = (lengths[index] as Window | undefined)?.count ?? 0;
    const from = Math.max(start - before, 0);
    const limit = Math.min(length, start + paging.limit - before) - from;
    before += length;
    return limit > 0 ? part({ from, limit }) : { entries: [], count: 0 };
  });
  const windows = await Promise.all(asked);
  const entries = windows.flatMap((window) => (window as Window | undefined)?.entries ?? []);
  const missing = lengths.filter(
    (length, index) => length === undefined || windows[index] === undefined,
  ).length;
  return pageAnswer(entries, paging, before, missing);
}

async function atHome(
  operation: OperationId,
  share: Extract<Share, { of: 'client' }>,
  peers: ApiPeers,
  request: ApiRequest,
): Promise<ApiAnswer> {
  const own = await share.answer(request);
  if (own.status !== 404) return own;
  const home = await peers.homeOf(request.parameters.clientid ?? '');
  if (home === undefined) return own;
  return (await peers.ask(home, peerRequest(operation, request))) ?? unanswered();
}

async function atAnyOf(
  operation: OperationId,
  share: Extract<Share, { of: 'one' }>,
  peers: ApiPeers,
  request: ApiRequest,
): Promise<ApiAnswer> {
  const own = await share.answer(request);
  if (own.status !== 404) return own;
  const asked = peerRequest(operation, request);
  const answers = await Promise.all((await peers.others()).map((process) => peers.ask(process, asked)));
  return answers.find((answer) => answer !== undefined && answer.status !== 404) ?? own;
}

function unanswered(): ApiAnswer {
  return refusal(503, 'SERVICE_UNAVAILABLE', 'The process that has this client does not answer. Try again.');
}

function peerRequest(operation: OperationId, { tenant, parameters, query }: ApiRequest): PeerRequest {
  return { operation, tenant, parameters, query: query.toString() };
}

function isShared(handle: Handle): handle is SharedHandle {
  return 'share' in handle;
}

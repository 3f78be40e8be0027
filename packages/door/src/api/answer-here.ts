import {
  Answered,
  ApiProblem,
  type Asked,
  type EntryHandler,
  type Facts,
  type Handler,
  Text,
} from '@apus/api';
import { type Awaitable, parseJson } from '@apus/broker';
import type { ApiAnswer } from './answer.ts';
import { pageAnswer, pagingOf } from './paging.ts';

/** A request of an operator, as a handler asks it. */
export interface HeldRequest extends Asked {
  /** The first bytes of the body: one more than the limit where there are more. Absent: there is no body. */
  readonly body?: (bytesMax: number) => Awaitable<Uint8Array>;
}

/** @throws {ApiProblem} */
export async function answerHere(
  facts: Facts,
  handler: Handler<Facts>,
  request: HeldRequest,
): Promise<ApiAnswer> {
  if (handler.kind === 'list') {
    const slice = pagingOf(request.query);
    const { entries, count = 0 } = await handler.part(facts, request, slice);
    return pageAnswer(entries, slice, count);
  }
  if (handler.kind === 'entry') {
    const asked = await queried(handler, request);
    return answerOf(handler.merged([await handler.entry(facts, asked)]));
  }
  return answerOf(await handler.answer(facts, withJson(request)));
}

function withJson(request: HeldRequest) {
  return { ...request, json: (what: string, bytesMax: number) => jsonOf(request.body, what, bytesMax) };
}

/** The request with its body as a query, where the handler reads one. @throws {ApiProblem} */
export async function queried({ asQuery }: EntryHandler<Facts>, request: HeldRequest): Promise<Asked> {
  if (asQuery === undefined || request.body === undefined) return request;
  return { ...request, query: await asQuery(withJson(request)) };
}

export function answerOf(value: object | undefined): ApiAnswer {
  if (value === undefined) return { status: 204 };
  if (value instanceof Answered) return { status: value.status, body: value.body };
  if (value instanceof Text)
    return { status: 200, headers: { 'Content-Type': value.type }, text: value.text };
  return { status: 200, body: value };
}

/** @throws {ApiProblem} */
async function jsonOf(read: HeldRequest['body'], what: string, bytesMax: number): Promise<unknown> {
  const body = (await read?.(bytesMax)) ?? new Uint8Array();
  if (body.length > bytesMax) throw new ApiProblem('BAD_REQUEST', `${what} has at most ${bytesMax} bytes.`);
  try {
    return parseJson(Buffer.from(body).toString());
  } catch {
    throw new ApiProblem('BAD_REQUEST', 'The body is not JSON.');
  }
}

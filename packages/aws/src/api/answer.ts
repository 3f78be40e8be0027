import {
  Answered,
  ApiProblem,
  type Asked,
  type Facts,
  HANDLERS,
  type Handler,
  type OperationId,
  Text,
} from '@apus/api';
import { parseJson } from '@apus/broker';
import { type HttpAnswer, type HttpRequest, jsonAnswer } from '@apus/door';
import type { InvocationContext } from '../events/gateway.ts';
import { pageAnswer, pagingOf } from './pages.ts';

/** A request of an operator who was let in. */
export interface ApiRequest extends Asked {
  readonly http: HttpRequest;
}

export type Answer = (
  id: OperationId,
  request: ApiRequest,
  invocation: InvocationContext,
) => Promise<HttpAnswer>;

const NO_STORE = { 'cache-control': 'no-store' } as const;

/** A ban or a tenant has at most 16 KB. */
const BODY_BYTES_MAX = 32 * 1_024;

/** @throws {ApiProblem} */
export async function answerOf(
  id: keyof typeof HANDLERS,
  facts: Facts,
  request: ApiRequest,
): Promise<HttpAnswer> {
  const handler: Handler<Facts> = HANDLERS[id];
  if (handler.kind === 'list') {
    const slice = pagingOf(request.query);
    const { entries, next } = await handler.part(facts, request, slice);
    return pageAnswer(entries, slice, next);
  }
  const value =
    handler.kind === 'entry'
      ? handler.merged([await handler.entry(facts, request)])
      : await handler.answer(facts, { ...request, json: () => objectIn(request.http) });
  if (value === undefined) return { status: 204, headers: NO_STORE, body: '' };
  if (value instanceof Answered) return jsonAnswer(value.status, value.body);
  if (value instanceof Text)
    return { status: 200, headers: { 'content-type': value.type, ...NO_STORE }, body: value.text };
  return jsonAnswer(200, value);
}

/** The object in the body of a request. @throws {ApiProblem} */
function objectIn({ body }: HttpRequest): object {
  if (body.length > BODY_BYTES_MAX)
    throw new ApiProblem('BAD_REQUEST', `The body has at most ${BODY_BYTES_MAX} bytes.`);
  const value = parsed(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new ApiProblem('BAD_REQUEST', 'The body is a JSON object.');
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ApiProblem('BAD_REQUEST', 'The body is not JSON.');
  }
}

import { fieldsOfQuery, listStreams, readQuestion, StreamQuestionError, streamMessages } from '@apus/cloud';
import { type ApiAnswer, refusal } from './answer.ts';
import type { ApiContext } from './context.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** Bytes of a page at most: payloads are in it. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Streams, and the messages of one topic of a stream. */
export function streamHandlers(context: ApiContext) {
  return {
    listStreams: ({ tenant }) => list(context, tenant),
    listStreamMessages: (request) => messages(context, request),
  } satisfies Partial<Handlers>;
}

async function list({ streams, stores }: ApiContext, tenant: string): Promise<ApiAnswer> {
  return { status: 200, body: { data: await listStreams(streams, stores.streamStore, tenant) } };
}

async function messages(
  { streams, stores: { streamStore: store }, clock }: ApiContext,
  { tenant, parameters, query }: ApiRequest,
): Promise<ApiAnswer> {
  try {
    const question = readQuestion(streams, parameters.name, fieldsOfQuery(query));
    const reading = { store, tenant, nowMs: clock.now(), bytesMax: PAGE_BYTES };
    const { messages: data, next } = await streamMessages(reading, question);
    return { status: 200, body: { data, meta: { next } } };
  } catch (error) {
    if (error instanceof StreamQuestionError) return refusal(error.status, error.code, error.message);
    throw error;
  }
}

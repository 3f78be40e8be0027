import type { Clock, Streams } from '@apus/broker';
import { listStreams, type StreamLine } from '../streams/list.ts';
import { type StreamPage, streamMessages } from '../streams/messages.ts';
import { readQuestion } from '../streams/question.ts';

/** An answer of a function has at most 6 MB, and payloads are base64 in it. */
const PAGE_BYTES = 3 * 1024 * 1024;

/** A request about streams and their messages: the fields of `GET /api/v5/streams/NAME/messages`. */
export type StreamsRequest =
  | { readonly action: 'streams'; readonly tenant: string }
  | {
      readonly action: 'stream-messages';
      readonly tenant: string;
      readonly name: unknown;
      readonly fields: Readonly<Record<string, unknown>>;
    };

export type StreamsAnswer = { readonly streams: readonly StreamLine[] } | StreamPage;

/** @throws {StreamQuestionError} */
export async function answerOfStreams(
  streams: Streams | undefined,
  { now }: Clock,
  request: StreamsRequest,
): Promise<StreamsAnswer> {
  const { tenant } = request;
  if (request.action === 'streams')
    return {
      streams: streams === undefined ? [] : await listStreams(streams.declared, streams.store, tenant),
    };
  const question = readQuestion(streams?.declared, request.name, request.fields);
  // A question names a stream: there are some.
  const { store } = streams as Streams;
  return await streamMessages({ store, tenant, nowMs: now(), bytesMax: PAGE_BYTES }, question);
}

import type { Clock, Streams } from '@apus/broker';
import { listStreams, type StreamLine } from '../streams/list.ts';
import { type StreamPage, streamMessages } from '../streams/messages.ts';
import { PAGE_BYTES, readQuestion } from '../streams/question.ts';

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
  // `readQuestion` has found the stream, so there are streams.
  const { store } = streams as Streams;
  return await streamMessages({ store, tenant, nowMs: now(), bytesMax: PAGE_BYTES }, question);
}

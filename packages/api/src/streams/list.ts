import type { StreamDeclaration, StreamFigures, StreamStore } from '@apus/broker';
import type { StreamLine } from '../schemas/messages.ts';

export async function listStreams(
  declared: readonly StreamDeclaration[],
  store: StreamStore,
  tenant: string,
): Promise<readonly StreamLine[]> {
  const lines: StreamLine[] = [];
  for (const stream of declared) lines.push(lineOf(stream, await store.figures(tenant, stream)));
  return lines;
}

function lineOf(stream: StreamDeclaration, figures: StreamFigures): StreamLine {
  return {
    name: stream.name,
    topic_filter: stream.topicFilter,
    keep_seconds: stream.keepSeconds,
    messages_max: stream.messagesMax,
    bytes_max: stream.bytesMax,
    topics_max: stream.topicsMax,
    key: stream.key ?? null,
    snapshot: stream.snapshot,
    ...figures,
  };
}

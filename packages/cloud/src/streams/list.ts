import type { StreamDeclaration, StreamDeclarations, StreamFigures, StreamStore } from '@apus/broker';

/** A stream and what it holds, as both doors describe it. */
export interface StreamLine extends StreamFigures {
  readonly name: string;
  readonly topic_filter: string;
  readonly keep_seconds: number;
  readonly messages_max: number;
  readonly bytes_max: number;
  readonly topics_max: number;
  readonly key: string | null;
  readonly snapshot: boolean;
}

export async function listStreams(
  declared: Pick<StreamDeclarations, 'all'> | undefined,
  store: StreamStore,
  tenant: string,
): Promise<readonly StreamLine[]> {
  const lines: StreamLine[] = [];
  for (const stream of declared?.all ?? []) lines.push(lineOf(stream, await store.figures(tenant, stream)));
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

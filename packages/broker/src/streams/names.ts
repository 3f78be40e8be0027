import { covers, ReasonCode, Violation } from '@apus/mqtt';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { Streams } from '../ports/index.ts';

/** EMQX's names for the same. */
const PREFIX = /^\$(?:stream|s)\/([^/]*)(?:\/(.*))?$/s;

/** A stream, and the plain topic filter that a subscription to it has. */
export interface StreamFilter {
  readonly stream: StreamDeclaration;
  readonly topicFilter: string;
}

/**
 * `$stream/NAME` and `$stream/NAME/FILTER`; undefined for any other filter. The filter narrows: it matches nothing
 * outside the stream.
 */
export function parseStreamFilter(
  requested: string,
  streams: Pick<Streams, 'declared'> | undefined,
): StreamFilter | Violation | undefined {
  if (!requested.startsWith('$s')) return undefined;
  const [, name, filter] = PREFIX.exec(requested) ?? [];
  if (name === undefined || (streams === undefined && requested.startsWith('$s/'))) return undefined;
  const stream = streams?.declared.named(name);
  if (stream === undefined)
    return new Violation(ReasonCode.TopicFilterInvalid, `there is no stream ${JSON.stringify(name)} here`);
  if (filter === undefined || filter === '#') return { stream, topicFilter: stream.topicFilter };
  if (covers(stream.topicFilter, filter)) return { stream, topicFilter: filter };
  const reason = `${JSON.stringify(filter)} matches topics that the stream ${name} (${stream.topicFilter}) has not`;
  return new Violation(ReasonCode.TopicFilterInvalid, reason);
}

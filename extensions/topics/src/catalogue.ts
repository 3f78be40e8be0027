import { readFileSync, statSync } from 'node:fs';
import type { Awaitable, StreamDeclaration } from '@apus/broker';
import { asyncApiOf, type DocumentContext } from './async-api.ts';
import { FILE_BYTES_MAX } from './limits.ts';
import { PayloadSchemas } from './payload-schemas.ts';
import { readTopics, type TopicDescription, type Topics } from './topics.ts';

/** What the reader of a document may do. */
export interface DocumentReader {
  /** With some topic of the filter. */
  mayReach(topicFilter: string, action: 'publish' | 'subscribe'): Awaitable<boolean>;
  mayReceive(topicName: string): Awaitable<boolean>;
}

/** The topics that the owner describes: the document for developers, and the check of payloads. */
export class TopicCatalogue {
  readonly topics: Topics;
  readonly payloads: PayloadSchemas;

  /** @throws {Error} with a sentence that says what is wrong */
  constructor(topics: Topics) {
    this.topics = topics;
    this.payloads = new PayloadSchemas(topics.topics);
  }

  get tokenHelp(): string | undefined {
    return this.topics.token;
  }

  /** The whole document of a tenant. */
  asyncApi(context: Omit<DocumentContext, 'sampleOf'>): object {
    const sampleOf: DocumentContext['sampleOf'] = ({ topic }) =>
      this.payloads.samples.newest(context.tenant, topic);
    return asyncApiOf(this.topics, { ...context, sampleOf });
  }

  /** The document as far as its reader may publish and receive what it describes [SEC-WAY-1]. */
  async asyncApiFor(reader: DocumentReader, context: Omit<DocumentContext, 'sampleOf'>): Promise<object> {
    const { samples } = this.payloads;
    const topics: TopicDescription[] = [];
    const shown = new Set<string>();
    for (const topic of this.topics.topics) {
      const publish = (await reader.mayReach(topic.topicFilter, 'publish')) ? topic.publish : undefined;
      const maySubscribe = await reader.mayReach(topic.topicFilter, 'subscribe');
      const subscribe = maySubscribe ? topic.subscribe : undefined;
      if (publish !== undefined || maySubscribe) topics.push({ ...topic, publish, subscribe });
      const name = samples.topicName(context.tenant, topic.topic);
      if (name !== undefined && (await reader.mayReceive(name))) shown.add(topic.topic);
    }
    const streams: StreamDeclaration[] = [];
    for (const stream of context.streams)
      if (await reader.mayReach(stream.topicFilter, 'subscribe')) streams.push(stream);
    const sampleOf: DocumentContext['sampleOf'] = ({ topic }) =>
      shown.has(topic) ? samples.newest(context.tenant, topic) : undefined;
    return asyncApiOf({ ...this.topics, topics }, { ...context, streams, sampleOf });
  }
}

/** @throws {Error} with a sentence that says what is wrong */
export function readTopicsFile(path: string): TopicCatalogue {
  const { size } = statSync(path);
  if (size > FILE_BYTES_MAX) throw new Error(`it has ${size} bytes, and may have ${FILE_BYTES_MAX}.`);
  return new TopicCatalogue(readTopics(JSON.parse(readFileSync(path, 'utf8'))));
}

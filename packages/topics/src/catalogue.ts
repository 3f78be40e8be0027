import { readFileSync, statSync } from 'node:fs';
import { asyncApiOf, type DocumentContext } from './async-api.ts';
import { FILE_BYTES_MAX } from './limits.ts';
import { PayloadSchemas } from './payload-schemas.ts';
import { readTopics, type Topics } from './topics.ts';

/** The topics that the owner describes: the document for developers, and the check of payloads. */
export class TopicCatalogue {
  readonly topics: Topics;
  readonly payloads: PayloadSchemas;

  /** @throws {Error} with a sentence that says what is wrong */
  constructor(topics: Topics) {
    this.topics = topics;
    this.payloads = new PayloadSchemas(topics.topics);
  }

  asyncApi(context: Omit<DocumentContext, 'sampleOf'>): object {
    const sampleOf: DocumentContext['sampleOf'] = ({ topic }) =>
      this.payloads.samples.newest(context.tenant, topic);
    return asyncApiOf(this.topics, { ...context, sampleOf });
  }
}

/** @throws {Error} with a sentence that says what is wrong */
export function readTopicsFile(path: string): TopicCatalogue {
  const { size } = statSync(path);
  if (size > FILE_BYTES_MAX) throw new Error(`it has ${size} bytes, and may have ${FILE_BYTES_MAX}.`);
  return new TopicCatalogue(readTopics(JSON.parse(readFileSync(path, 'utf8'))));
}

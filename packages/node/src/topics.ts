import type { Awaitable, PayloadCheck, StreamDeclaration } from '@apus/broker';

/** A server as the document for developers names it. */
export interface DocumentedServer {
  readonly name: string;
  readonly url: string;
  readonly door: 'node' | 'gateway';
  /** Clients need no token. */
  readonly isOpen: boolean;
}

interface DocumentContext {
  readonly tenant: string;
  readonly servers: readonly DocumentedServer[];
  readonly streams: readonly StreamDeclaration[];
}

/** What the reader of a document may do. */
export interface DocumentReader {
  /** With some topic of the filter. */
  mayReach(topicFilter: string, action: 'publish' | 'subscribe'): Awaitable<boolean>;
  mayReceive(topicName: string): Awaitable<boolean>;
}

/** The topics that the owner describes: `readTopicsFile` of `@apus/topics` reads them. */
export interface NodeTopics {
  /** Compares payloads with the schemas of their topics, and counts what it has compared. */
  readonly payloads: PayloadCheck & { readonly succeeded: number; readonly failed: number };
  /** How a developer gets a token, in the owner's words. */
  readonly tokenHelp: string | undefined;
  /** The AsyncAPI document of a tenant. */
  asyncApi(context: DocumentContext): object;
  /** The document as far as its reader may publish and receive what it describes. */
  asyncApiFor(reader: DocumentReader, context: DocumentContext): Promise<object>;
}

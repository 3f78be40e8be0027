import type { PayloadCheck, StreamDeclaration } from '@apus/broker';

/** A server as the document for developers names it. */
export interface DocumentedServer {
  readonly name: string;
  readonly url: string;
  readonly door: 'node' | 'gateway';
  /** Clients need no token. */
  readonly isOpen: boolean;
}

/** The topics that the owner describes: `readTopicsFile` of `@apus/topics` reads them. */
export interface NodeTopics {
  /** Compares payloads with the schemas of their topics, and counts what it has compared. */
  readonly payloads: PayloadCheck & { readonly succeeded: number; readonly failed: number };
  /** The AsyncAPI document for the developers of a tenant. */
  asyncApi(context: {
    readonly tenant: string;
    readonly servers: readonly DocumentedServer[];
    readonly streams: readonly StreamDeclaration[];
  }): object;
}

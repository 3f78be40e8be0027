/** The parts of an AsyncAPI document that the page uses: all of it checked, since a stranger may have written it. */
export interface PortalDocument {
  readonly title: string;
  readonly version: string;
  readonly description: string | undefined;
  /** How a developer gets a token, in words. */
  readonly token: string | undefined;
  readonly servers: readonly PortalServer[];
  readonly topics: readonly PortalTopic[];
  /** Topics of the document that are not listed. */
  readonly leftOut: number;
  /** The document itself, for references of schemas. */
  readonly root: unknown;
}

export interface PortalServer {
  readonly name: string;
  readonly url: string;
  readonly door: 'node' | 'gateway';
  /** A client has to authenticate. */
  readonly asksForToken: boolean;
}

export interface PortalTopic {
  /** Levels with parameters, as `sensors/{sensor}/temperature`. */
  readonly address: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly parameters: readonly PortalParameter[];
  readonly contentType: string;
  /** A JSON Schema, as it stands in the document. */
  readonly schema: unknown;
  readonly examples: readonly PortalExample[];
  /** The broker refuses payloads that the schema does not allow. */
  readonly isChecked: boolean;
  readonly stream: PortalStream | undefined;
  /** A description of the programs that may. */
  readonly publish: string | undefined;
  readonly subscribe: string | undefined;
}

export interface PortalParameter {
  readonly name: string;
  readonly description: string | undefined;
  /** Values that it may have, or that are examples of it. */
  readonly values: readonly string[];
  readonly isEnum: boolean;
  /** Stands for any number of levels. */
  readonly isRest: boolean;
}

export interface PortalExample {
  /** Undefined: an example of the description. */
  readonly label: string | undefined;
  /** As a program sends it. */
  readonly payload: string;
}

export interface PortalStream {
  readonly name: string;
  readonly topicFilter: string;
  readonly keepSeconds: number | undefined;
  readonly messagesMax: number | undefined;
  readonly isSnapshot: boolean;
}

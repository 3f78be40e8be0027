/**
 * The event of a WebSocket route of API Gateway. Declared here because the published types lack `disconnectStatusCode`,
 * `disconnectReason`, `identity` and `authorizer`.
 */
export interface RequestContext {
  readonly routeKey: string;
  readonly eventType: 'CONNECT' | 'MESSAGE' | 'DISCONNECT';
  readonly connectionId: string;
  readonly requestId: string;
  readonly apiId: string;
  readonly stage: string;
  readonly domainName: string;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  readonly requestTimeEpoch: number;
  readonly identity?: {
    readonly sourceIp?: string;
    readonly userAgent?: string;
    /** The signer of the handshake, at `$connect` where its route asks for AWS_IAM. */
    readonly userArn?: string | null;
    /** The same, for credentials of an identity pool of Amazon Cognito. */
    readonly cognitoIdentityId?: string | null | undefined;
  };
  /** The context of a Lambda authorizer, and its `principalId`. */
  readonly authorizer?: Readonly<Record<string, unknown>>;
  readonly disconnectStatusCode?: number;
  readonly disconnectReason?: string;
}

export interface ConnectEvent {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly requestContext: RequestContext;
}

export interface MessageEvent {
  readonly requestContext: RequestContext;
  readonly body?: string | null;
}

export interface DisconnectEvent {
  readonly requestContext: RequestContext;
}

/** The answer of a Lambda proxy integration. API Gateway sends `body` to the client if the route has a response. */
export interface ProxyResult {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The part of Lambda's context that is used. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/**
 * The events that API Gateway hands to a Lambda function, as the developer guide documents them ("Example input event
 * from the $connect, $disconnect and custom routes"). The types published for Node.js lack `identity`, `authorizer`
 * and `disconnectStatusCode`.
 */
export interface Identity {
  readonly sourceIp: string;
  /** Only when the client's handshake named one. */
  readonly userAgent?: string;
}

/**
 * The signer of a handshake, if the route asks for AWS_IAM. Only `$connect` gets it: AWS does not document it for later
 * events.
 */
export interface CallerIdentity {
  readonly accountId: string;
  readonly accessKey: string;
  /** Unique id of the principal: `AIDA…` of a user, `AROA…:{session name}` of a role. */
  readonly caller: string;
  readonly user: string;
  /** `arn:aws:iam::{account}:user/{path}{name}`, `arn:aws:sts::{account}:assumed-role/{role}/{session name}` */
  readonly userArn: string;
  readonly principalOrgId?: string | null;
  /** Only of credentials of an identity pool: `{region}:{uuid}`. */
  readonly cognitoIdentityId?: string | null;
  readonly cognitoIdentityPoolId?: string | null;
  readonly cognitoAuthenticationType?: string | null;
  readonly cognitoAuthenticationProvider?: string | null;
}

/** The decision of a REQUEST authorizer at `$connect`. Every later event of the connection has it. */
export interface AuthorizerContext {
  readonly principalId: string;
  readonly integrationLatency: number;
  /** The authorizer's `context`: numbers and booleans arrive as text. */
  readonly [key: string]: string | number;
}

export interface RequestContext {
  readonly routeKey: string;
  readonly extendedRequestId: string;
  /** `19/Jan/2023:21:13:26 +0000` */
  readonly requestTime: string;
  readonly messageDirection: 'IN';
  readonly stage: string;
  /** Milliseconds since the Unix epoch. */
  readonly connectedAt: number;
  /** Milliseconds since the Unix epoch. */
  readonly requestTimeEpoch: number;
  readonly identity: Identity;
  readonly requestId: string;
  readonly domainName: string;
  readonly connectionId: string;
  readonly apiId: string;
  /** Only with an authorizer. */
  readonly authorizer?: AuthorizerContext;
}

export type Headers = Readonly<Record<string, string>>;
export type MultiValueHeaders = Readonly<Record<string, readonly string[]>>;

/** The handshake of a connection. `$connect` and the authorizer get it, and no later event. */
export interface Handshake {
  /** Names in the case in which the client wrote them. */
  readonly headers: Headers;
  readonly multiValueHeaders: MultiValueHeaders;
  /** Absent without a query. */
  readonly queryStringParameters?: Headers;
  readonly multiValueQueryStringParameters?: MultiValueHeaders;
}

export interface ConnectEvent extends Handshake {
  readonly requestContext: RequestContext & {
    readonly routeKey: '$connect';
    readonly eventType: 'CONNECT';
    readonly identity: Identity & Partial<CallerIdentity>;
  };
  readonly isBase64Encoded: false;
}

export interface MessageEvent {
  readonly requestContext: RequestContext & { readonly eventType: 'MESSAGE'; readonly messageId: string };
  readonly body: string;
  readonly isBase64Encoded: false;
}

export interface DisconnectEvent {
  /** `Host`, and three names without a value. Nothing from the client. */
  readonly headers: Headers;
  readonly multiValueHeaders: MultiValueHeaders;
  readonly requestContext: RequestContext & {
    readonly routeKey: '$disconnect';
    readonly eventType: 'DISCONNECT';
    /** 1005 when the client's close frame had no code, 1006 when none came. */
    readonly disconnectStatusCode: number;
    readonly disconnectReason: string;
  };
  readonly isBase64Encoded: false;
}

export interface AuthorizerEvent extends Handshake {
  readonly type: 'REQUEST';
  /** `arn:aws:execute-api:region:account:apiId/stage/$connect` */
  readonly methodArn: string;
  readonly requestContext: RequestContext & { readonly routeKey: '$connect'; readonly eventType: 'CONNECT' };
}

export type RouteEvent = ConnectEvent | MessageEvent | DisconnectEvent;

/** The answer of a Lambda function to API Gateway. Anything else is a failure of the integration. */
export interface ProxyResult {
  readonly statusCode: number;
  /** `$connect` may choose `Sec-WebSocket-Protocol` here, one of those offered. Case does not matter. */
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
  /** Sent to the caller where the route has a route response. */
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** The answer of a REQUEST authorizer. */
export interface AuthorizerResult {
  readonly principalId: string;
  readonly policyDocument: {
    readonly Version?: string;
    readonly Statement: readonly {
      readonly Action: string | readonly string[];
      readonly Effect: 'Allow' | 'Deny';
      readonly Resource: string | readonly string[];
    }[];
  };
  readonly context?: Readonly<Record<string, string | number | boolean>>;
}

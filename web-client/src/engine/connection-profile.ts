export type Qos = 0 | 1 | 2;

/** MQTT 3.1.1 and 5.0, as numbers of CONNECT's Protocol Version. */
export type ProtocolVersion = 4 | 5;

/** `node` takes stock MQTT over WebSocket; `gateway` takes text frames through API Gateway (`@apus/client`). */
export type Door = 'node' | 'gateway';

/** In the order in which they are sent; a name may occur more than once. */
export type UserProperties = readonly (readonly [name: string, value: string])[];

/** The properties of a PUBLISH, named as in the specification; an absent one was not sent. */
export interface MessageProperties {
  readonly payloadFormatIndicator?: boolean | undefined;
  readonly messageExpiryIntervalSeconds?: number | undefined;
  readonly topicAlias?: number | undefined;
  readonly responseTopic?: string | undefined;
  readonly correlationData?: Uint8Array | undefined;
  readonly userProperties?: UserProperties | undefined;
  /** Received messages only: the identifiers of the subscriptions that matched. */
  readonly subscriptionIdentifiers?: readonly number[] | undefined;
  readonly contentType?: string | undefined;
}

/** The message that the server publishes when the connection is lost. */
export interface WillProfile {
  readonly topic: string;
  /** As text; the will is sent as UTF-8. */
  readonly payload: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly delayIntervalSeconds?: number | undefined;
  readonly properties: Omit<
    MessageProperties,
    'topicAlias' | 'subscriptionIdentifiers' | 'correlationData'
  > & {
    readonly correlationText?: string | undefined;
  };
}

/** A subscription as the user wants it; it is part of the profile of its connection. */
export interface Subscription {
  readonly id: string;
  /** A topic filter, with or without `$share/{group}/` in front. */
  readonly filter: string;
  /** A name for people, or ''. */
  readonly alias: string;
  /** A key of the theme's colours, such as `blue`. */
  readonly color: string;
  readonly qos: Qos;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: 0 | 1 | 2;
  /** `auto` gives each subscription its own identifier if the server supports them. */
  readonly identifier: 'auto' | 'none' | number;
  readonly userProperties: UserProperties;
  /** Off: unsubscribed at the server and kept here. */
  readonly enabled: boolean;
}

/** All settings of a connection that are not secret. Saved in IndexedDB. */
export interface ConnectionProfile {
  readonly id: string;
  readonly name: string;
  /** `ws:` or `wss:`, with the path. */
  readonly url: string;
  /** `auto` asks the server which of the two subprotocols it speaks. */
  readonly door: Door | 'auto';
  readonly protocolVersion: ProtocolVersion;
  /** '' lets the server choose one at each connection; then no session can be resumed. */
  readonly clientId: string;
  readonly username: string;
  /** MQTT 5's Clean Start, MQTT 3.1.1's Clean Session. */
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly connectTimeoutSeconds: number;
  readonly reconnect: boolean;
  /** The wait before each attempt at the node door; the gateway door's transport has its own waits. */
  readonly reconnectPeriodMs: number;
  readonly sessionExpiryIntervalSeconds?: number | undefined;
  readonly receiveMaximum?: number | undefined;
  readonly maximumPacketSizeBytes?: number | undefined;
  readonly topicAliasMaximum?: number | undefined;
  readonly requestResponseInformation?: boolean | undefined;
  readonly requestProblemInformation?: boolean | undefined;
  readonly userProperties: UserProperties;
  readonly authenticationMethod: string;
  readonly will?: WillProfile | undefined;
  /** Gateway door: the longest time without a frame that asks for a reply; undefined is the transport's default. */
  readonly heartbeatSeconds?: number | undefined;
  /** The query parameter that the token is added as, at either door. */
  readonly tokenParameter: string;
  /** The secrets that a connection needs, so that the page can ask for those that are not stored. */
  readonly needs: { readonly password: boolean; readonly token: boolean };
  /** Whether the user asked to store the secrets with the profile. */
  readonly storeSecrets: boolean;
  readonly subscriptions: readonly Subscription[];
  /** Whether its messages stay in this browser across a reload: only false means that they do not. */
  readonly keepsMessages?: boolean | undefined;
  /**
   * False: it does not subscribe to the broker's notices of dropped messages. Only for the example, which shows every
   * packet.
   */
  readonly hearsOfDrops?: boolean | undefined;
}

/** The secrets, which a profile never holds. `authenticationData` is text, sent as UTF-8. */
export interface Secrets {
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  readonly authenticationData?: string | undefined;
}

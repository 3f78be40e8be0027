import type { Door, MessageProperties, Qos, UserProperties } from './connection-profile.ts';
import type { FrameLog, MessageLog, PacketLog } from './logged.ts';

export interface PublishRequest {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties?: MessageProperties | undefined;
}

/** The outcome of a publish, subscribe or unsubscribe. */
export interface Outcome {
  readonly ok: boolean;
  /** MQTT's reason code, or undefined without one: QoS 0, MQTT 3.1.1, a broken connection. */
  readonly reasonCode: number | undefined;
  /** The error; `troubleWords()` of `ui/trouble.ts` has the words. Undefined for success. */
  readonly trouble: Trouble | undefined;
  /** From the call to the last packet of the exchange. */
  readonly durationMs: number;
}

export type ConnectionPhase =
  | 'idle'
  /** Finding out which door the server is. */
  | 'detecting'
  | 'connecting'
  | 'connected'
  /** Lost or not reached; the next attempt follows at `retryAtMs`. */
  | 'waiting'
  /** Refused for a reason that another attempt does not change, or given up. */
  | 'failed';

/** The kind of an error. The catalogue of strings has the words for each. */
export type TroubleKind =
  /** The server sent a reason code. */
  | 'reason'
  /** The WebSocket ended with `code`, a close code. */
  | 'closed'
  /** The URL is invalid for a WebSocket. */
  | 'url'
  /** A page of https: must not open ws:. */
  | 'mixed-content'
  /** Neither of the two subprotocols was accepted. */
  | 'no-door'
  /** No CONNACK in time. */
  | 'connect-timeout'
  /** No answer to PINGREQ. */
  | 'keep-alive'
  /** The server broke the rules of MQTT, or sent bytes that are not MQTT. */
  | 'protocol'
  /** The gateway door's transport: `detail` says what to do. */
  | 'transport'
  /** There is no connection. */
  | 'offline'
  /** It was never sent: `detail` has the error. */
  | 'invalid'
  /** It was never sent: it is larger than the server takes, and `detail` has its size. */
  | 'too-large';

/** An error. `troubleWords()` of `ui/trouble.ts` gives a title and advice for people. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** The reason code of MQTT 5 (3.1.1's return codes are translated), or the close code of the WebSocket. */
  readonly code: number | undefined;
  /** The server's own Reason String, or a library's message; '' without one. */
  readonly detail: string;
  readonly atMs: number;
}

/** The facts of CONNACK. */
export interface SessionFacts {
  readonly connectedAtMs: number;
  readonly sessionPresent: boolean;
  readonly clientId: string;
  readonly keepAliveSeconds: number;
  readonly maximumQos: Qos;
  readonly retainAvailable: boolean;
  readonly wildcardAvailable: boolean;
  readonly subscriptionIdentifiersAvailable: boolean;
  readonly sharedAvailable: boolean;
  readonly sessionExpiryIntervalSeconds: number | undefined;
  readonly receiveMaximum: number | undefined;
  readonly maximumPacketSizeBytes: number | undefined;
  readonly topicAliasMaximum: number | undefined;
  readonly responseInformation: string | undefined;
  readonly serverReference: string | undefined;
  readonly reasonString: string | undefined;
  readonly userProperties: UserProperties;
}

export interface Traffic {
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly messagesInPerSecond: number;
  readonly messagesOutPerSecond: number;
  readonly bytesInPerSecond: number;
  readonly bytesOutPerSecond: number;
  /** Messages that the page never saw, because it was too busy to take them. */
  readonly skipped: number;
  /** Messages that the broker reports as dropped for this client. */
  readonly dropped: number;
  /** Gateway door only. */
  readonly gateway: GatewayTraffic | undefined;
}

/** Sums of text frames, over all sockets of a connection. */
export interface GatewayTraffic {
  /** The handshake that brings a CONNECT is one of them. */
  readonly framesSent: number;
  readonly framesReceived: number;
  /** The bill of API Gateway: frames in both directions, counted once for every 32 KB begun. */
  readonly messagesBilled: number;
  /** MQTT packets in the frames. */
  readonly packets: number;
  /** The bill if each packet had its own frame. */
  readonly billedAlone: number;
  /** PINGREQs that the transport answered itself: neither they nor their PINGRESPs were sent. */
  readonly pingsAnswered: number;
  /** PUBACKs that the transport omitted, because the session does not need them. */
  readonly pubacksDropped: number;
}

export interface SubscriptionState {
  readonly status: 'off' | 'waiting' | 'granted' | 'refused';
  readonly grantedQos: Qos | undefined;
  readonly trouble: Trouble | undefined;
  /** For a stream: whether SUBACK reported that no message is missing. */
  readonly isWhole: boolean | undefined;
  readonly messages: number;
  readonly bytes: number;
  readonly messagesPerSecond: number;
}

/** A connection as views show it: replaced, never changed, at most a few times a second. */
export interface ConnectionStatus {
  readonly phase: ConnectionPhase;
  /** Known once detected. */
  readonly door: Door | undefined;
  readonly session: SessionFacts | undefined;
  readonly trouble: Trouble | undefined;
  /** The number of attempts since it was last connected. */
  readonly attempts: number;
  readonly retryAtMs: number | undefined;
  readonly traffic: Traffic;
  /** By the subscription's `id`. */
  readonly subscriptions: Readonly<Record<string, SubscriptionState>>;
}

/** A connection that can be used; its status is in the store (`useStatus`). */
export interface LiveConnection {
  readonly id: string;
  readonly messages: MessageLog;
  readonly packets: PacketLog;
  /** Empty at the node door. */
  readonly frames: FrameLog;
  /** Never rejects. */
  publish(request: PublishRequest): Promise<Outcome>;
  /** Progress comes a few times a second, `done` once. Returns a function that stops it. */
}

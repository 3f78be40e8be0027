/**
 * The shapes that the engine and the views share. The engine runs in a worker (connections, MQTT, sockets) and on the
 * page (logs, live connections); views only ever see what is declared here.
 */

export type Qos = 0 | 1 | 2;

/** MQTT 3.1.1 and 5.0, as CONNECT's Protocol Version says them. */
export type ProtocolVersion = 4 | 5;

/** `node` takes stock MQTT over WebSocket; `gateway` takes text frames through API Gateway (`@apus/client`). */
export type Door = 'node' | 'gateway';

/** In the order in which they are sent; a name may come more than once. */
export type UserProperties = readonly (readonly [name: string, value: string])[];

/** The properties of a PUBLISH, named as in the specification; what is absent was not sent. */
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

/** A subscription as its owner wants it; it lives in the profile of its connection. */
export interface Subscription {
  readonly id: string;
  /** A topic filter, with `$share/{group}/` in front or without. */
  readonly filter: string;
  /** A name for people, or ''. */
  readonly alias: string;
  /** A key of the theme's colours, as `blue`. */
  readonly color: string;
  readonly qos: Qos;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: 0 | 1 | 2;
  /** `auto` gives each subscription its own where the server takes them. */
  readonly identifier: 'auto' | 'none' | number;
  readonly userProperties: UserProperties;
  /** Off: unsubscribed at the server and kept here. */
  readonly enabled: boolean;
}

/** Everything about a connection that is no secret. Saved in IndexedDB; shared by URL. */
export interface ConnectionProfile {
  readonly id: string;
  readonly name: string;
  /** `ws:` or `wss:`, with the path. */
  readonly url: string;
  /** `auto` asks the server which of the two subprotocols it speaks. */
  readonly door: Door | 'auto';
  readonly protocolVersion: ProtocolVersion;
  /** '' lets the server choose one at each connection, so that no session can be resumed. */
  readonly clientId: string;
  readonly username: string;
  /** MQTT 5's Clean Start, MQTT 3.1.1's Clean Session. */
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly connectTimeoutSeconds: number;
  readonly reconnect: boolean;
  /** The wait before each attempt at the node door; the gateway door's transport has waits of its own. */
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
  /** Which secrets a connection needs, so that they can be asked for when they are not stored. */
  readonly needs: { readonly password: boolean; readonly token: boolean };
  /** Whether its owner asked to store the secrets with the profile. */
  readonly storeSecrets: boolean;
  readonly subscriptions: readonly Subscription[];
  /** Whether its messages stay in this browser across a reload: only where it is false they do not. */
  readonly keepsMessages?: boolean | undefined;
  /** False: it does not subscribe to the broker's notices of what it drops. Only for the example, which shows every packet. */
  readonly hearsOfDrops?: boolean | undefined;
}

/** What a profile never holds. `authenticationData` is text, sent as UTF-8. */
export interface Secrets {
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  readonly authenticationData?: string | undefined;
}

/** The fate of a message that was published here. */
export interface PublishFate {
  readonly state: /** It has left; at QoS 1 and 2 no answer has come yet. */
    | 'sent'
    /** By PUBACK or PUBCOMP. MQTT 3.1.1 has no other answer, also where the server refuses. */
    | 'acknowledged'
    | 'refused'
    /** The connection was lost before the answer; it is sent again on the next one. */
    | 'unknown'
    /** The connection ended before the answer, and it is not sent again. */
    | 'lost';
  /** MQTT 5's reason code, where there was an answer. */
  readonly code: number | undefined;
  /** The server's Reason String, or ''. */
  readonly detail: string;
}

/**
 * A message that came or went. It stays readable for as long as somebody holds it, also when its log has let it go.
 * `payload`, `text` and `packet` are made when they are read, and not kept: hold the result if you need it twice.
 */
export interface LoggedMessage {
  /** Ascends by one within a connection's log, from 0, and is never used again. */
  readonly sequence: number;
  readonly connectionId: string;
  readonly direction: 'received' | 'published';
  /** Milliseconds since 1970, with a fraction. */
  readonly atMs: number;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly payloadLength: number;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly packetId: number | undefined;
  readonly properties: MessageProperties;
  /** The `id`s of the subscriptions that it came for; none for a published one. */
  readonly subscriptionIds: readonly string[];
  /** Undefined for a message that was received. It changes with the server's answer. */
  readonly fate: PublishFate | undefined;
  /** The whole PUBLISH as it was on the wire. */
  readonly packet: Uint8Array;
  readonly packetLength: number;
  /** Time since the timestamp that the message carries, where it carries one. */
  readonly latencyMs: number | undefined;
  /** How many sequence numbers of its topic were left out before it; 0 where none or it carries none. */
  readonly missingBefore: number;
  /** The payload as UTF-8, with U+FFFD for what is none; at most `charactersMax` characters. */
  text(charactersMax?: number): string;
}

/** Something that is missing from a log, where it would have been. */
export type LogMark =
  /** The broker dropped messages for this client. `reasons` are by the names of its notices, as `queue_full`. */
  | {
      readonly kind: 'dropped';
      readonly atMs: number;
      readonly count: number;
      readonly reasons: Readonly<Record<string, number>>;
    }
  /** There was no connection from `fromMs` to `atMs`. */
  | {
      readonly kind: 'away';
      readonly atMs: number;
      readonly fromMs: number;
      readonly sessionPresent: boolean;
    }
  /** The page was too busy to take these messages. */
  | { readonly kind: 'skipped'; readonly atMs: number; readonly count: number }
  /** Messages before it were kept by an earlier visit, whose last message is of `fromMs`. */
  | { readonly kind: 'reloaded'; readonly atMs: number; readonly fromMs: number };

/** Why messages are not kept across a reload: the browser has no room, or stores nothing for this page. */
export type KeepTrouble = 'full' | 'unavailable';

/** A mark, with the sequence of the message that it stands before. */
export interface PlacedMark {
  readonly sequence: number;
  readonly mark: LogMark;
}

/** The bounded past of one connection: when it is full, the oldest go. */
export interface MessageLog {
  readonly limits: { readonly messagesMax: number; readonly bytesMax: number };
  readonly size: number;
  readonly bytes: number;
  /** The oldest sequence that is still held. */
  readonly firstSequence: number;
  /** One more than the newest sequence. */
  readonly endSequence: number;
  /** How many were let go since the log was cleared. */
  readonly evicted: number;
  /** Gaps among the messages that are held, oldest first. Replaced, never changed. */
  readonly marks: readonly PlacedMark[];
  at(sequence: number): LoggedMessage | undefined;
  clear(): void;
  /** Called with each batch at once, in order, also while a view is paused. Be quick. Returns how to stop. */
  onAppend(listener: AppendListener): () => void;
  /** Called after an append or a clear, at most once per frame. Returns how to stop. */
  onFrame(listener: () => void): () => void;
  /** Called at once when the log is cleared. */
  onClear(listener: () => void): () => void;
}

/** `marks` are those that came with the messages. */
export type AppendListener = (messages: readonly LoggedMessage[], marks: readonly PlacedMark[]) => void;

/** The number of a frame; `kept`: the transport answered it itself or left it out; `unsent`: it never left. */
export type FrameOfPacket = number | 'kept' | 'unsent';

/** One packet of the timeline, undecoded: `inspectPacket(bytes, version)` explains it field by field. */
export interface LoggedPacket {
  readonly sequence: number;
  /** Gateway door: its text frame, once it has one. Set later than the packet is logged. */
  readonly frame: FrameOfPacket | undefined;
  readonly direction: 'in' | 'out';
  readonly atMs: number;
  /** The type, 1 to 15, of the fixed header. */
  readonly type: number;
  /** The first byte of the fixed header. */
  readonly firstByte: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

export interface PacketLog {
  readonly limits: { readonly packetsMax: number; readonly bytesMax: number };
  readonly size: number;
  readonly firstSequence: number;
  readonly endSequence: number;
  /** Goes up with each change. */
  readonly changes: number;
  at(sequence: number): LoggedPacket | undefined;
  clear(): void;
  onFrame(listener: () => void): () => void;
}

/** The kind of a text frame of the gateway door (docs/text-frames.md, section 2). */
export type FrameKind =
  /** From the client: packets that want a reply. */
  | 'request'
  /** From the client: packets that want none. */
  | 'one-way'
  /** From the client: no packets, and a reply is wanted. */
  | 'fetch'
  | 'reply'
  /** A frame that belongs behind a reply. */
  | 'part'
  | 'push'
  /** The gateway itself says that the handler failed. */
  | 'error'
  /** An empty frame. */
  | 'nothing'
  | 'unreadable';

/** One text frame of the gateway door. */
export interface LoggedFrame {
  /** Ascends within a connection, from 1; packets refer to it. */
  readonly number: number;
  readonly direction: 'in' | 'out';
  readonly kind: FrameKind;
  readonly atMs: number;
  /** Of text, each of which is a byte. */
  readonly characters: number;
  /** The messages that API Gateway bills for it. */
  readonly billed: number;
  /** Its bill if each packet had a frame of its own. */
  readonly billedAlone: number;
  /** Replies: how many packets of the request were handled; undefined where all of them were. */
  readonly taken: number | undefined;
  /** Replies: how many parts belong to it. */
  readonly parts: number;
  /** Replies: more is waiting. */
  readonly more: boolean;
  readonly packets: readonly Uint8Array[];
}

export interface FrameLog {
  readonly limits: { readonly framesMax: number; readonly bytesMax: number };
  readonly size: number;
  /** Goes up with each change. */
  readonly changes: number;
  /** Newest first. */
  newest(): readonly LoggedFrame[];
  withNumber(number: number): LoggedFrame | undefined;
  clear(): void;
  onFrame(listener: () => void): () => void;
}

export interface PublishRequest {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties?: MessageProperties | undefined;
}

/** How a publish, subscribe or unsubscribe ended. */
export interface Outcome {
  readonly ok: boolean;
  /** MQTT's reason code, or undefined where there is none: QoS 0, MQTT 3.1.1, a broken connection. */
  readonly reasonCode: number | undefined;
  /** Why not; `useTrouble()` of `ui/trouble.ts` has the words. Undefined where it worked. */
  readonly trouble: Trouble | undefined;
  /** From the call to the last packet of the exchange. */
  readonly durationMs: number;
}

/**
 * Many messages of one shape, sent by the worker. In topic and payload `{n}` becomes the number of the message, from 0;
 * in the payload `{now}` becomes the time of sending, in milliseconds since 1970.
 */
export interface BurstRequest {
  readonly topic: string;
  readonly payload: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly count: number;
  readonly ratePerSecond: number;
  readonly properties?: MessageProperties | undefined;
}

export interface BurstProgress {
  readonly sent: number;
  readonly failed: number;
  readonly done: boolean;
}

export type ConnectionPhase =
  | 'idle'
  /** Asking the server which door it is. */
  | 'detecting'
  | 'connecting'
  | 'connected'
  /** Lost or not reached; another attempt follows at `retryAtMs`. */
  | 'waiting'
  /** Refused for a reason that another attempt does not change, or given up. */
  | 'failed';

/** What kind of thing went wrong. The words for each are in the catalogue of strings. */
export type TroubleKind =
  /** The server said so by a reason code. */
  | 'reason'
  /** The WebSocket ended with `code`, a close code. */
  | 'closed'
  /** The URL is none that a WebSocket can be opened with. */
  | 'url'
  /** A page of https: may not open ws:. */
  | 'mixed-content'
  /** Neither of the two subprotocols was accepted. */
  | 'no-door'
  /** No CONNACK in time. */
  | 'connect-timeout'
  /** No answer to PINGREQ. */
  | 'keep-alive'
  /** The server broke the rules of MQTT, or sent what is no MQTT. */
  | 'protocol'
  /** The gateway door's transport: `detail` says what to do. */
  | 'transport'
  /** There is no connection. */
  | 'offline'
  /** It was never sent: `detail` says what is wrong with it. */
  | 'invalid'
  /** It was never sent: it is larger than the server takes, and `detail` says how large. */
  | 'too-large';

/** What went wrong. `useTrouble()` of `ui/trouble.ts` gives a title and advice for people. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** The reason code of MQTT 5 (3.1.1's return codes are translated), or the close code of the WebSocket. */
  readonly code: number | undefined;
  /** The server's own Reason String, or what a library said; '' where nobody said anything. */
  readonly detail: string;
  readonly atMs: number;
}

/** What CONNACK said. */
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
  /** Messages that the broker says it has dropped for this client. */
  readonly dropped: number;
  /** Gateway door only. */
  readonly gateway: GatewayTraffic | undefined;
}

/** Sums of text frames, over all sockets of a connection. */
export interface GatewayTraffic {
  readonly framesSent: number;
  readonly framesReceived: number;
  /** The bill of API Gateway: frames of both directions, each once for every 32 KB begun. */
  readonly messagesBilled: number;
  /** MQTT packets in the frames. */
  readonly packets: number;
  /** The bill if each of them had a frame of its own. */
  readonly billedAlone: number;
  /** PINGREQ that the transport answered itself: neither it nor its PINGRESP was sent. */
  readonly pingsAnswered: number;
  /** PUBACK that the transport left out, because the session does not need it. */
  readonly pubacksDropped: number;
}

export interface SubscriptionState {
  readonly status: 'off' | 'waiting' | 'granted' | 'refused';
  readonly grantedQos: Qos | undefined;
  readonly trouble: Trouble | undefined;
  readonly messages: number;
  readonly bytes: number;
  readonly messagesPerSecond: number;
}

/** A connection as views show it: replaced, never changed, a few times a second at most. */
export interface ConnectionStatus {
  readonly phase: ConnectionPhase;
  /** Known once detected. */
  readonly door: Door | undefined;
  readonly session: SessionFacts | undefined;
  readonly trouble: Trouble | undefined;
  /** How often it has been tried again since it last stood. */
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
  /** Progress comes a few times a second, `done` once. Returns how to stop. */
  burst(request: BurstRequest, onProgress: (progress: BurstProgress) => void): () => void;
}

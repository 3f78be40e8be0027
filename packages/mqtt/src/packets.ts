/**
 * MQTT Control Packets as values, named as the specification names them.
 *
 * Strings are well-formed UTF-8 without U+0000, binary data is a `Uint8Array`, durations are in seconds.
 * A property that is absent from the packet is absent from the object.
 */

/** Protocol level: 3 is MQTT 3.1 (`MQIsdp`), 4 is MQTT 3.1.1, 5 is MQTT 5.0. */
export type ProtocolVersion = 3 | 4 | 5;

export type QoS = 0 | 1 | 2;

/** A Packet Identifier, 1 to 65,535. */
export type PacketId = number;

/** User Properties in the order of the packet; a name may appear more than once [MQTT-3.3.2-18]. */
export type UserProperties = readonly (readonly [name: string, value: string])[];

export interface WithUserProperties {
  userProperties?: UserProperties;
}

export interface WithReasonString extends WithUserProperties {
  reasonString?: string;
}

/** The properties that belong to an Application Message and are forwarded unaltered with it. */
export interface MessageProperties extends WithUserProperties {
  /** 1: the payload is UTF-8 text. */
  payloadFormatIndicator?: 0 | 1;
  contentType?: string;
  responseTopic?: string;
  correlationData?: Uint8Array;
}

export interface WillProperties extends MessageProperties {
  willDelayInterval?: number;
  messageExpiryInterval?: number;
}

export interface Will {
  topic: string;
  payload: Uint8Array;
  qos: QoS;
  retain: boolean;
  properties: WillProperties;
}

export interface ConnectProperties extends WithUserProperties {
  sessionExpiryInterval?: number;
  receiveMaximum?: number;
  maximumPacketSize?: number;
  topicAliasMaximum?: number;
  requestResponseInformation?: 0 | 1;
  requestProblemInformation?: 0 | 1;
  authenticationMethod?: string;
  authenticationData?: Uint8Array;
}

export interface ConnectPacket {
  type: 'connect';
  protocolVersion: ProtocolVersion;
  /** Clean Session in MQTT 3.1.1. */
  cleanStart: boolean;
  keepAliveSeconds: number;
  clientId: string;
  username?: string;
  password?: Uint8Array;
  will?: Will;
  properties: ConnectProperties;
}

export interface ConnackProperties extends WithReasonString {
  sessionExpiryInterval?: number;
  receiveMaximum?: number;
  maximumQoS?: 0 | 1;
  retainAvailable?: 0 | 1;
  maximumPacketSize?: number;
  assignedClientIdentifier?: string;
  topicAliasMaximum?: number;
  wildcardSubscriptionAvailable?: 0 | 1;
  subscriptionIdentifiersAvailable?: 0 | 1;
  sharedSubscriptionAvailable?: 0 | 1;
  serverKeepAlive?: number;
  responseInformation?: string;
  serverReference?: string;
  authenticationMethod?: string;
  authenticationData?: Uint8Array;
}

/** `reasonCode` is always MQTT 5.0's; the encoder translates it for older clients. */
export interface ConnackPacket {
  type: 'connack';
  sessionPresent: boolean;
  reasonCode: number;
  properties: ConnackProperties;
}

export interface PublishProperties extends MessageProperties {
  messageExpiryInterval?: number;
  topicAlias?: number;
  /** One for each matching subscription that has one; from a client always empty [MQTT-3.3.4-6]. */
  subscriptionIdentifiers?: readonly number[];
}

export interface PublishPacket {
  type: 'publish';
  topic: string;
  payload: Uint8Array;
  qos: QoS;
  retain: boolean;
  dup: boolean;
  /** 0 at QoS 0. */
  packetId: PacketId;
  properties: PublishProperties;
}

export interface AcknowledgementPacket {
  type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp';
  packetId: PacketId;
  reasonCode: number;
  properties: WithReasonString;
}

export interface SubscriptionRequest {
  /** As the client sent it: a shared subscription still begins with `$share/`. */
  topicFilter: string;
  qos: QoS;
  noLocal: boolean;
  retainAsPublished: boolean;
  /** 0: send retained messages; 1: only if the subscription is new; 2: do not send them. */
  retainHandling: 0 | 1 | 2;
}

export interface SubscribeProperties extends WithUserProperties {
  /** 1 to 268,435,455. */
  subscriptionIdentifier?: number;
}

export interface SubscribePacket {
  type: 'subscribe';
  packetId: PacketId;
  subscriptions: readonly SubscriptionRequest[];
  properties: SubscribeProperties;
}

export interface SubackPacket {
  type: 'suback';
  packetId: PacketId;
  /** One for each filter, in the order of the SUBSCRIBE; the encoder turns every failure into 0x80 for 3.1.1. */
  reasonCodes: readonly number[];
  properties: WithReasonString;
}

export interface UnsubscribePacket {
  type: 'unsubscribe';
  packetId: PacketId;
  topicFilters: readonly string[];
  properties: WithUserProperties;
}

export interface UnsubackPacket {
  type: 'unsuback';
  packetId: PacketId;
  /** One for each filter; MQTT 3.1.1 has none and the encoder leaves them out. */
  reasonCodes: readonly number[];
  properties: WithReasonString;
}

export interface PingreqPacket {
  type: 'pingreq';
}

export interface PingrespPacket {
  type: 'pingresp';
}

export interface DisconnectProperties extends WithReasonString {
  sessionExpiryInterval?: number;
  serverReference?: string;
}

export interface DisconnectPacket {
  type: 'disconnect';
  reasonCode: number;
  properties: DisconnectProperties;
}

export interface AuthProperties extends WithReasonString {
  authenticationMethod?: string;
  authenticationData?: Uint8Array;
}

export interface AuthPacket {
  type: 'auth';
  reasonCode: number;
  properties: AuthProperties;
}

export type Packet =
  | ConnectPacket
  | ConnackPacket
  | PublishPacket
  | AcknowledgementPacket
  | SubscribePacket
  | SubackPacket
  | UnsubscribePacket
  | UnsubackPacket
  | PingreqPacket
  | PingrespPacket
  | DisconnectPacket
  | AuthPacket;

export type PacketType = Packet['type'];

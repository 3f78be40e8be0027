/**
 * Reason codes of MQTT 5.0 (section 2.4), one name each.
 *
 * 0x00 has three names in the specification: Success, Normal disconnection and Granted QoS 0.
 */
export const ReasonCode = {
  Success: 0x00,
  NormalDisconnection: 0x00,
  GrantedQoS0: 0x00,
  GrantedQoS1: 0x01,
  GrantedQoS2: 0x02,
  DisconnectWithWillMessage: 0x04,
  NoMatchingSubscribers: 0x10,
  NoSubscriptionExisted: 0x11,
  ContinueAuthentication: 0x18,
  ReAuthenticate: 0x19,
  UnspecifiedError: 0x80,
  MalformedPacket: 0x81,
  ProtocolError: 0x82,
  ImplementationSpecificError: 0x83,
  UnsupportedProtocolVersion: 0x84,
  ClientIdentifierNotValid: 0x85,
  BadUserNameOrPassword: 0x86,
  NotAuthorized: 0x87,
  ServerUnavailable: 0x88,
  ServerBusy: 0x89,
  Banned: 0x8a,
  ServerShuttingDown: 0x8b,
  BadAuthenticationMethod: 0x8c,
  KeepAliveTimeout: 0x8d,
  SessionTakenOver: 0x8e,
  TopicFilterInvalid: 0x8f,
  TopicNameInvalid: 0x90,
  PacketIdentifierInUse: 0x91,
  PacketIdentifierNotFound: 0x92,
  ReceiveMaximumExceeded: 0x93,
  TopicAliasInvalid: 0x94,
  PacketTooLarge: 0x95,
  MessageRateTooHigh: 0x96,
  QuotaExceeded: 0x97,
  AdministrativeAction: 0x98,
  PayloadFormatInvalid: 0x99,
  RetainNotSupported: 0x9a,
  QoSNotSupported: 0x9b,
  UseAnotherServer: 0x9c,
  ServerMoved: 0x9d,
  SharedSubscriptionsNotSupported: 0x9e,
  ConnectionRateExceeded: 0x9f,
  MaximumConnectTime: 0xa0,
  SubscriptionIdentifiersNotSupported: 0xa1,
  WildcardSubscriptionsNotSupported: 0xa2,
} as const;

export type ReasonCode = (typeof ReasonCode)[keyof typeof ReasonCode];

/** Success and 0x00 to 0x7F say that it worked; 0x80 and above that it did not (2.4). */
export function isFailure(reasonCode: number): boolean {
  return reasonCode >= 0x80;
}

const PASSING: ReadonlySet<number> = new Set([
  ReasonCode.UnspecifiedError,
  ReasonCode.ImplementationSpecificError,
  ReasonCode.ServerUnavailable,
  ReasonCode.ServerBusy,
  ReasonCode.ServerShuttingDown,
  ReasonCode.KeepAliveTimeout,
  ReasonCode.ReceiveMaximumExceeded,
  ReasonCode.MessageRateTooHigh,
  ReasonCode.QuotaExceeded,
  ReasonCode.ConnectionRateExceeded,
  ReasonCode.MaximumConnectTime,
]);

/** Whether a later attempt to connect may succeed. After all other reason codes the user has to change something. */
export function isPassing(reasonCode: number): boolean {
  return PASSING.has(reasonCode);
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, 'Success'],
  [0x01, 'Granted QoS 1'],
  [0x02, 'Granted QoS 2'],
  [0x04, 'Disconnect with Will Message'],
  [0x10, 'No matching subscribers'],
  [0x11, 'No subscription existed'],
  [0x18, 'Continue authentication'],
  [0x19, 'Re-authenticate'],
  [0x80, 'Unspecified error'],
  [0x81, 'Malformed Packet'],
  [0x82, 'Protocol Error'],
  [0x83, 'Implementation specific error'],
  [0x84, 'Unsupported Protocol Version'],
  [0x85, 'Client Identifier not valid'],
  [0x86, 'Bad User Name or Password'],
  [0x87, 'Not authorized'],
  [0x88, 'Server unavailable'],
  [0x89, 'Server busy'],
  [0x8a, 'Banned'],
  [0x8b, 'Server shutting down'],
  [0x8c, 'Bad authentication method'],
  [0x8d, 'Keep Alive timeout'],
  [0x8e, 'Session taken over'],
  [0x8f, 'Topic Filter invalid'],
  [0x90, 'Topic Name invalid'],
  [0x91, 'Packet Identifier in use'],
  [0x92, 'Packet Identifier not found'],
  [0x93, 'Receive Maximum exceeded'],
  [0x94, 'Topic Alias invalid'],
  [0x95, 'Packet too large'],
  [0x96, 'Message rate too high'],
  [0x97, 'Quota exceeded'],
  [0x98, 'Administrative action'],
  [0x99, 'Payload format invalid'],
  [0x9a, 'Retain not supported'],
  [0x9b, 'QoS not supported'],
  [0x9c, 'Use another server'],
  [0x9d, 'Server moved'],
  [0x9e, 'Shared Subscriptions not supported'],
  [0x9f, 'Connection rate exceeded'],
  [0xa0, 'Maximum connect time'],
  [0xa1, 'Subscription Identifiers not supported'],
  [0xa2, 'Wildcard Subscriptions not supported'],
]);

/** The specification's name, for log lines: `Not authorized`; `Unknown (0x42)` for a code it does not have. */
export function reasonCodeName(reasonCode: number): string {
  return NAMES.get(reasonCode) ?? `Unknown (0x${reasonCode.toString(16).padStart(2, '0')})`;
}

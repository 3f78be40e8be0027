/** WebSocket close codes for decisions of MQTT and of the operator (RFC 6455, section 7.4.1). */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  UnsupportedData: 1003,
  PolicyViolation: 1008,
  MessageTooBig: 1009,
  InternalError: 1011,
  TryAgainLater: 1013,
} as const;

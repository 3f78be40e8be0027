/** The options of a message, with MQTT's names. */
export interface PublishOptions {
  /** @default 0 */
  readonly qos?: 0 | 1 | 2;
  /** Kept for clients that subscribe later. @default false */
  readonly retain?: boolean;
  /** Seconds after which the broker delivers it no more. @default never */
  readonly messageExpiryIntervalSeconds?: number;
  /**
   * A MIME type such as `application/json`.
   * @default none
   */
  readonly contentType?: string;
  /**
   * The topic for a response: no wildcards.
   * @default none
   */
  readonly responseTopic?: string;
  /**
   * Matches a response to its request; text is sent as UTF-8.
   * @default none
   */
  readonly correlationData?: string | Uint8Array;
  /** A name may have several values. */
  readonly userProperties?: Readonly<Record<string, string | readonly string[]>>;
  /** 1: the payload is UTF-8 text. The broker refuses it if it is not. */
  readonly payloadFormatIndicator?: 0 | 1;
}

/** A message with its topic, as `publishAll` takes them. */
export interface PublishMessage extends PublishOptions {
  /** A topic name: at least 1 character, no wildcards. */
  readonly topic: string;
  /** Text is sent as UTF-8. */
  readonly payload: string | Uint8Array;
}

/** A message that the broker has taken. */
export interface Receipt {
  /** The broker's id of the message; undefined if no client has subscribed. */
  readonly id: string | undefined;
  /** Whether a client has subscribed to its topic. */
  readonly hasSubscribers: boolean;
}

/** The message in JSON as the endpoint reads it. */
export function toJson(message: PublishMessage): string {
  const { topic, payload, qos, retain } = message;
  return JSON.stringify({
    topic,
    ...encoded('payload', payload),
    qos,
    retain,
    properties: {
      message_expiry_interval: message.messageExpiryIntervalSeconds,
      content_type: message.contentType,
      response_topic: message.responseTopic,
      ...(message.correlationData !== undefined && encoded('correlation_data', message.correlationData)),
      user_properties: message.userProperties,
      payload_format_indicator: message.payloadFormatIndicator,
    },
  });
}

function encoded(name: string, value: string | Uint8Array): Readonly<Record<string, string>> {
  if (typeof value === 'string') return { [name]: value };
  const { buffer, byteOffset, byteLength } = value;
  return {
    [name]: Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
    [`${name}_encoding`]: 'base64',
  };
}

import type { Message } from '@apus/broker';
import { isUtf8 } from '@apus/mqtt';

/** A message in the JSON form for webhooks and the services of AWS. */
export interface MessageJson {
  /** The id of the message; it stays the same if the message is sent again. */
  readonly id: string;
  readonly topic: string;
  readonly payload: string;
  /** `base64` if the payload is not UTF-8. */
  readonly payload_encoding: 'plain' | 'base64';
  readonly qos: number;
  readonly retain: boolean;
  readonly content_type?: string;
  readonly response_topic?: string;
  /** In base64. */
  readonly correlation_data?: string;
  readonly user_properties: readonly (readonly [string, string])[];
}

export function messageJson({ id, topic, payload, qos, retain, properties }: Message): MessageJson {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const isText = isUtf8(bytes);
  const { contentType, responseTopic, correlationData, userProperties = [] } = properties;
  return {
    ...{ id, topic, qos, retain },
    payload: bytes.toString(isText ? 'utf8' : 'base64'),
    payload_encoding: isText ? 'plain' : 'base64',
    ...(contentType !== undefined && { content_type: contentType }),
    ...(responseTopic !== undefined && { response_topic: responseTopic }),
    ...(correlationData !== undefined && {
      correlation_data: Buffer.from(correlationData).toString('base64'),
    }),
    user_properties: userProperties,
  };
}

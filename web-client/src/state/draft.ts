import type { Qos, UserProperties } from '../engine/types.ts';

/** How the text in the editor is converted to bytes. */
export type PayloadFormat = 'json' | 'text' | 'hex' | 'base64';

/** A message as it stands in the publish panel: text, and properties that may be absent. */
export interface Draft {
  readonly topic: string;
  readonly payload: string;
  readonly format: PayloadFormat;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties: DraftProperties;
}

/** MQTT 5 only; what is undefined or '' is not sent. */
export interface DraftProperties {
  readonly payloadFormatIndicator: boolean;
  readonly messageExpiryIntervalSeconds: number | undefined;
  readonly topicAlias: number | undefined;
  readonly contentType: string;
  readonly responseTopic: string;
  readonly correlationText: string;
  readonly userProperties: UserProperties;
}

export const NO_PROPERTIES: DraftProperties = {
  payloadFormatIndicator: false,
  messageExpiryIntervalSeconds: undefined,
  topicAlias: undefined,
  contentType: '',
  responseTopic: '',
  correlationText: '',
  userProperties: [],
};

export const EMPTY_DRAFT: Draft = {
  topic: '',
  payload: '',
  format: 'json',
  qos: 0,
  retain: false,
  properties: NO_PROPERTIES,
};

import type { Receipt } from './message.ts';

export interface PublishErrorFields {
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number | undefined;
  /** Reason code of MQTT 5.0 (0x90 Topic Name invalid, 0x87 Not authorized …), if the answer has one. */
  readonly reasonCode?: number | undefined;
  /** With `publishAll`: the earlier messages, which have left. */
  readonly published?: readonly Receipt[];
  readonly cause?: unknown;
}

/** A message was not published, or it is unknown whether it was. `published` lists the messages that left before it. */
export abstract class PublishError extends Error {
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Reason code of MQTT 5.0 (0x90 Topic Name invalid, 0x87 Not authorized …), if the answer has one. */
  readonly reasonCode: number | undefined;
  /** With `publishAll`: the earlier messages, which have left. */
  readonly published: readonly Receipt[];

  constructor(message: string, { status, reasonCode, published = [], cause }: PublishErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reasonCode = reasonCode;
    this.published = published;
  }
}

/** The broker will never take this message: its topic is wrong, its key may not publish it, or it is too large. */
export class PublishRefused extends PublishError {
  override readonly name = 'PublishRefused';
}

/**
 * The broker did not take the message at any try: it throttles, a quota is used up (429), or it cannot be reached. Or
 * an answer was lost: then a message of QoS 0 is not sent again, since it may have left.
 */
export class PublishUnavailable extends PublishError {
  override readonly name = 'PublishUnavailable';
}
